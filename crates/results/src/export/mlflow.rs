//! MLflow's files: an experiment for each benchmark, a run for each result, as `mlflow server` and `mlflow migrate-filestore` read
//! them.
//!
//! Folders are named by digests, so that the same result is the same run wherever it is exported.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::{Map, Value as Json};

use super::column::{Cell, METRIC, RUN};
use super::omissions::Omissions;
use super::text::number;
use super::{Exporter, Folder, time};
use kubebench_format::result::v1::{Metric, Status};
use kubebench_format::result::{BenchmarkResult, plain};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

/// MLflow cuts a longer value of a parameter.
const PARAM: usize = 6000;
/// And of a tag.
const TAG: usize = 8000;
/// It takes no longer name; a name is that of a file too.
const NAME: usize = 240;

pub(super) struct Mlflow {
    folder: Box<dyn Folder>,
    /// Of each benchmark, when its first run began and its last one ended.
    experiments: BTreeMap<String, (i64, i64)>,
    left: Omissions,
}

impl Mlflow {
    pub(super) fn new(folder: Box<dyn Folder>) -> Self {
        Self { folder, experiments: BTreeMap::new(), left: Omissions::default() }
    }

    fn milliseconds(&mut self, text: &str) -> i64 {
        let held = time::milliseconds(text);
        self.left.add("invalid times (written as 1970)", usize::from(held.is_none()));
        held.unwrap_or_default()
    }

    /// Returns a value within `most` characters on lines that MLflow reads.
    fn value(&mut self, text: &str, most: usize) -> String {
        if text.chars().count() > most {
            self.left.add("values truncated to the length that MLflow accepts", 1);
        }
        text.chars().take(most).collect()
    }
}

/// Names for the files of one folder.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// Returns `text` with the characters that MLflow takes, and unlike all others.
    fn name(&mut self, text: &str) -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | ':');
        let mut name: String = text.chars().map(|c| if allowed(c) { c } else { '_' }).take(NAME).collect();
        if name.trim_matches(['.', ' ']).is_empty() || name.starts_with([' ', '.']) || name.ends_with([' ', '.']) {
            name = format!("_{}_", name.trim_matches(' '));
        }
        self.free(&name)
    }

    /// Returns `name`, with a number where another one has it, whatever the case of letters.
    fn free(&mut self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let is_free = |name: &String| !self.0.contains(&name.to_lowercase());
        let free = std::iter::once(name.to_owned()).chain(numbered).find(is_free).expected("a number that is free");
        self.0.insert(free.to_lowercase());
        free
    }
}

impl Exporter for Mlflow {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.left.beside_rows(result);
        let BenchmarkResult { metadata, run, source, .. } = result;
        let (began, ended) = (self.milliseconds(&run.started_at), self.milliseconds(&run.finished_at));
        let span = self.experiments.entry(metadata.benchmark.clone()).or_insert((began, ended));
        *span = (span.0.min(began), span.1.max(ended));
        let (experiment, id) = (experiment(&metadata.benchmark), run_id(result));
        let place = format!("{experiment}/{id}");
        let round = kubebench_format::result::round(run);
        let name = format!("{} {round}", metadata.case_name);
        let meta = [
            ("artifact_uri", quoted(&format!("mlflow-artifacts:/{place}/artifacts"))),
            ("end_time", ended.to_string()),
            ("entry_point_name", quoted("")),
            ("experiment_id", quoted(&experiment)),
            ("lifecycle_stage", "active".to_owned()),
            ("run_id", quoted(&id)),
            ("run_name", quoted(&name)),
            ("run_uuid", quoted(&id)),
            ("source_name", quoted("")),
            ("source_type", "4".to_owned()),
            ("source_version", quoted("")),
            ("start_time", began.to_string()),
            ("status", status(run.status).to_owned()),
            ("tags", "[]".to_owned()),
            ("user_id", quoted("kubebench")),
        ];
        self.folder.put(&format!("{place}/meta.yaml"), yaml(&meta).as_bytes())?;
        // By these MLflow knows a run.
        for part in ["artifacts", "metrics", "params", "tags"] {
            self.folder.make(&format!("{place}/{part}"))?;
        }

