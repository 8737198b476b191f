//! Reads the metrics of a run again, from the logs and files that it left.
//!
//! What only the run itself could measure (times, what processes used, what Prometheus said) is taken over. The result is
//! a new file next to the old one, and says which one it was made from.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use kubebench_extract::measure::{Evidence, Log, Measured, Used, measure};
use kubebench_extract::room::Room;
use kubebench_extract::rules::Rules;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Artifact, Metric, Reparsed, Status};
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_format::spec::v1::metric::{DurationSource, ProcessSource, WhichTrials};
use kubebench_host::experiment::{self, RunOutputs};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::redact::Redactor;

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
    let left = RunOutputs::of_run(&folder);
    if !left.output.is_dir() {
        let output = left.output.display();
        bail!(
            "{output} does not exist: logs are kept in the project in which the run took place, until they are \
               removed"
        );
    }
    for file in rules.metrics.iter().filter_map(|rule| rule.from.file()) {
        let names = [file.to_owned(), format!("result/{file}")];
        for artifact in original.artifacts.iter().filter(|artifact| names.contains(&artifact.name)) {
            unchanged(&left, artifact)?;
        }
        let Ok(Some(found)) = left.find(file) else { continue };
        let is_it = |known: &Artifact| left.artifact(&known.name).as_ref() == Ok(&found);
        if !original.artifacts.iter().any(is_it) {
            let is_cut = original.run.reasons.iter().any(|reason| reason.code == ReasonCode::ArtifactsCut);
            let why = if is_cut {
                "the list was truncated, and no metric of the run was read from this file, so whether the file changed \
                 since is unknown"
            } else {
                "it did not exist when the run ended, or its name contained a secret"
            };
            bail!("{} is not among the result's artifacts: {why}", found.display());
        }
    }
    let mut logs = Vec::new();
    let room = Room::default();
    // The replicas in their own order: artifacts are sorted by name, and jobs may write files that look like logs.
    for exit in &original.run.exits {
        let name = format!("logs/{}-{}.log", exit.role, exit.index);
        let Some(artifact) = original.artifacts.iter().find(|artifact| artifact.name == name) else {
            bail!("the result does not list {name}, so it is unknown whether it belongs to the run");
        };
        if artifact.dropped_bytes > 0 {
            let missing = artifact.dropped_bytes;
            bail!("{name} lacks {missing} bytes (`results.logLimit`), so its values cannot be read again");
        }
        unchanged(&left, artifact)?;
        let mut scan = rules.scan(&exit.role, exit.index, &room);
        let path = left.artifact(&name).map_err(anyhow::Error::msg)?;
        experiment::read_pieces(&path, |piece| scan.feed(piece))
            .with_context(|| format!("cannot read {}", path.display()))?;
        logs.push(Log { role: exit.role.clone(), index: exit.index, artifact: name, scanned: scan.finish() });
    }
    let measured = measure(&rules, &logs, original.run.restarts, &Kept { left, original });
    let mut made = rebuilt(original, measured, text, version);
    result::redact(&mut made, redactor);
    Ok(made)
}

/// Checks the digest of a file that is read again. What is not read, such as checkpoints, need not exist any more.
fn unchanged(left: &RunOutputs, artifact: &Artifact) -> Result<()> {
    let path = left.artifact(&artifact.name).map_err(anyhow::Error::msg)?;
    let (digest, _) = experiment::digest_of(&path).with_context(|| format!("cannot read {}", path.display()))?;
    if digest.to_string() != artifact.digest {
        let (path, stated) = (path.display(), &artifact.digest);
        bail!("{path} was changed after the run: its digest is {digest}, the result says {stated}");
    }
    Ok(())
}

/// Writes a result that was read again into the folder of results, and returns its path; nothing when exactly this is there already.
///
/// # Errors
/// When it cannot be written, or other content is there.
pub fn store_again(results: &Path, made: BenchmarkResult) -> Result<Option<PathBuf>> {
    let sealed = result::seal(made);
    if experiment::keeps(results, &sealed) {
        return Ok(None);
    }
    experiment::keep(results, &sealed).map(Some)
}

