//! pytest-benchmark's JSON: seconds, whatever unit the console shows.
//!
//! The rounds' times are the samples of a benchmark when the file holds all of them; otherwise (`--benchmark-save` without
//! `--benchmark-save-data`, or a file that was shortened) the statistics are used as they are.

use std::collections::BTreeMap;

use serde_json::Value;

use super::renamed::{Old, Renamed};
use super::{Document, Headline, Report, Tool, ToolMetric, higher, label, lower, plain};
use crate::json_document::{list, reading};
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "pytest-benchmark",
    reads: "the JSON of `--benchmark-json`",
    source: "https://github.com/ionelmc/pytest-benchmark/blob/master/src/pytest_benchmark/stats.py",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("benchmarks").is_some(), read }),
    versions: "5.3.1",
    metrics,
    labels: &[label("fullname", "the file and the test")],
    example: "{name: pytest-benchmark, file: benchmark.json, metrics: [test_sort.median]}",
    attempts: None,
    cautions: &[],
    renamed: Some(renamed),
};

const ROUNDS: &[Headline] = &[
    Headline::of(".mean", Reduce::Mean),
    Headline::of(".median", Reduce::Median),
    Headline::of(".min", Reduce::Min),
    Headline::of(".max", Reduce::Max),
];

const LOCATIONS: [&str; 4] = ["mean", "median", "min", "max"];
/// Statistics that can also be computed from the times of the rounds.
static LOCATION: ToolMetric =
    lower("{benchmark}.{mean|median|min|max}", "s", "time of a round, where rounds are not in the file");
static TIMES: ToolMetric = lower("{benchmark}", "s", "time of a round").of(ROUNDS);
static OTHERS: [(&str, ToolMetric); 4] = [
    ("stddev", plain("{benchmark}.stddev", "s", "standard deviation of the rounds")),
    ("iqr", plain("{benchmark}.iqr", "s", "interquartile range of the rounds")),
    ("ops", higher("{benchmark}.ops", "1/s", "rounds a second")),
    ("rounds", plain("{benchmark}.rounds", "1", "how many rounds there were")),
];

fn metrics() -> Vec<&'static ToolMetric> {
    OTHERS.iter().map(|(_, metric)| metric).chain([&LOCATION, &TIMES]).collect()
}

fn read(root: &Value, report: &mut Report) {
    let benchmarks = list(root, "benchmarks");
    if benchmarks.is_empty() {
        report.invalid("the report holds no benchmark");
    }
    for benchmark in benchmarks {
        let text = |key| benchmark.get(key).and_then(Value::as_str);
        let Some(name) = text("name") else { continue };
        // Two files may contain tests of one name.
        let full = text("fullname");
        report.begin_result(&format!("`{}`", full.unwrap_or(name)));
        let labels = full.map(|full| ("fullname".to_owned(), full.to_owned())).into_iter().collect();
        if let Some(statistics) = benchmark.get("stats") {
            push_statistics(name, &labels, statistics, report);
        }
    }
}

/// Version 0.1 had the label only where two benchmarks had one name.
fn renamed(old: &Old<'_>) -> Option<Renamed> {
    let benchmarks = old.document.map(|root| list(root, "benchmarks")).unwrap_or_default();
    let text = |benchmark: &'_ Value, key| benchmark.get(key).and_then(Value::as_str).map(str::to_owned);
    let is_of = |benchmark: &&Value| {
        text(benchmark, "name").is_some_and(|name| old.name.strip_prefix(&name).is_some_and(is_statistic))
    };
    let full = benchmarks.iter().find(is_of).and_then(|benchmark| text(benchmark, "fullname"));
    old.with(&["fullname"], full.as_deref())
}

/// `.median`
fn is_statistic(suffix: &str) -> bool {
    let known = |name: &str| LOCATIONS.contains(&name) || OTHERS.iter().any(|(known, _)| *known == name);
    suffix.is_empty() || suffix.strip_prefix('.').is_some_and(known)
}

fn push_statistics(name: &str, labels: &BTreeMap<String, String>, statistics: &Value, report: &mut Report) {
    let rounds = list(statistics, "data");
    let is_whole = statistics.get("rounds").and_then(Value::as_u64) == Some(rounds.len() as u64);
    let samples = if is_whole { rounds } else { &[] };
    for round in samples {
        report.push_named(&TIMES, name, labels, reading(round));
    }
    let location = if samples.is_empty() { LOCATIONS.as_slice() } else { &[] };
    let others = OTHERS.iter().map(|(key, metric)| (*key, metric));
    for (key, metric) in location.iter().map(|key| (*key, &LOCATION)).chain(others) {
        if let Some(value) = statistics.get(key) {
            report.push_named(metric, &format!("{name}.{key}"), labels, reading(value));
        }
    }
}
