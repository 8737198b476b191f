//! Google Benchmark's JSON.
//!
//! With repetitions there is a row for each (`BM_Sort/1024`), and there are rows for what they amount to
//! (`BM_Sort/1024_mean`). The former are the samples of one metric, the latter are metrics of their own and never mixed in.
//! Times are in the row's `time_unit`, but the coefficient of variation is a fraction. A row with an error has zeros for
//! times. Before version 1.5 rows do not say what they are; their names still distinguish them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Headline, Report, Tool, ToolMetric, higher, lower, plain};
use crate::json_document::{list, number, reading};
use kubebench_format::spec::v1::metric::{Caution, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "google-benchmark",
    reads: "the JSON of `--benchmark_out_format=json` or `--benchmark_format=json`",
    source: "https://github.com/google/benchmark/blob/main/src/json_reporter.cc",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("benchmarks").is_some(), read }),
    versions: "1.7, and reports of before 1.5",
    metrics: || FRACTIONS.iter().chain(&SPREADS[..3]).chain(&METRICS).collect(),
    labels: &[],
    example: "{name: google-benchmark, file: benchmark.json, metrics: [BM_Sort/1024.real_time]}",
    attempts: None,
    cautions: &[Caution::DebugBuild, Caution::FrequencyScaling, Caution::AddressRandomization],
    renamed: None,
};

/// One repetition is its own median.
const REPETITIONS: &[Headline] = &[Headline::of("", Reduce::Median)];

/// Of a run, of each of its repetitions, of their mean and of their median.
static METRICS: [ToolMetric; 5] = [
    lower("{benchmark}.{real_time|cpu_time}", "", "time of an iteration").in_unit_of_output().of(REPETITIONS),
    lower("{benchmark}.{real_coefficient|cpu_coefficient}", "", "coefficient of the complexity, in time")
        .in_unit_of_output()
        .of(REPETITIONS),
    higher("{benchmark}.items_per_second", "items/s", "items a second").of(REPETITIONS),
    higher("{benchmark}.bytes_per_second", "B/s", "bytes a second").of(REPETITIONS),
    plain("{benchmark}.{counter}", "1", "a counter of the benchmark").of(REPETITIONS),
];
/// Of the standard deviation of the repetitions, and other aggregates that say how they spread.
static SPREADS: [ToolMetric; 4] = [
    plain("{benchmark}_{aggregate}.{real_time|cpu_time}", "", "how far the times of repetitions spread")
        .in_unit_of_output()
        .of(REPETITIONS),
    plain("{benchmark}_{aggregate}.items_per_second", "items/s", "how far the rates spread").of(REPETITIONS),
    plain("{benchmark}_{aggregate}.bytes_per_second", "B/s", "how far the rates spread").of(REPETITIONS),
    plain("{benchmark}.{counter}", "1", "how far a counter spreads").of(REPETITIONS),
];
/// Of the coefficient of variation, and of aggregates in percent.
static FRACTIONS: [ToolMetric; 1] =
    [plain("{benchmark}_{aggregate}.{value}", "1", "a spread as a share of the mean").of(REPETITIONS)];

/// Numbers of a row that say how it was measured.
const SETTINGS: [&str; 6] =
    ["family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations"];

/// Numbers that every version reports.
const KNOWN: [&str; 6] =
    ["real_time", "cpu_time", "real_coefficient", "cpu_coefficient", "items_per_second", "bytes_per_second"];

fn read(root: &Value, report: &mut Report) {
    let context = |key| root.get("context").and_then(|context| context.get(key));
    if context("library_build_type").and_then(Value::as_str) == Some("debug") {
        report.caution(Caution::DebugBuild, "its library is a debug build (`library_build_type`)");
    }
    if context("cpu_scaling_enabled").and_then(Value::as_bool) == Some(true) {
        report.caution(Caution::FrequencyScaling, "the frequency of the CPU is scaled (`cpu_scaling_enabled`)");
    }
    if context("aslr_enabled").and_then(Value::as_bool) == Some(true) {
        report.caution(Caution::AddressRandomization, "addresses are random (`aslr_enabled`)");
    }
    let rows = list(root, "benchmarks");
    for row in rows {
        push_row(row, report);
    }
    if rows.is_empty() {
        report.invalid("the report holds no benchmark");
    }
}

fn push_row(row: &Value, report: &mut Report) {
    let text = |key| row.get(key).and_then(Value::as_str);
    let flag = |key| row.get(key).and_then(Value::as_bool) == Some(true);
    let Some(name) = text("name") else { return };
    if flag("error_occurred") {
        let why = text("error_message").unwrap_or("it gives no reason");
        return report.invalid(format!("benchmark `{name}` failed: {why}"));
    }
    if flag("skipped") {
        return;
    }
    let aggregate = text("aggregate_name").filter(|_| text("run_type") == Some("aggregate"));
    let is_fraction = aggregate == Some("cv") || text("aggregate_unit") == Some("percentage");
    let is_value = |key: &str, value: &Value| {
        let is_known = KNOWN.contains(&key) && !value.is_null();
        !SETTINGS.contains(&key) && (is_known || value.is_null() || number(value).is_some())
    };
    for (key, value) in row.as_object().into_iter().flatten().filter(|(key, value)| is_value(key, value)) {
        let (key, value) = (key.as_str(), reading(value));
        let time_unit = text("time_unit").unwrap_or("ns");
        let (metrics, unit): (&'static [ToolMetric], &str) = match (is_fraction, aggregate) {
            (true, _) => (&FRACTIONS, "1"),
            (false, None | Some("mean" | "median")) => (&METRICS, time_unit),
            (false, Some(_)) => (&SPREADS, time_unit),
        };
        report.push_found(metrics, &format!("{name}.{key}"), unit, &BTreeMap::new(), value);
    }
}
