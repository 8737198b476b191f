//! Bencher Metric Format: benchmarks, in them measures, in them values.
//!
//! The file has no units: those of Bencher's built-in measures are known, every other measure is a pure number here.
//! `lower_value` and `upper_value` are bounds that need not enclose the value; they are not metrics.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Report, Tool, ToolMetric, higher, lower, plain};
use crate::json_document::reading;

pub(super) const TOOL: Tool = Tool {
    name: "bmf",
    reads: "JSON in Bencher Metric Format",
    source: "https://bencher.dev/docs/reference/bencher-metric-format/",
    lines: None,
    document: Some(Document::Text(read)),
    versions: "the format, which has no versions",
    metrics: || METRICS.iter().collect(),
    labels: &[],
    example: "{name: bmf, file: bmf.json, metrics: [sort.latency]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

fn read(text: &str, report: &mut Report) {
    let found = report.documents(text);
    for document in &found.values {
        for (benchmark, measures) in document.as_object().into_iter().flatten() {
            for (measure, metric) in measures.as_object().into_iter().flatten() {
                let name = format!("{benchmark}.{measure}");
                let value = reading(metric.get("value").unwrap_or(&Value::Null));
                if value.value().is_none() {
                    report.invalid(format!("`{name}` has no number as its `value`"));
                }
                report.push_found(METRICS, &name, "1", &BTreeMap::new(), value);
            }
        }
    }
}

static METRICS: &[ToolMetric] = &[
    lower("{benchmark}.latency", "ns", "Bencher's measure of latency"),
    higher("{benchmark}.throughput", "ops/s", "Bencher's measure of throughput"),
    lower("{benchmark}.build-time", "s", "Bencher's measure of build time"),
    lower("{benchmark}.file-size", "B", "Bencher's measure of file size"),
    plain("{benchmark}.{measure}", "1", "any other measure, whose unit the file does not say"),
];