        let mut names = Names::default();
        for (name, value) in &metadata.spelled_params() {
            let text = self.value(&plain(value), PARAM);
            self.folder.put(&format!("{place}/params/{}", names.name(name)), text.as_bytes())?;
        }
        let mut names = Names::default();
        let mut about = Map::new();
        for metric in &result.metrics {
            let name = names.name(&shown(metric));
            let row = object(METRIC.iter().map(|column| (column.name, (column.get)(metric))));
            about.insert(name.clone(), Json::Object(row));
            match metric.value {
                Some(value) => {
                    let line = format!("{ended} {} 0\n", number(value));
                    self.folder.put(&format!("{place}/metrics/{name}"), line.as_bytes())?;
                }
                None => self.left.add("metrics without a value", 1),
            }
            if !metric.samples.is_empty() {
                let sample = |(step, sample): (usize, &Option<f64>)| {
                    format!("{ended} {} {step}\n", sample.map_or_else(|| "nan".to_owned(), number))
                };
                let lines: String = metric.samples.iter().enumerate().map(sample).collect();
                let name = names.free(&format!("{name}.samples"));
                self.folder.put(&format!("{place}/metrics/{name}"), lines.as_bytes())?;
            }
        }
        let run_row = object(RUN.iter().map(|column| (column.name, (column.get)(result))));
        let mut tags = vec![
            ("mlflow.runName".to_owned(), name),
            ("mlflow.source.name".to_owned(), source.spec_path.clone()),
            ("mlflow.source.type".to_owned(), "JOB".to_owned()),
            ("mlflow.user".to_owned(), "kubebench".to_owned()),
        ];
        tags.extend(source.commit.clone().map(|commit| ("mlflow.source.git.commit".to_owned(), commit)));
        for key in ["path", "benchmark", "case_id", "case_name", "target", "session", "status", "warmup", "synthetic"] {
            let value = run_row.get(key).map(plain);
            tags.extend(value.map(|value| (format!("kubebench.{key}"), value)));
        }
        tags.extend(metadata.labels.iter().map(|(name, value)| (format!("label.{name}"), value.clone())));
        for (key, json) in [("kubebench.run", run_row), ("kubebench.metrics", about)] {
            let text = Json::Object(json).to_string();
            if text.chars().count() > TAG {
                self.left.add("descriptions of runs and metrics that are too long for a tag", 1);
            } else {
                tags.push((key.to_owned(), text));
            }
        }
        let mut names = Names::default();
        for (name, value) in tags {
            let value = self.value(&value, TAG);
            self.folder.put(&format!("{place}/tags/{}", names.name(&name)), value.as_bytes())?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        for (benchmark, (began, ended)) in std::mem::take(&mut self.experiments) {
            let id = experiment(&benchmark);
            let meta = [
                ("artifact_location", quoted(&format!("mlflow-artifacts:/{id}"))),
                ("creation_time", began.to_string()),
                ("experiment_id", quoted(&id)),
                ("last_update_time", ended.to_string()),
                ("lifecycle_stage", "active".to_owned()),
                ("name", quoted(&benchmark)),
            ];
            self.folder.put(&format!("{id}/meta.yaml"), yaml(&meta).as_bytes())?;
        }
        Ok(self.left)
    }
}

/// Returns the experiment of a benchmark: digits, as MLflow wants them.
fn experiment(benchmark: &str) -> String {
    let digest = Digest::of(benchmark).hex();
    let number =
        digest.get(..15).and_then(|digits| u64::from_str_radix(digits, 16).ok()).expected("hex digits of a digest");
    format!("{:018}", number % 1_000_000_000_000_000_000)
}

/// Returns the run of a result: half of its digest.
fn run_id(result: &BenchmarkResult) -> String {
    Digest::of(&result.digest).hex().chars().take(32).collect()
}

fn shown(metric: &Metric) -> String {
    let labels = metric.labels.iter().map(|(name, value)| format!(" {name}:{value}"));
    std::iter::once(metric.name.clone()).chain(labels).collect()
}

/// MLflow's number of a status: finished, failed, killed.
fn status(status: Status) -> &'static str {
    match status {
        Status::Succeeded => "3",
        Status::Failed | Status::TimedOut | Status::Invalid => "4",
        Status::Interrupted | Status::Preempted => "5",
    }
}

fn object<'a>(cells: impl Iterator<Item = (&'a str, Cell<'a>)>) -> Map<String, Json> {
    let value = |cell| match cell {
        Cell::Empty => None,
        Cell::Text(text) => Some(Json::from(text)),
        Cell::Time(text) => Some(Json::from(text)),
        Cell::Json(text) => serde_json::from_str(&text).ok(),
        Cell::Count(count) => Some(Json::from(count)),
        Cell::Number(value) => Some(Json::from(value)),
        Cell::Flag(flag) => Some(Json::from(flag)),
    };
    cells.filter_map(|(name, cell)| Some((name.to_owned(), value(cell)?))).collect()
}

fn yaml(fields: &[(&str, String)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

/// Returns a text in double quotes and ASCII, as YAML reads it.
fn quoted(text: &str) -> String {
    let escaped = |character: char| match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        ' '..='~' => character.to_string(),
        _ => format!("\\U{:08X}", u32::from(character)),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}