fn rebuilt(original: &BenchmarkResult, measured: Measured, text: &str, version: &str) -> BenchmarkResult {
    let Measured { metrics, checks, invalid, cautions, native } = measured;
    let mut made = BenchmarkResult { metrics, native, ..original.clone() };
    made.validity.checks = checks;
    // A run that did not end by itself keeps its status.
    if matches!(made.run.status, Status::Succeeded | Status::Invalid) {
        made.run.status = if invalid.is_empty() { Status::Succeeded } else { Status::Invalid };
        // What else was said of the run, such as that files are not listed, holds as before.
        made.run.reasons.retain(|reason| {
            !matches!(reason.code, ReasonCode::CheckFailed | ReasonCode::MetricMissing | ReasonCode::ToolInvalid)
        });
        made.run.reasons.extend(invalid);
    }
    made.run.reasons.retain(|reason| reason.code != ReasonCode::ToolCaution);
    made.run.reasons.extend(cautions.into_iter().map(|remark| remark.reason));
    made.source.reparsed =
        Some(Reparsed { of: original.digest.clone(), original_version: original.recorder.version.clone() });
    made.source.rules_digest = Digest::of(text).to_string();
    made.source.extraction = Some(kubebench_extract::VERSION);
    version.clone_into(&mut made.recorder.version);
    made
}

/// What is left of a run.
struct Kept<'a> {
    left: RunOutputs,
    original: &'a BenchmarkResult,
}

impl Kept<'_> {
    /// Returns the values that the run itself read from `parser` by `selector`: the most that some metric kept.
    fn then(&self, parser: &str, selector: &str) -> Result<Vec<f64>, String> {
        let is_it =
            |metric: &&Metric| metric.source.parser == parser && metric.source.selector.as_deref() == Some(selector);
        let found = self.original.metrics.iter().filter(is_it).max_by_key(|metric| metric.samples.len());
        let values = found.map(values).unwrap_or_default();
        if values.is_empty() {
            Err("the run did not measure it, and it cannot be measured afterwards".to_owned())
        } else {
            Ok(values)
        }
    }

    fn one(&self, parser: &str, selector: &str) -> Used {
        self.then(parser, selector).map(|values| values.first().copied().expected("at least one value"))
    }
}

/// Returns the values of a metric: its samples, or the only one.
fn values(metric: &Metric) -> Vec<f64> {
    if metric.samples.is_empty() {
        return metric.value.into_iter().collect();
    }
    metric.samples.iter().map(|sample| sample.unwrap_or(f64::NAN)).collect()
}

impl Evidence for Kept<'_> {
    fn open(&self, path: &str) -> Result<Box<dyn BufRead>, String> {
        self.left.open(path)
    }

    fn name_of(&self, path: &str) -> String {
        self.left.name_of(path)
    }

    fn excerpt(&self, artifact: &str) -> Option<String> {
        self.left.excerpt(artifact)
    }

    fn process(&self, what: ProcessSource) -> Used {
        self.one("process", kubebench_extract::measure::process_word(what))
    }

    fn duration(&self, what: DurationSource) -> Used {
        self.one("duration", kubebench_extract::measure::duration_word(what))
    }

    fn node(&self, name: &str) -> Result<Vec<f64>, String> {
        self.then("node", name)
    }

    fn trials(&self, metric: &str, of: WhichTrials) -> Result<Vec<f64>, String> {
        self.then("trials", &kubebench_extract::measure::trials_word(metric, of))
    }

    fn fetch(&self, _: &str) -> Result<String, String> {
        // What the address said of the metrics that were read from one, as it spells them.
        let of_address = |metric: &&Metric| metric.source.parser == "openMetrics" && metric.source.artifact.is_none();
        let lines = self.original.metrics.iter().filter(of_address).flat_map(|metric| {
            let selector = metric.source.selector.clone().unwrap_or_default();
            values(metric).into_iter().map(move |value| format!("{selector} {value}\n"))
        });
        Ok(lines.collect())
    }

    fn query(&self, query: &str) -> Result<Vec<f64>, String> {
        self.then("prometheus", query)
    }
}
