//! The custom JSON of github-action-benchmark: a list of named values with units.
//!
//! Which way is better is not in the file: it is the same form for `customBiggerIsBetter` and `customSmallerIsBetter`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Report, Tool, ToolMetric, plain};
use crate::json_document::reading;

pub(super) const TOOL: Tool = Tool {
    name: "github-action-custom",
    reads: "the list of `{name, unit, value}` of `customBiggerIsBetter` and `customSmallerIsBetter`",
    source: "https://github.com/benchmark-action/github-action-benchmark#examples",
    lines: None,
    document: Some(Document::Text(read)),
    versions: "the format, which has no versions",
    metrics: || vec![&METRIC],
    labels: &[],
    example: "{name: github-action-custom, file: benchmarks.json}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

static METRIC: ToolMetric = plain("{name}", "", "a value of the list").in_unit_of_output();

fn read(text: &str, report: &mut Report) {
    let root = report.document(text, Value::is_array);
    for benchmark in root.as_array().into_iter().flatten() {
        let text = |key| benchmark.get(key).and_then(Value::as_str);
        let Some(name) = text("name") else {
            report.invalid("a benchmark has no `name`");
            continue;
        };
        report.begin_result(&format!("`{name}`"));
        let value = reading(benchmark.get("value").unwrap_or(&Value::Null));
        if value.value().is_none() {
            report.invalid(format!("`{name}` has no number as its `value`"));
        }
        report.push_in(&METRIC, name, text("unit").unwrap_or("1"), &BTreeMap::new(), value);
    }
    if !root.is_array() {
        report.invalid("the document is not a list of benchmarks");
    }
}
