//! One unit for each metric of a benchmark: what was recorded in another one of the same dimension is converted.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Dataset, Definition};
use kubebench_format::result::v1::{BenchmarkResult, Metric, Stats};
use kubebench_syntax::unit::{Conversion, MetricUnit, moment};

/// What measures the same: a name, labels and a dimension.
type Measure = (String, BTreeMap<String, String>, String);

/// The unit that the newest result has of each metric of a benchmark that was recorded in several.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewestUnits(BTreeMap<(String, Measure), MetricUnit>);

impl NewestUnits {
    /// Returns the unit into which values are converted, the one that the spec has or else that of the newest result, and how; nothing
    /// where they stay as they are.
    fn of(
        &self,
        benchmark: &str,
        (name, labels): (&str, &BTreeMap<String, String>),
        recorded: &MetricUnit,
        stated: Option<MetricUnit>,
    ) -> Option<(MetricUnit, Conversion)> {
        let of_spec = stated.filter(|unit| unit.dimension() == recorded.dimension());
        let measure = || (name.to_owned(), labels.clone(), recorded.dimension().to_owned());
        let wanted = of_spec.or_else(|| self.0.get(&(benchmark.to_owned(), measure())).cloned())?;
        let conversion = recorded.conversion_to(&wanted).filter(|_| recorded.text() != wanted.text())?;
        Some((wanted, conversion))
    }

    /// Returns a result with values converted as [`Dataset::unify_units`] does those of all.
    pub(crate) fn convert<'r>(
        &self,
        result: &'r BenchmarkResult,
        stated: impl Fn(&Metric) -> Option<MetricUnit>,
    ) -> Cow<'r, BenchmarkResult> {
        let of = |metric: &Metric| {
            let recorded = MetricUnit::of_metric(metric.unit.as_deref());
            self.of(&result.metadata.benchmark, (&metric.name, &metric.labels), &recorded, stated(metric))
        };
        let conversions: Vec<_> = result.metrics.iter().map(of).collect();
        if conversions.iter().all(Option::is_none) {
            return Cow::Borrowed(result);
        }
        let mut converted = result.clone();
        for (metric, found) in converted.metrics.iter_mut().zip(conversions) {
            let Some((unit, conversion)) = found else { continue };
            let convert = |value: &mut f64| *value = conversion.convert(*value);
            metric.unit = Some(unit.text().to_owned());
            metric.value.iter_mut().for_each(convert);
            metric.samples.iter_mut().flatten().for_each(convert);
            if let Some(Stats { mean, stddev, median, mad, min, max, p01, p10, p90, p99 }) = &mut metric.stats {
                [mean, stddev, median, mad, min, max, p01, p10, p90, p99].into_iter().for_each(convert);
            }
        }
        Cow::Owned(converted)
    }
}

impl Dataset {
    /// Converts values into the unit that `stated` says of a metric of a benchmark, or else into that of its newest result.
    ///
    /// The prefix and the spelling of a unit are not what it measures: 984 us and 1.03 ms are values of one series. Values
    /// of another dimension stay as they are.
    pub fn unify_units(&mut self, stated: impl Fn(&str, &str, &BTreeMap<String, String>) -> Option<MetricUnit>) {
        let newest = self.newest_units();
        let mut known: BTreeMap<(u32, u32), Option<(u32, Conversion)>> = BTreeMap::new();
        let Self { rows, subjects, definitions, .. } = self;
        for row in rows {
            let benchmark = &subjects.get(row.subject).benchmark;
            for (id, value) in &mut row.metrics {
                let change = *known.entry((row.subject, *id)).or_insert_with(|| {
                    let definition = definitions.get(*id).clone();
                    let of_spec = stated(benchmark, &definition.name, &definition.labels);
                    let series = (definition.name.as_str(), &definition.labels);
                    let (wanted, conversion) = newest.of(benchmark, series, &unit(&definition), of_spec)?;
                    let converted = Definition { unit: Some(wanted.text().to_owned()), ..definition };
                    Some((definitions.id(&converted), conversion))
                });
                if let Some((converted, conversion)) = change {
                    *id = converted;
                    *value = value.map(|value| conversion.convert(value));
                }
            }
        }
    }

    /// Returns the unit that the newest result has of each metric of a benchmark that was recorded in several.
    pub(crate) fn newest_units(&self) -> NewestUnits {
        let mut texts: BTreeMap<Measure, BTreeSet<String>> = BTreeMap::new();
        for definition in self.definitions.items() {
            texts.entry(measure(definition)).or_default().insert(unit(definition).text().to_owned());
        }
        texts.retain(|_, texts| texts.len() > 1);
        let mut newest: BTreeMap<(String, Measure), (&str, MetricUnit)> = BTreeMap::new();
        if texts.is_empty() {
            return NewestUnits::default();
        }
        for row in &self.rows {
            for (definition, _) in self.metrics(row).filter(|(definition, _)| texts.contains_key(&measure(definition)))
            {
                let key = (self.subject(row).benchmark.clone(), measure(definition));
                let own = (moment(&row.started_at), unit(definition));
                let last = newest.entry(key).or_insert_with(|| own.clone());
                if last.0 <= own.0 {
                    *last = own;
                }
            }
        }
        NewestUnits(newest.into_iter().map(|(metric, (_, unit))| (metric, unit)).collect())
    }
}

fn measure(definition: &Definition) -> Measure {
    (definition.name.clone(), definition.labels.clone(), unit(definition).dimension().to_owned())
}

fn unit(definition: &Definition) -> MetricUnit {
    MetricUnit::of_metric(definition.unit.as_deref())
}
