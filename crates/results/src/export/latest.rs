//! What the last session of each case measured: medians, for formats that hold one value of a metric.

use std::collections::BTreeMap;

use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::{Direction, Metric};
use kubebench_stats::quantile;
use kubebench_syntax::unit::{Conversion, MetricUnit};

/// A case on a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) benchmark: String,
    pub(super) case: String,
    pub(super) target: String,
}

/// Its last session.
#[derive(Debug)]
pub(super) struct Last {
    /// One run of it, without its metrics.
    pub(super) run: BenchmarkResult,
    pub(super) runs: u64,
    pub(super) metrics: BTreeMap<Key, Measured>,
}

/// What distinguishes the metrics of a case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) unit: Option<String>,
}

/// The values of a metric, one a run.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) direction: Direction,
    values: Vec<f64>,
}

/// The last session of every case; the caller leaves out runs of others.
#[derive(Debug, Default)]
pub(super) struct Latest {
    pub(super) places: BTreeMap<Place, Last>,
}

impl Latest {
    pub(super) fn add(&mut self, result: &BenchmarkResult) {
        let of = &result.metadata;
        let place = Place { benchmark: of.benchmark.clone(), case: of.case.clone(), target: of.target.clone() };
        let last = self.places.entry(place).or_insert_with(|| {
            let mut run = result.clone();
            run.metrics.clear();
            run.native.clear();
            run.monitoring.clear();
            Last { run, runs: 0, metrics: BTreeMap::new() }
        });
        last.runs += 1;
        for Metric { name, labels, unit, direction, value, .. } in &result.metrics {
            let key = Key { name: name.clone(), labels: labels.clone(), unit: unit.clone() };
            let (key, conversion) = last.alike(key);
            let measured =
                last.metrics.entry(key).or_insert_with(|| Measured { direction: *direction, values: Vec::new() });
            let value = value.map(|value| conversion.map_or(value, |conversion| conversion.convert(value)));
            measured.values.extend(value.filter(|value| value.is_finite()));
        }
    }
}

impl Last {
    /// Returns the key that a metric has among those of the session, and how it is converted: runs of one session may print
    /// one metric with several prefixes.
    fn alike(&self, key: Key) -> (Key, Option<Conversion>) {
        let first = Key { unit: None, ..key.clone() };
        let same = self.metrics.range(first..).map(|(known, _)| known);
        let mut same = same.take_while(|known| known.name == key.name && known.labels == key.labels);
        let known = same.find_map(|known| Some((known, key.metric_unit().conversion_to(&known.metric_unit())?)));
        match known {
            Some((known, conversion)) if known.unit != key.unit => (known.clone(), Some(conversion)),
            _ => (key, None),
        }
    }
}

impl Key {
    fn metric_unit(&self) -> MetricUnit {
        MetricUnit::of_metric(self.unit.as_deref())
    }
}

impl Measured {
    /// Returns how many runs have a value.
    pub(super) fn runs(&self) -> usize {
        self.values.len()
    }

    /// Returns the median of the runs that have a value, if it is a number.
    pub(super) fn median(&self) -> Option<f64> {
        let median = quantile(self.values.iter().copied(), 0.5);
        median.is_finite().then_some(median)
    }

    /// Returns the least and the greatest of several values.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let least = self.values.iter().copied().min_by(f64::total_cmp)?;
        let most = self.values.iter().copied().max_by(f64::total_cmp)?;
        (self.values.len() > 1).then_some((least, most))
    }
}

impl Last {
    /// Returns the case as people know it, with its target; what was made without a run says so.
    pub(super) fn name(&self, place: &Place) -> String {
        let case = Some(&self.run.metadata.case_name).filter(|name| !name.is_empty()).unwrap_or(&place.case);
        let made = if self.run.synthetic { " (synthetic)" } else { "" };
        format!("{}/{case}@{}{made}", place.benchmark, place.target)
    }
}

impl Key {
    /// Returns the name with the labels, as `latency{q=p99}`.
    pub(super) fn shown(&self) -> String {
        kubebench_format::result::labelled(&self.name, &self.labels)
    }
}
