//! The results of a session as a table: median and spread of each metric in each case, and what people should know of the values.

use super::counted;
use kubebench_executor::collect::Stored;
use kubebench_format::result::labelled;
use kubebench_format::result::v1::{Kind, Metric, Status};
use kubebench_results::compare::words::{self, Scaled};
use kubebench_stats as stats;
use kubebench_syntax::diag::render::on_one_line;
use kubebench_syntax::text::{columns, plain};
use kubebench_syntax::unit::MetricUnit;

/// How much of the reason for a missing value fits.
const REASON: usize = 120;

/// Returns the table; warm-ups and runs that did not succeed are not in its numbers.
pub(super) fn table(stored: &[Stored]) -> String {
    let counts = |stored: &&Stored| {
        let run = &stored.sealed.result.run;
        run.status == Status::Succeeded && !run.warmup
    };
    let mut rows: Vec<[String; 6]> = Vec::new();
    let mut series: Vec<((&str, Series), Vec<&Metric>)> = Vec::new();
    for result in stored.iter().filter(counts).map(|stored| &stored.sealed.result) {
        for metric in &result.metrics {
            let key = (result.metadata.case_name.as_str(), Series::of(metric));
            match series.iter_mut().find(|(known, _)| *known == key) {
                Some((_, metrics)) => metrics.push(metric),
                None => series.push((key, vec![metric])),
            }
        }
    }
    series.retain(|(_, metrics)| metrics.iter().any(|metric| metric.kind != Kind::Info));
    // Runs without a value have a row only where no run has one.
    let with_value: Vec<(&str, String)> = series
        .iter()
        .filter(|((_, of), _)| of.dimension.is_some())
        .map(|((case, of), _)| (*case, of.name.clone()))
        .collect();
    let has_value = |case: &str, of: &Series| with_value.iter().any(|(other, name)| case == *other && of.name == *name);
    let mut notes = Notes::default();
    for ((case, of), metrics) in &series {
        metrics.iter().filter(|_| has_value(case, of)).for_each(|metric| notes.take(metric));
    }
    series.retain(|((case, of), _)| of.dimension.is_some() || !has_value(case, of));
    series.sort_by_key(|((case, _), _)| {
        stored.iter().position(|stored| stored.sealed.result.metadata.case_name == *case)
    });
    for ((case, of), metrics) in series {
        let (mut unit, mut reason) = (None, "");
        let mut values = Vec::new();
        for metric in metrics {
            reason = metric.reason.as_deref().unwrap_or(reason);
            let own = MetricUnit::of_metric(metric.unit.as_deref());
            // Runs may print one metric with several prefixes.
            let conversion = own.conversion_to(unit.get_or_insert_with(|| own.clone()));
            values.extend(conversion.zip(metric.value).map(|(conversion, value)| conversion.convert(value)));
        }
        let (case, name, unit) =
            (case.to_owned(), of.name, unit.as_ref().map(MetricUnit::text).filter(|unit| !matches!(*unit, "" | "1")));
        let row = match values.len() {
            0 => [case, name, "0".to_owned(), "-".to_owned(), "-".to_owned(), reason.chars().take(REASON).collect()],
            count => {
                let [least, median, most] = stats::quantiles(values.iter().copied(), [0.0, 0.5, 1.0]);
                let spread = if count < 2 || median == 0.0 {
                    "-".to_owned()
                } else {
                    format!("{:.1} %", (most - least) / median.abs() * 100.0)
                };
                let scaled = Scaled::of_all([least, most].into_iter(), unit);
                let number = |value: f64| words::number(scaled.convert(value));
                let range = if count < 2 { String::new() } else { format!("{} … {}", number(least), number(most)) };
                [case, name, count.to_string(), scaled.value(median), spread, range]
            }
        };
        rows.push(row);
    }
    if rows.is_empty() {
        return String::new();
    }
    rows.iter_mut().flatten().for_each(|cell| *cell = plain(cell));
    rows.insert(0, ["CASE", "METRIC", "N", "MEDIAN", "SPREAD", "MIN … MAX"].map(str::to_owned));
    columns(&rows).into_iter().chain(notes.lines()).map(|line| line + "\n").collect()
}

/// What results say in addition to values: each once, with the metrics of which it is said.
#[derive(Default)]
struct Notes<'r>(Vec<(&'r str, Vec<&'r str>)>);

impl<'r> Notes<'r> {
    fn take(&mut self, metric: &'r Metric) {
        let Some(reason) = metric.reason.as_deref() else { return };
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) if names.contains(&metric.name.as_str()) => {}
            Some((_, names)) => names.push(&metric.name),
            None => self.0.push((reason, vec![&metric.name])),
        }
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(reason, names)| {
            let more = names.len() - 1;
            let more = if more == 0 { String::new() } else { format!(" and {}", counted(more, "more metric")) };
            let first = names.first().copied().unwrap_or_default();
            on_one_line(&format!("note: {first}{more}: {reason}")).into_owned()
        })
    }
}

/// What values of one row have in common.
#[derive(PartialEq, Eq)]
struct Series {
    name: String,
    /// What they measure: a size is no value of a time. A run that found no value has none.
    dimension: Option<String>,
}

impl Series {
    fn of(metric: &Metric) -> Self {
        let unit = MetricUnit::of_metric(metric.unit.as_deref());
        let dimension = metric.value.is_some().then(|| unit.dimension().to_owned());
        Self { name: labelled(&metric.name, &metric.labels), dimension }
    }
}
