//! Bencher Metric Format: benchmarks, in them measures, in them values.
//!
//! The file has no units: those of Bencher's built-in measures are known, every other measure is a pure number here.
//! `lower_value` and `upper_value` are bounds that need not lie around the value; they are no metrics.

use serde_json::Value;

use super::{Document, Report, Tool};
use crate::json_document::reading;
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "bmf",
    reads: "JSON in Bencher Metric Format",
    source: "https://bencher.dev/docs/reference/bencher-metric-format/",
    lines: None,
    document: Some(Document::Text(read)),
    metrics: None,
    renamed: None,
};

fn read(text: &str, report: &mut Report) {
    let found = report.documents(text);
    for document in &found.values {
        for (benchmark, measures) in document.as_object().into_iter().flatten() {
            for (measure, metric) in measures.as_object().into_iter().flatten() {
                let name = format!("{benchmark}.{measure}");
                let (unit, better) = built_in(measure);
                let value = reading(metric.get("value").unwrap_or(&Value::Null));
                if value.value().is_none() {
                    report.invalid(format!("`{name}` has no number as its `value`"));
                }
                report.push_one(&name, unit, better, value);
            }
        }
    }
}

fn built_in(measure: &str) -> (&'static str, Option<Better>) {
    match measure {
        "latency" => ("ns", Some(Better::Lower)),
        "throughput" => ("ops/s", Some(Better::Higher)),
        "build-time" => ("s", Some(Better::Lower)),
        "file-size" => ("B", Some(Better::Lower)),
        _ => ("1", None),
    }
}
