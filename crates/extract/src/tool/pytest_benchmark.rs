//! pytest-benchmark's JSON: seconds, whatever unit the console shows.
//!
//! The rounds' times are the samples of a benchmark when the file holds all of them; otherwise (`--benchmark-save` without
//! `--benchmark-save-data`, or a file that was shortened) the statistics are taken as they stand.

use std::collections::BTreeMap;

use serde_json::Value;

use super::renamed::{Old, Renamed};
use super::{Document, Headline, Report, Tool};
use crate::json_document::{list, reading};
use kubebench_format::spec::v1::metric::{Better, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "pytest-benchmark",
    reads: "the JSON of `--benchmark-json`",
    source: "https://github.com/ionelmc/pytest-benchmark/blob/master/src/pytest_benchmark/stats.py",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("benchmarks").is_some(), read }),
    metrics: None,
    renamed: Some(renamed),
};

const ROUNDS: &[Headline] = &[
    Headline::of(".mean", Reduce::Mean),
    Headline::of(".median", Reduce::Median),
    Headline::of(".min", Reduce::Min),
    Headline::of(".max", Reduce::Max),
];

/// Statistics, with their units, that the samples give as well.
const LOCATION: [(&str, &str, Option<Better>); 4] = [
    ("mean", "s", Some(Better::Lower)),
    ("median", "s", Some(Better::Lower)),
    ("min", "s", Some(Better::Lower)),
    ("max", "s", Some(Better::Lower)),
];
const OTHERS: [(&str, &str, Option<Better>); 4] =
    [("stddev", "s", None), ("iqr", "s", None), ("ops", "1/s", Some(Better::Higher)), ("rounds", "1", None)];

fn read(root: &Value, report: &mut Report) {
    let benchmarks = list(root, "benchmarks");
    if benchmarks.is_empty() {
        report.invalid("the report holds no benchmark");
    }
    for benchmark in benchmarks {
        let text = |key| benchmark.get(key).and_then(Value::as_str);
        let Some(name) = text("name") else { continue };
        // Two files may hold tests of one name.
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
    let known = |name: &str| LOCATION.iter().chain(&OTHERS).any(|(known, ..)| *known == name);
    suffix.is_empty() || suffix.strip_prefix('.').is_some_and(known)
}

fn push_statistics(name: &str, labels: &BTreeMap<String, String>, statistics: &Value, report: &mut Report) {
    let rounds = list(statistics, "data");
    let is_whole = statistics.get("rounds").and_then(Value::as_u64) == Some(rounds.len() as u64);
    let samples = if is_whole { rounds } else { &[] };
    for round in samples {
        report.push_named(name, "s", Some(Better::Lower), labels, ROUNDS, reading(round));
    }
    let location = if samples.is_empty() { LOCATION.as_slice() } else { &[] };
    for (key, unit, better) in location.iter().chain(&OTHERS) {
        if let Some(value) = statistics.get(key) {
            report.push_named(&format!("{name}.{key}"), unit, *better, labels, super::ONE, reading(value));
        }
    }
}
