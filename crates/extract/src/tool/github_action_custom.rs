//! The custom JSON of github-action-benchmark: a list of named values with units.
//!
//! Which way is better is not in the file: it is the same form for `customBiggerIsBetter` and `customSmallerIsBetter`.

use serde_json::Value;

use super::{Document, Report, Tool};
use crate::json_document::reading;

pub(super) const TOOL: Tool = Tool {
    name: "github-action-custom",
    reads: "the list of `{name, unit, value}` of `customBiggerIsBetter` and `customSmallerIsBetter`",
    source: "https://github.com/benchmark-action/github-action-benchmark#examples",
    lines: None,
    document: Some(Document::Text(read)),
    metrics: None,
    renamed: None,
};

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
        report.push_one(name, text("unit").unwrap_or("1"), None, value);
    }
    if !root.is_array() {
        report.invalid("the document is no list of benchmarks");
    }
}
