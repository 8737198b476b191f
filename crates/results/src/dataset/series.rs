//! Series: the values of one metric over the sessions of a partition.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Dataset, Definition, Now, Partition, Session};
use kubebench_format::result::labelled;
use kubebench_format::result::v1::{Direction, Kind};
use kubebench_stats as stats;
use kubebench_syntax::unit::MetricUnit;

/// What distinguishes a metric from others of a partition. A metric whose unit measures something else now is another one; units
/// of one dimension were made one before ([`Dataset::unify_units`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetricKey {
    pub name: String,
    /// What distinguishes it from others of its name.
    pub labels: BTreeMap<String, String>,
    pub unit: Option<String>,
}

impl MetricKey {
    /// Returns the key of what a definition defines.
    pub(crate) fn of(definition: &Definition) -> Self {
        Self {
            name: definition.name.clone(),
            labels: definition.labels.clone(),
            unit: definition.unit.clone().filter(|unit| unit != "1"),
        }
    }

    fn metric_unit(&self) -> MetricUnit {
        MetricUnit::of_metric(self.unit.as_deref())
    }

    /// Returns the name with its labels, as people read it.
    pub(crate) fn shown(&self) -> String {
        labelled(&self.name, &self.labels)
    }
}

/// The values of a metric, session by session.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub metric: MetricKey,
    /// Which way is better, as the newest session has it.
    pub direction: Direction,
    /// What part it plays, as the newest session has it.
    pub kind: Kind,
    /// What it is called now, where the newest session has an old name that the result does not let translate.
    pub now: Option<Now>,
    /// The values, the oldest first; sessions without one are left out.
    pub points: Vec<Point>,
}

impl Series {
    /// Returns the same as values of `metric`: converted where the units differ; nothing where they measure different things,
    /// or where it is another metric.
    pub(crate) fn as_of(&self, metric: &MetricKey) -> Option<Cow<'_, Self>> {
        if self.metric == *metric {
            return Some(Cow::Borrowed(self));
        }
        let is_like = self.metric.name == metric.name && self.metric.labels == metric.labels;
        let conversion = self.metric.metric_unit().conversion_to(&metric.metric_unit()).filter(|_| is_like)?;
        let mut converted = Self { metric: metric.clone(), ..self.clone() };
        for point in &mut converted.points {
            point.median = conversion.convert(point.median);
            point.runs.iter_mut().for_each(|run| *run = conversion.convert(*run));
        }
        Some(Cow::Owned(converted))
    }
}

/// The value of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The place of the session in its partition.
    pub session: usize,
    /// The median of its runs.
    pub median: f64,
    /// Which way was better, as this session has it.
    pub direction: Direction,
    /// The values of its runs that count and have one, in the order of time.
    pub runs: Vec<f64>,
    /// The places of their rows in the dataset, in the same order.
    pub(crate) rows: Vec<usize>,
}

/// Returns the series of a partition, by metric.
pub fn series(dataset: &Dataset, partition: &Partition) -> Vec<Series> {
    series_of(dataset, partition, |_| true)
}

/// Returns the series of a partition that are wanted, by metric.
pub(crate) fn series_of(
    dataset: &Dataset,
    partition: &Partition,
    is_wanted: impl Fn(&Definition) -> bool,
) -> Vec<Series> {
    let mut all: BTreeMap<MetricKey, Series> = BTreeMap::new();
    for (at, session) in partition.sessions.iter().enumerate() {
        for (definition, found) in values(dataset, session, &is_wanted) {
            let metric = MetricKey::of(definition);
            let Definition { direction, kind, .. } = *definition;
            let now = definition.now.clone();
            let series = all.entry(metric.clone()).or_insert_with(|| Series {
                metric,
                direction,
                kind,
                now: None,
                points: Vec::new(),
            });
            (series.direction, series.kind, series.now) = (direction, kind, now);
            let (rows, runs): (Vec<usize>, Vec<f64>) = found.into_iter().unzip();
            match series.points.last_mut().filter(|last| last.session == at) {
                // One metric with two definitions in a session: its direction was changed between two runs.
                Some(last) => {
                    last.runs.extend(runs);
                    last.rows.extend(rows);
                    last.direction = direction;
                }
                None => series.points.push(Point { session: at, median: f64::NAN, direction, runs, rows }),
            }
        }
    }
    for point in all.values_mut().flat_map(|series| &mut series.points) {
        point.median = stats::quantile(point.runs.iter().copied(), 0.5);
    }
    all.into_values().collect()
}

/// Returns the values of the runs of a session that count, each with the place of its row, by definition.
fn values<'a>(
    dataset: &'a Dataset,
    session: &'a Session,
    is_wanted: &impl Fn(&Definition) -> bool,
) -> Vec<(&'a Definition, Vec<(usize, f64)>)> {
    let mut by_definition: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
    let rows = session.rows.iter().filter_map(|at| Some((*at, dataset.rows().get(*at)?)));
    for (at, row) in rows.filter(|(_, row)| row.counts()) {
        let wanted = row.metrics.iter().filter(|(definition, _)| is_wanted(dataset.definitions.get(*definition)));
        for (definition, value) in wanted {
            by_definition.entry(*definition).or_default().extend(value.map(|value| (at, value)));
        }
    }
    let known = by_definition.into_iter().filter(|(_, runs)| !runs.is_empty());
    known.map(|(definition, runs)| (dataset.definitions.get(definition), runs)).collect()
}
