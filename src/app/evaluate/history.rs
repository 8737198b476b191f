//! The sessions of metrics over time.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, bail};

use super::{DefaultBaseline, Evaluation};
use kubebench_format::result::Ack;
use kubebench_results::compare::model::{Kind, SeriesHistory};
use kubebench_results::compare::{HistoryRequest, history};
use kubebench_results::dataset::partitions;
use kubebench_syntax::diag::{Diagnostics, nearest};
use kubebench_syntax::unit::MetricSelector;

/// Whose history is asked for; of what is empty, all.
#[derive(Clone, Debug, Default)]
pub struct HistoryQuery {
    /// Benchmarks by name.
    pub benchmarks: Vec<String>,
    /// Cases by id or name.
    pub cases: Vec<String>,
    /// Metrics by name.
    pub metrics: MetricQuery,
    /// The folder of results; without it, the project's.
    pub results: Option<PathBuf>,
}

/// Which metrics are asked for.
#[derive(Clone, Debug, Default)]
pub enum MetricQuery {
    /// Those that stand for their benchmarks.
    #[default]
    Primary,
    /// All.
    All,
    /// These.
    Named(Vec<MetricSelector>),
}

/// The history of what was asked for, and what it was made from.
pub struct Histories {
    /// The project with its results.
    pub evaluation: Evaluation,
    /// Its acknowledgements.
    pub acks: Vec<Ack>,
    /// The commits whose sessions are the baseline.
    pub baseline: DefaultBaseline,
    /// The series.
    pub series: Vec<SeriesHistory>,
}

impl Histories {
    /// Reads the results of a project, and returns the history of what was asked for.
    pub fn of(mut evaluation: Evaluation, query: &HistoryQuery) -> Result<Self> {
        evaluation.read(query.results.as_deref())?;
        evaluation.keep(&query.benchmarks)?;
        if let MetricQuery::Named(metrics) = &query.metrics {
            evaluation.refuse_unknown(metrics)?;
        }
        let mut found = Diagnostics::default();
        let acks = evaluation.acks(&mut found);
        evaluation.diagnostics.extend(found);
        let baseline = DefaultBaseline::of(evaluation.commits()?.as_ref())?;
        let dataset = &evaluation.dataset;
        let is_wanted = |benchmark: &String| query.benchmarks.is_empty() || query.benchmarks.contains(benchmark);
        let rows = dataset.places(|row| is_wanted(&dataset.subject(row).benchmark));
        let mut series = history(HistoryRequest {
            dataset,
            partitions: &partitions(dataset, rows.into_iter(), &evaluation.across),
            policies: &evaluation.policies,
            acks: &acks,
            lineage: baseline.lineage(),
            as_of: &evaluation.as_of(),
        });
        refuse_unknown_cases(&query.cases, &series)?;
        series.retain(|told| query.has(told));
        Ok(Self { evaluation, acks, baseline, series })
    }
}

impl HistoryQuery {
    fn has(&self, told: &SeriesHistory) -> bool {
        let by_metric = match &self.metrics {
            MetricQuery::Primary => told.kind == Kind::Primary,
            MetricQuery::All => true,
            MetricQuery::Named(metrics) => metrics.iter().any(|metric| metric.has(&told.metric, &told.labels)),
        };
        by_metric
            && (self.cases.is_empty() || self.cases.iter().any(|case| [&told.case, &told.case_name].contains(&case)))
    }
}

/// Refuses cases that no result is of.
fn refuse_unknown_cases(cases: &[String], series: &[SeriesHistory]) -> Result<()> {
    let names = |told: &SeriesHistory| [told.case.clone(), told.case_name.clone()];
    let known: BTreeSet<String> = series.iter().flat_map(names).filter(|name| !name.is_empty()).collect();
    let Some(unknown) = cases.iter().find(|case| !known.contains(*case)) else { return Ok(()) };
    let near = nearest(unknown, known.iter().map(String::as_str));
    bail!("no result is of the case `{unknown}`{near}; `kubebench history` lists them")
}
