//! One result as a row.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use kubebench_attestation::Signature;
use kubebench_extract::tool::renamed::{Old, Renamed, may_be_renamed, renamed};
use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::{
    Direction, Environment, Kind, Metadata, Metric, Native, Neighbor, Provenance, Reason, Status, StatusReason, Usage,
};
use kubebench_syntax::unit::MetricSelector;

/// What is kept of one result; numbers are indices of parts that the dataset keeps once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its path below the results folder.
    pub path: String,
    pub digest: String,
    pub(super) subject: u32,
    pub(super) origin: u32,
    pub(super) environment: u32,
    /// The run's id.
    pub run: String,
    pub session: String,
    pub repeat: u32,
    pub attempt: u32,
    /// Whether it is a warm-up.
    pub warmup: bool,
    /// The version of the program that wrote it.
    pub recorder: String,
    /// Whether nothing was run, and the numbers were made.
    pub synthetic: bool,
    /// What started it.
    pub reason: Reason,
    /// How it ended.
    pub status: Status,
    /// Why it did not succeed.
    pub reasons: Vec<StatusReason>,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub finished_at: String,
    /// Seconds between the two.
    pub seconds: f64,
    /// What it cost, and in which currency.
    pub cost: Option<(f64, String)>,
    /// Accelerators times hours.
    pub gpu_hours: Option<f64>,
    /// For how many hours it held its machines; the wait for them is no part of it.
    pub held_hours: Option<f64>,
    /// The pods that it had.
    pub pods: Option<u32>,
    /// The accelerators that it had.
    pub accelerators: Option<u64>,
    /// Who shared a node with it: names of benchmarks, and those of pods that are of none.
    pub neighbors: Vec<String>,
    /// Who recorded it; unknown where there are no keys to check that by.
    pub signature: Option<Signature>,
    pub(super) metrics: Vec<(u32, Option<f64>)>,
}

/// What a metric is, but for its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    /// What distinguishes it from others of its name.
    pub labels: BTreeMap<String, String>,
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// What part it plays.
    pub kind: Kind,
    /// What it is called now, where its name changed and the result does not say what it is of.
    pub now: Option<Now>,
}

/// What a metric of an older version is called now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Now {
    pub name: String,
    /// The labels that it has and the result does not give.
    pub labels: Vec<String>,
}

impl Definition {
    /// Returns whether one of `selectors` selects it; no selectors select any metric.
    pub(crate) fn is_among(&self, selectors: &[MetricSelector]) -> bool {
        selectors.is_empty() || selectors.iter().any(|selector| selector.has(&self.name, &self.labels))
    }
}

/// A row before its parts have numbers.
#[derive(Clone, Debug)]
pub struct Extract {
    pub(super) row: Row,
    pub(super) subject: Metadata,
    pub(super) origin: Provenance,
    pub(super) environment: Environment,
    pub(super) metrics: Vec<(Definition, Option<f64>)>,
}

impl Extract {
    /// Takes what is kept out of the result at `path`.
    pub fn of(path: &str, result: BenchmarkResult) -> Self {
        let BenchmarkResult { mut metadata, run, source, mut environment, metrics, usage, cost, native, .. } = result;
        metadata.params = metadata.spelled_params();
        let mut names = Names { extraction: source.extraction_version(), native: &native, documents: BTreeMap::new() };
        for node in &mut environment.nodes {
            node.load_before = None;
        }
        let neighbors = neighbors(std::mem::take(&mut environment.neighbors));
        environment.neighbors_left_out = 0;
        let is_only = metrics.len() == 1;
        let of_metric = |metric: Metric| {
            let (name, labels, now) = names.current(&metric);
            let Metric { unit, direction, kind, value, .. } = metric;
            let kind = if is_only { Kind::Primary } else { kind };
            (Definition { name, labels, unit, direction, kind, now }, value.filter(|value| value.is_finite()))
        };
        let metrics: Vec<(Definition, Option<f64>)> = metrics.into_iter().map(of_metric).collect();
        let gpu_hours = usage.as_ref().and_then(|usage| usage.gpu_hours);
        let row = Row {
            path: path.to_owned(),
            digest: result.digest,
            subject: 0,
            origin: 0,
            environment: 0,
            run: run.id,
            session: run.session,
            repeat: run.repeat,
            attempt: run.attempt,
            warmup: run.warmup,
            recorder: result.recorder.version,
            synthetic: result.synthetic,
            reason: run.reason,
            status: run.status,
            reasons: run.reasons,
            started_at: run.started_at,
            finished_at: run.finished_at,
            seconds: run.duration_seconds,
            gpu_hours: gpu_hours.or_else(|| cost.as_ref().map(|cost| cost.gpu_hours)),
            cost: cost.map(|cost| (cost.amount, cost.currency)),
            held_hours: usage.as_ref().and_then(held),
            pods: usage.as_ref().map(|usage| usage.pods),
            accelerators: usage.as_ref().map(|usage| usage.accelerators.values().sum()),
            neighbors,
            signature: None,
            metrics: Vec::new(),
        };
        Self { row, subject: metadata, origin: source, environment, metrics }
    }

    /// The same with who recorded it.
    #[must_use]
    pub fn recorded_by(mut self, signature: Option<Signature>) -> Self {
        self.row.signature = signature;
        self
    }
}

/// What the metrics of a result are called now.
struct Names<'a> {
    extraction: u32,
    native: &'a BTreeMap<String, Native>,
    /// The tools' reports, as far as they were needed.
    documents: BTreeMap<String, Option<Json>>,
}

impl Names<'_> {
    fn current(&mut self, metric: &Metric) -> (String, BTreeMap<String, String>, Option<Now>) {
        let Metric { name, labels, source, .. } = metric;
        let same = || (name.clone(), labels.clone(), None);
        if !may_be_renamed(&source.parser, self.extraction) {
            return same();
        }
        let document = self.documents.entry(source.parser.clone()).or_insert_with(|| {
            let text = self.native.get(&source.parser)?.text.as_ref()?;
            serde_json::from_str(text.get(text.find('{')?..)?).ok()
        });
        match renamed(&source.parser, self.extraction, &Old { name, labels, document: document.as_ref() }) {
            None => same(),
            Some(Renamed::To { name, labels }) => (name, labels, None),
            Some(Renamed::Unknown { name: now, labels: missing }) => {
                let missing = missing.iter().map(|label| (*label).to_owned()).collect();
                (name.clone(), labels.clone(), Some(Now { name: now, labels: missing }))
            }
        }
    }
}

/// Returns who was there, each once.
fn neighbors(pods: Vec<Neighbor>) -> Vec<String> {
    let names: BTreeSet<String> = pods.into_iter().map(|of| of.benchmark.unwrap_or(of.pod)).collect();
    names.into_iter().collect()
}

/// Returns for how long the resources were held that were held longest.
fn held(usage: &Usage) -> Option<f64> {
    let hours = |(name, amount): (&String, &f64)| Some(usage.resource_hours.get(name)? / amount);
    let longest = usage.resources.iter().filter_map(hours).filter(|hours| hours.is_finite()).fold(0.0, f64::max);
    let of_accelerators = || {
        let count: u64 = usage.accelerators.values().sum();
        usage.gpu_hours.filter(|_| count > 0).map(|hours| hours / count as f64)
    };
    Some(longest).filter(|hours| *hours > 0.0).or_else(of_accelerators).filter(|hours| *hours > 0.0)
}

impl Row {
    /// Returns whether its numbers count: it succeeded and is no warm-up.
    pub(crate) fn counts(&self) -> bool {
        self.status == Status::Succeeded && !self.warmup
    }
}
