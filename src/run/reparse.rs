//! Reads the metrics of a run again, from the logs and files that it left.
//!
//! What only the run itself could measure (times, what processes used, what Prometheus said) is taken over. The result is
//! a new file beside the old one, and says which one it was made from.

use std::io::BufRead;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::store::Stored;
use crate::digest::Digest;
use crate::edge::experiment::{self, Left};
use crate::ingest::measure::{Evidence, Log, Measured, Used, measure};
use crate::ingest::rules::Rules;
use crate::redact::Redactor;
use crate::result::BenchmarkResult;
use crate::result::v1::{Metric, Reparsed, Status};
use crate::spec::v1::metric::{DurationSource, ProcessSource};

/// Sources that a log or file does not hold.
const ONLY_THEN: [&str; 3] = ["process", "duration", "prometheus"];

/// Returns the result of reading `original`'s run again by the rules in `text`, with secrets taken out.
///
/// # Errors
/// When a log is missing, was changed, or has a gap.
pub fn reparse(
    root: &Path,
    original: &BenchmarkResult,
    text: &str,
    redactor: &Redactor,
    version: &str,
) -> Result<BenchmarkResult> {
    let rules = Rules::read(text).map_err(anyhow::Error::msg)?;
    let short = original.run.id.get(..8).unwrap_or(&original.run.id);
    let name = format!("{}-{short}", original.metadata.benchmark);
    let folder = root.join(experiment::IGNORED).join("experiments").join(&name);
    let output = folder.join("output");
    if !output.is_dir() {
        bail!("the run's folder {} is not there; its logs were kept where it ran", output.display());
    }
    let mut logs = Vec::new();
    for artifact in &original.artifacts {
        let path = output.join(&artifact.name);
        let (digest, _) = experiment::digest_of(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if digest.to_string() != artifact.digest {
            bail!(
                "{} was changed after the run: its digest is {digest}, the result says {}",
                path.display(),
                artifact.digest
            );
        }
        let Some((role, index)) = replica(&artifact.name) else { continue };
        if artifact.dropped_bytes > 0 {
            let missing = artifact.dropped_bytes;
            bail!("{} lacks {missing} bytes (`results.logLimit`), so its values cannot be read again", path.display());
        }
        let mut scan = rules.scan(role, index);
        experiment::read_pieces(&path, |piece| scan.feed(piece))
            .with_context(|| format!("cannot read {}", path.display()))?;
        logs.push(Log { role: role.to_owned(), index, artifact: artifact.name.clone(), scanned: scan.finish() });
    }
    let left = Left { output, result: folder.join("result") };
    let measured = measure(&rules, &logs, original.run.restarts, &Kept { left, original });
    let made = rebuilt(original, measured, text, version);
    let mut json = serde_json::to_value(&made).context("a result has no JSON form")?;
    redactor.json(&mut json);
    serde_json::from_value(json).context("a redacted result cannot be read")
}

/// Writes a result that was read again into the folder of results; nothing when exactly this is there already.
///
/// # Errors
/// When it cannot be written, or another content stands there.
pub fn store_again(results: &Path, result: BenchmarkResult) -> Result<Option<Stored>> {
    let sealed = crate::result::seal(result);
    if experiment::keeps(results, &sealed) {
        return Ok(None);
    }
    let path = experiment::keep(results, &sealed)?;
    Ok(Some(Stored { sealed, path }))
}

fn rebuilt(original: &BenchmarkResult, measured: Measured, text: &str, version: &str) -> BenchmarkResult {
    let Measured { mut metrics, checks, invalid, native } = measured;
    for metric in &mut metrics {
        if ONLY_THEN.contains(&metric.source.parser.as_str())
            && let Some(then) = original.metrics.iter().find(|then| same_source(then, metric))
        {
            let Metric { value, n, non_finite, samples, stats, reason, .. } = then.clone();
            *metric = Metric { value, n, non_finite, samples, stats, reason, ..metric.clone() };
        }
    }
    let mut made = BenchmarkResult { metrics, native, ..original.clone() };
    made.validity.checks = checks;
    // A run that did not end by itself stays what it was.
    if matches!(made.run.status, Status::Succeeded | Status::Invalid) {
        made.run.status = if invalid.is_empty() { Status::Succeeded } else { Status::Invalid };
        made.run.reasons = invalid;
    }
    made.source.reparsed =
        Some(Reparsed { of: original.digest.clone(), original_version: original.recorder.version.clone() });
    made.source.rules_digest = Digest::of(text).to_string();
    version.clone_into(&mut made.recorder.version);
    made
}

fn same_source(then: &Metric, now: &Metric) -> bool {
    then.source.parser == now.source.parser && then.source.selector == now.source.selector
}

/// Returns role and replica of `logs/worker-0.log`.
fn replica(name: &str) -> Option<(&str, u32)> {
    let (role, index) = name.strip_prefix("logs/")?.strip_suffix(".log")?.rsplit_once('-')?;
    Some((role, index.parse().ok()?))
}

/// What is left of a run.
struct Kept<'a> {
    left: Left,
    original: &'a BenchmarkResult,
}

impl Kept<'_> {
    /// Returns what the run itself measured.
    fn then(&self, parser: &str, selector: &str) -> Used {
        let is_it =
            |metric: &&Metric| metric.source.parser == parser && metric.source.selector.as_deref() == Some(selector);
        let found = self.original.metrics.iter().find(is_it);
        found.and_then(|metric| metric.value).ok_or_else(|| "the run did not measure it, and only it could".to_owned())
    }
}

impl Evidence for Kept<'_> {
    fn open(&self, path: &str) -> Result<Box<dyn BufRead>, String> {
        self.left.open(path)
    }

    fn excerpt(&self, artifact: &str) -> Option<String> {
        self.left.excerpt(artifact)
    }

    fn process(&self, what: ProcessSource) -> Used {
        self.then("process", crate::ingest::measure::process_word(what))
    }

    fn duration(&self, what: DurationSource) -> Used {
        self.then("duration", crate::ingest::measure::duration_word(what))
    }

    fn fetch(&self, _: &str) -> Result<String, String> {
        Err("the address can only be asked at the end of the run".to_owned())
    }

    fn query(&self, query: &str) -> Result<Vec<f64>, String> {
        self.then("prometheus", query).map(|value| vec![value])
    }
}
