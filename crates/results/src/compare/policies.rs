//! What specs say of metrics: which changes of them matter, and which way is better.

use std::collections::BTreeMap;

use crate::dataset::Series;
use crate::verdict::{DEFAULT_THRESHOLD, Policy};
use kubebench_extract::naming::Naming;
use kubebench_extract::tool::tool;
use kubebench_format::result::v1::Direction;
use kubebench_syntax::unit::{MetricSelector, MetricUnit};

/// What a spec says of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// The change that matters, as a share, where a gate says so.
    pub threshold: Option<f64>,
    /// Which way is better, where the spec says so.
    pub direction: Option<Direction>,
    /// The unit, where the spec says so.
    pub unit: Option<String>,
}

/// What specs say, by benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policies(BTreeMap<String, Vec<(Meant, Stated)>>);

/// Which metrics a spec speaks of.
#[derive(Clone, Debug, PartialEq)]
pub enum Meant {
    /// Series that it names.
    Series(MetricSelector),
    /// All that a tool brings, under the names of its rule.
    Tool(String, Naming),
}

impl Meant {
    fn has(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Series(selector) => selector.has(name, labels),
            Self::Tool(tool, naming) => {
                let brought = MetricSelector::of_series(name, labels);
                let own = naming.of_brought(&brought);
                // A name that the rule changes is no name in results any more.
                naming.name(own.name()) == name && self::tool(tool).is_some_and(|tool| tool.brings(own.name()))
            }
        }
    }
}

impl Policies {
    /// Adds what the spec of a benchmark says of metrics.
    pub fn state(&mut self, benchmark: &str, metric: Meant, stated: Stated) {
        self.0.entry(benchmark.to_owned()).or_default().push((metric, stated));
    }

    /// Returns the unit that a spec says of a metric.
    pub fn unit(&self, benchmark: &str, metric: &str, labels: &BTreeMap<String, String>) -> Option<MetricUnit> {
        let mut units = self.about(benchmark, metric, labels).filter_map(|stated| stated.unit.as_deref());
        units.next().map(MetricUnit::of)
    }

    /// Returns how a series is judged: as its spec says now, and else as its newest result says; of several gates the strictest
    /// says which change matters.
    pub(crate) fn of(&self, benchmark: &str, series: &Series) -> Policy {
        let about = || self.about(benchmark, &series.metric.name, &series.metric.labels);
        Policy {
            direction: about().find_map(|stated| stated.direction).unwrap_or(series.direction),
            threshold: about()
                .filter_map(|stated| stated.threshold)
                .min_by(f64::total_cmp)
                .unwrap_or(DEFAULT_THRESHOLD),
        }
    }

    fn about(&self, benchmark: &str, metric: &str, labels: &BTreeMap<String, String>) -> impl Iterator<Item = &Stated> {
        let of_benchmark = self.0.get(benchmark).into_iter().flatten();
        of_benchmark.filter(move |(meant, _)| meant.has(metric, labels)).map(|(_, stated)| stated)
    }
}
