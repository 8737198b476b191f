//! Google Benchmark's JSON.
//!
//! With repetitions there is a row for each (`BM_Sort/1024`), and there are rows for what they amount to
//! (`BM_Sort/1024_mean`). The former are the samples of one metric, the latter are metrics of their own and never mixed in.
//! Times are in the row's `time_unit`, but the coefficient of variation is a fraction. A row with an error has zeros for
//! times. Before version 1.5 rows do not say what they are; their names still tell them apart.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Headline, ONE, Report, Tool};
use crate::json_document::{list, number, reading};
use kubebench_format::spec::v1::metric::{Better, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "google-benchmark",
    reads: "the JSON of `--benchmark_out_format=json` or `--benchmark_format=json`",
    source: "https://github.com/google/benchmark/blob/main/src/json_reporter.cc",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("benchmarks").is_some(), read }),
    metrics: None,
    renamed: None,
};

/// One repetition is its own median.
const REPETITIONS: &[Headline] = &[Headline::of("", Reduce::Median)];

/// Numbers of a row that say how it was measured.
const SETTINGS: [&str; 6] =
    ["family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations"];

/// Numbers that every version gives.
const KNOWN: [&str; 6] =
    ["real_time", "cpu_time", "real_coefficient", "cpu_coefficient", "items_per_second", "bytes_per_second"];

fn read(root: &Value, report: &mut Report) {
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
        let (unit, better) = match key {
            "real_time" | "cpu_time" | "real_coefficient" | "cpu_coefficient" => {
                (text("time_unit").unwrap_or("ns"), Some(Better::Lower))
            }
            "items_per_second" => ("items/s", Some(Better::Higher)),
            "bytes_per_second" => ("B/s", Some(Better::Higher)),
            _ => ("1", None),
        };
        let unit = if is_fraction { "1" } else { unit };
        let better = better.filter(|_| matches!(aggregate, None | Some("mean" | "median")));
        let headlines = if aggregate.is_some() { ONE } else { REPETITIONS };
        report.push_named(&format!("{name}.{key}"), unit, better, &BTreeMap::new(), headlines, value);
    }
}
