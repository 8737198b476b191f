//! llm-d's Benchmark Report, versions 0.1 and 0.2, in YAML or JSON.
//!
//! Every statistic carries its units, except for the throughputs of 0.1, whose names say them. The units are taken as
//! declared, even where the numbers look like others (reports of 0.1 exist that say `ms` and hold seconds).

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::{Document, Reading, Report, Tool, ToolMetric, higher, lower, plain};
use crate::json_document::{given, reading, readings};
use crate::number;
use kubebench_syntax::diag::code;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;

pub(super) const TOOL: Tool = Tool {
    name: "llmd-benchmark-report",
    reads: "a Benchmark Report of version 0.1 or 0.2, in YAML or JSON",
    source: "https://github.com/llm-d/llm-d-benchmark/tree/main/llmdbenchmark/analysis/benchmark_report",
    lines: None,
    document: Some(Document::Text(read)),
    versions: "reports of 0.1 and 0.2",
    metrics: || METRICS.iter().collect(),
    labels: &[],
    example: "{name: llmd-benchmark-report, file: report.yaml, metrics: [request_latency_p99]}",
    attempts: Some("requests"),
    cautions: &[],
    renamed: None,
};

static METRICS: &[ToolMetric] = &[
    plain("requests_total", "1", "requests"),
    lower("failures", "1", "requests that failed"),
    plain("incomplete", "1", "requests without an answer at the end"),
    plain("duration", "s", "how long it took"),
    higher("requests_per_sec", "requests/s", "requests a second, in version 0.1"),
    higher("{kind}_tokens_per_sec", "tokens/s", "tokens of a kind a second, in version 0.1"),
    lower("{kind}_latency_{location}", "", "a latency: of requests, between tokens").in_unit_of_output(),
    lower("time_to_first_token_{location}", "", "time to the first token").in_unit_of_output(),
    lower("time_per_output_token_{location}", "", "time per output token").in_unit_of_output(),
    lower("normalized_time_per_output_token_{location}", "", "time of a request over its output tokens")
        .in_unit_of_output(),
    higher("{input|output|total}_token_rate_{location}", "", "tokens a second, in version 0.2").in_unit_of_output(),
    plain("{metric}_{statistic}", "", "any other metric, or a spread").in_unit_of_output(),
    plain("{metric}", "", "any other rate").in_unit_of_output(),
];

fn push(name: &str, unit: &str, value: Reading, report: &mut Report) {
    report.push_found(METRICS, name, unit, &BTreeMap::new(), value);
}

fn read(text: &str, report: &mut Report) {
    let root = if text.trim_start().starts_with('{') {
        report.document(text, |root| root.get("version").is_some())
    } else {
        let source = Source::new("report.yaml", text.as_bytes());
        let read = yaml::read(SourceId(0), &source);
        let Some(node) = &read.root else {
            let why = read.diagnostics.first().map_or("it is empty", |fault| fault.message.as_str());
            return report.invalid(format!("the report is neither YAML nor JSON: {why}"));
        };
        // A repeated key is the end of one report and the beginning of another.
        if let Some(fault) = read.diagnostics.iter().find(|fault| fault.code == &code::KB0105) {
            report.invalid(format!("the report is not one whole document of YAML: {}", fault.message));
        }
        value_of(node)
    };
    // The writer sorts keys: in reports of 0.2 the version comes last.
    if root.get("version").is_none() {
        report.invalid("the report has no `version`: it was truncated, or is not a Benchmark Report");
    }
    let newer = root.pointer("/results/request_performance/aggregate");
    let Some(aggregate) = newer.or_else(|| root.get("metrics")) else {
        return report.invalid("the report holds no aggregate results");
    };
    for (key, name) in [("total", "requests_total"), ("failures", "failures"), ("incomplete", "incomplete")] {
        // A value that a load generator does not count is null.
        if let Some(count) = aggregate.pointer(&format!("/requests/{key}")).filter(|count| !count.is_null()) {
            push(name, "1", reading(count), report);
        }
    }
    let mut count = |key: &str| {
        let count = aggregate.pointer(&format!("/requests/{key}")).filter(|count| !count.is_null())?;
        report.count(&format!("`requests.{key}`"), &reading(count))
    };
    let (total, failures, incomplete) = (count("total"), count("failures"), count("incomplete"));
    if let Some(total) = total {
        report.requests(failures.unwrap_or_default() + incomplete.unwrap_or_default(), total);
    }
    for (part, prefix) in [("latency", ""), ("throughput", ""), ("requests", "requests_")] {
        for (name, statistics) in aggregate.get(part).and_then(Value::as_object).into_iter().flatten() {
            push_statistics(&format!("{prefix}{name}"), statistics, report);
        }
    }
    for (name, value) in aggregate.get("throughput").into_iter().flat_map(readings) {
        let unit = if name.contains("token") { "tokens/s" } else { "requests/s" };
        push(name, unit, value, report);
    }
    if let Some(duration) = aggregate.pointer("/time/duration").filter(|duration| !duration.is_null()) {
        push("duration", "s", reading(duration), report);
    }
}

fn push_statistics(name: &str, statistics: &Value, report: &mut Report) {
    let Some(units) = statistics.get("units").and_then(Value::as_str) else { return };
    // A value that a load generator does not report is null.
    for (statistic, value) in given(statistics).filter(|(statistic, _)| *statistic != "units") {
        push(&format!("{name}_{statistic}"), units, value, report);
    }
}

/// Makes JSON of what was read. Specs may not have `1e-05` or `.nan`, which the reader takes for texts; here they are numbers.
fn value_of(node: &yaml::Node) -> Value {
    match &node.value {
        yaml::Value::Seq(items) => items.iter().map(value_of).collect(),
        yaml::Value::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), value_of(&entry.value))).collect(),
        yaml::Value::String(text) => {
            let bare = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
            let plain = if bare == ".nan" || bare == ".inf" { text.replacen('.', "", 1) } else { text.clone() };
            let number = number::parse(&plain).ok().and_then(Number::from_f64);
            number.map_or(Value::String(plain), Value::Number)
        }
        _ => node.to_json(),
    }
}
