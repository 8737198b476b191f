//! hyperfine's JSON: a result for each command, in seconds.
//!
//! The command, or the name that `--command-name` gave it, and the parameters are labels. The times of the runs are the
//! samples; where a file lacks them, the statistics are taken as they are. A command that failed ended the whole benchmark,
//! unless hyperfine was asked to ignore failures; then `failed_runs` counts them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::renamed::{Old, Renamed};
use super::{Document, Headline, Report, Tool, ToolMetric, label, lower, plain};
use crate::json_document::{list, reading};
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "hyperfine",
    reads: "the JSON of `--export-json`",
    source: "https://github.com/sharkdp/hyperfine/blob/master/src/benchmark/benchmark_result.rs",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("results").is_some(), read }),
    versions: "1.15",
    metrics: || TIMES.iter().chain(&OTHERS).chain([&FAILED_RUNS]).collect(),
    labels: &[
        label("command", "the command, or the name of `--command-name`"),
        label("{parameter}", "the value of each parameter"),
    ],
    example: "{name: hyperfine, file: times.json, metrics: [median]}",
    attempts: Some("runs"),
    cautions: &[],
    renamed: Some(renamed),
};

/// Metrics that are computed from the times of the runs.
static TIMES: [ToolMetric; 4] = [
    lower("mean", "s", "mean time of a run").of(&[Headline::of("", Reduce::Mean)]),
    lower("median", "s", "median time of a run").of(&[Headline::of("", Reduce::Median)]),
    lower("min", "s", "time of the fastest run").of(&[Headline::of("", Reduce::Min)]),
    lower("max", "s", "time of the slowest run").of(&[Headline::of("", Reduce::Max)]),
];
static OTHERS: [ToolMetric; 3] = [
    plain("stddev", "s", "standard deviation of the times"),
    plain("user", "s", "mean time in user mode"),
    plain("system", "s", "mean time in the kernel"),
];
static FAILED_RUNS: ToolMetric = lower("failed_runs", "1", "runs that did not exit with 0");

fn read(root: &Value, report: &mut Report) {
    let results = list(root, "results");
    for result in results {
        push_result(result, report);
    }
    if results.is_empty() {
        report.invalid("the report holds no result");
    }
}

/// Returns the labels that distinguish a result from others: its command and its parameters.
fn labels_of(result: &Value) -> BTreeMap<String, String> {
    let parameters = result.get("parameters").and_then(Value::as_object).into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut labels: BTreeMap<String, String> = parameters.map(|(name, value)| (name.clone(), text(value))).collect();
    let command = result.get("command").and_then(Value::as_str).unwrap_or_default();
    labels.insert("command".to_owned(), command.to_owned());
    labels
}

fn push_result(result: &Value, report: &mut Report) {
    let labels = labels_of(result);
    let said: Vec<String> = labels.iter().map(|(name, value)| format!("{name} `{value}`")).collect();
    report.begin_result(&said.join(" and "));
    let times = list(result, "times");
    for time in times {
        for metric in &TIMES {
            report.push_labeled(metric, &labels, reading(time));
        }
    }
    let statistics = if times.is_empty() { TIMES.as_slice() } else { &[] };
    for metric in statistics.iter().chain(&OTHERS) {
        // One run has no deviation. Whatever else is null is not finite.
        if let Some(value) = result.get(metric.name).filter(|value| !value.is_null() || metric.name != "stddev") {
            report.push_labeled(metric, &labels, reading(value));
        }
    }
    let codes = list(result, "exit_codes");
    if !codes.is_empty() {
        // A command that a signal ended has no code.
        let failed = codes.iter().filter(|code| code.as_i64() != Some(0)).count();
        report.push_labeled(&FAILED_RUNS, &labels, failed as f64);
        report.attempts("runs", failed as f64, codes.len() as f64);
    }
}

/// Version 0.1 named metrics by the place of the result: `0.median`.
fn renamed(old: &Old<'_>) -> Option<Renamed> {
    let (place, name) = old.name.split_once('.')?;
    let place: usize = place.parse().ok()?;
    let result = old.document.and_then(|root| list(root, "results").get(place));
    Some(match result {
        Some(result) => Renamed::To { name: name.to_owned(), labels: labels_of(result) },
        None => Renamed::Unknown { name: name.to_owned(), labels: &["command"] },
    })
}
