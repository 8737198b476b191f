//! A cell: one metric of one case on one kind of hardware, with the sessions of its newest level.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::model::Estimate;
use crate::compare::model::{SeriesHistory, SessionValue};
use crate::dataset::{Dataset, Row};
use kubebench_format::result::labelled;
use kubebench_stats as stats;
use kubebench_syntax::invariant::Invariant as _;

/// One metric of one case on one kind of hardware.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    pub(super) history: &'a SeriesHistory,
    pub(super) params: &'a BTreeMap<String, Json>,
    /// The hardware without how many machines there were of each kind.
    pub(super) kinds: BTreeMap<String, String>,
    /// The sessions of the level that is there now.
    pub(super) level: Vec<&'a SessionValue>,
    /// The runs of each of these that have its value.
    pub(super) runs: Vec<Vec<&'a Row>>,
}

/// Returns the cells of `histories`; one without a session of its current level has none.
pub(super) fn cells<'a>(dataset: &'a Dataset, histories: &'a [SeriesHistory]) -> Vec<Cell<'a>> {
    let rows: BTreeMap<&str, &Row> = dataset.rows().iter().map(|row| (row.path.as_str(), row)).collect();
    let cell = |history: &'a SeriesHistory| {
        let level = history.level();
        let of_session = |session: &&SessionValue| -> Vec<&'a Row> {
            session.results.iter().filter_map(|path| rows.get(path.as_str()).copied()).collect()
        };
        let runs: Vec<Vec<&Row>> = level.iter().map(of_session).collect();
        let newest = *runs.last()?.first()?;
        let mut kinds: BTreeMap<String, String> =
            dataset.kinds(newest).into_iter().map(|(fact, value)| (fact.to_owned(), value)).collect();
        // Facts that the project does not distinguish.
        kinds.retain(|fact, _| history.environment.contains_key(fact));
        Some(Cell { history, params: &dataset.subject(newest).params, kinds, level, runs })
    };
    histories.iter().filter_map(cell).collect()
}

impl Cell<'_> {
    pub(super) fn values(&self) -> Vec<f64> {
        self.level.iter().map(|session| session.value).collect()
    }

    /// Returns the median of the sessions, and how sure it is.
    pub(super) fn estimate(&self) -> Estimate {
        let values = self.values();
        let interval = if values.iter().all(|value| *value > 0.0) {
            let places: Vec<f64> = values.iter().map(|value| stats::ln(*value)).collect();
            stats::median::interval(&places).map(|(low, high)| (stats::exp_m1(low) + 1.0, stats::exp_m1(high) + 1.0))
        } else {
            stats::median::interval(&values)
        };
        let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
        Estimate { value: stats::quantile(values.iter().copied(), 0.5), interval }
    }

    pub(super) fn since(&self) -> &str {
        self.level.first().map(|session| session.started_at.as_str()).expected("a cell with at least one session")
    }

    pub(super) fn until(&self) -> &str {
        self.level.last().map(|session| session.started_at.as_str()).expected("a cell with at least one session")
    }

    /// Returns what decides which of two cells of the same case represents it: the one that runs today.
    pub(super) fn rank(&self) -> (bool, &str) {
        (!self.history.replaced, self.until())
    }

    /// Returns the metric with its labels.
    pub(super) fn metric(&self) -> String {
        labelled(&self.history.metric, &self.history.labels)
    }
}
