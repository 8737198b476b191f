//! What specs say of metrics: which changes of them matter, and which way is better.

use std::collections::BTreeMap;

use crate::dataset::Series;
use crate::verdict::{DEFAULT_THRESHOLD, Policy};
use kubebench_format::result::v1::Direction;

/// What a spec says of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stated {
    /// The change that matters, as a share: the strictest of its gates.
    pub threshold: f64,
    /// Which way is better, where the spec says so.
    pub direction: Option<Direction>,
}

/// What specs say, by benchmark and metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policies(pub BTreeMap<(String, String), Stated>);

impl Policies {
    /// Returns how a series is judged: as its spec says now, and else as its newest result says.
    pub(crate) fn of(&self, benchmark: &str, series: &Series) -> Policy {
        let stated = self.0.get(&(benchmark.to_owned(), series.metric.name.clone()));
        Policy {
            direction: stated.and_then(|stated| stated.direction).unwrap_or(series.direction),
            threshold: stated.map_or(DEFAULT_THRESHOLD, |stated| stated.threshold),
        }
    }
}
