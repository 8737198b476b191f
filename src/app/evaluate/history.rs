//! The sessions of metrics over time.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use super::{DefaultBaseline, Evaluation};
use crate::app::results::NamedResults;
use kubebench_format::result::Ack;
use kubebench_results::compare::model::{Kind, SeriesHistory};
use kubebench_results::compare::{HistoryRequest, Unvalued, history, sequences, unvalued};
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
    /// Other results than the project's.
    pub results: Option<NamedResults>,
}

/// Which metrics are asked for.
#[derive(Clone, Debug, Default)]
pub enum MetricQuery {
    /// Those that represent their benchmarks.
    #[default]
    Primary,
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
    pub series: Vec<SeriesHistory>,
    /// In how many series of other metrics of the same cases a regression is open.
    pub open_elsewhere: usize,
    /// The sessions that are in no series, since they have no value.
    pub unvalued: Unvalued,
    /// What is not shown, in words.
    pub note: Option<String>,
}

impl Histories {
    /// Reads the results of a project, and returns the history of what was asked for.
    pub fn of(mut evaluation: Evaluation, query: &HistoryQuery) -> Result<Self> {
        evaluation.read(query.results.as_ref())?;
        evaluation.keep(&query.benchmarks)?;
        if let MetricQuery::Named(metrics) = &query.metrics {
            evaluation.refuse_unknown(metrics)?;
        }
        let mut found = Diagnostics::default();
        let acks = evaluation.acks(&mut found)?;
        evaluation.diagnostics.extend(found);
        let baseline = DefaultBaseline::of(evaluation.commits()?.as_ref())?;
        let dataset = &evaluation.dataset;
        let is_wanted = |benchmark: &String| query.benchmarks.is_empty() || query.benchmarks.contains(benchmark);
        let rows = dataset.places(|row| is_wanted(&dataset.subject(row).benchmark));
        let mut partitions = sequences(dataset, rows.into_iter(), &evaluation.across, baseline.lineage());
        let series = history(HistoryRequest {
            dataset,
            partitions: &partitions,
            policies: &evaluation.policies,
            acks: &acks,
            lineage: baseline.lineage(),
            as_of: &evaluation.as_of(),
        });
        refuse_unknown_cases(&query.cases, &series)?;
        partitions.retain(|of| query.has_case(&of.case, &dataset.subject(of.newest(dataset)).case_name));
        let (series, others) = series.into_iter().partition::<Vec<_>, _>(|history| query.has(history));
        let unvalued = unvalued(dataset, &partitions, &series);
        let note = query.note(&series, &others);
        let is_of_case = |history: &&SeriesHistory| query.has_case(&history.case, &history.case_name);
        let open_elsewhere = others.iter().filter(is_of_case).filter(|history| history.open.is_some()).count();
        Ok(Self { evaluation, acks, baseline, series, open_elsewhere, unvalued, note })
    }
}

impl HistoryQuery {
    fn has(&self, history: &SeriesHistory) -> bool {
        let by_metric = match &self.metrics {
            MetricQuery::Primary => history.kind == Kind::Primary,
            MetricQuery::All => true,
            MetricQuery::Named(metrics) => metrics.iter().any(|metric| metric.has(&history.metric, &history.labels)),
        };
        by_metric && self.has_case(&history.case, &history.case_name)
    }

    fn has_case(&self, id: &str, name: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|case| [id, name].contains(&case.as_str()))
    }

    /// Says what is not shown, where nothing is, or nothing of some benchmark.
    fn note(&self, shown: &[SeriesHistory], others: &[SeriesHistory]) -> Option<String> {
        let with_primary: BTreeSet<&str> = shown.iter().map(|history| history.benchmark.as_str()).collect();
        let of_case = others.iter().filter(|history| self.has_case(&history.case, &history.case_name));
        let without: BTreeSet<&str> =
            of_case.map(|history| history.benchmark.as_str()).filter(|name| !with_primary.contains(name)).collect();
        let said = match (&self.metrics, without.first()) {
            (MetricQuery::Primary, Some(first)) => {
                let who = match without.len() {
                    1 => format!("{first} has no primary metric"),
                    count => format!("{count} benchmarks have no primary metric (the first is {first})"),
                };
                format!("{who}: `--all` shows all metrics, `--metric NAME` one of them")
            }
            (_, Some(_)) if shown.is_empty() => "no result that counts has a value for this selection".to_owned(),
            _ if shown.is_empty() => "there is no result that counts".to_owned(),
            _ => return None,
        };
        Some(said)
    }
}

/// Refuses cases that no result is of.
fn refuse_unknown_cases(cases: &[String], series: &[SeriesHistory]) -> Result<()> {
    let names = |history: &SeriesHistory| [history.case.clone(), history.case_name.clone()];
    let known: BTreeSet<String> = series.iter().flat_map(names).filter(|name| !name.is_empty()).collect();
    let Some(unknown) = cases.iter().find(|case| !known.contains(*case)) else { return Ok(()) };
    let near = nearest(unknown, known.iter().map(String::as_str));
    bail!("no result is from the case `{unknown}`{near}; `kubebench history` lists the cases")
}
