//! inference-perf: `summary_lifecycle_metrics.json` and `stage_N_lifecycle_metrics.json`.
//!
//! Latencies are seconds. Only stages have rates that were asked for and reached. What did not happen is null and no metric
//! here. Failed requests are in no latency. A file without any success has nothing that counts.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Reading, Report, Tool, ToolMetric, higher, lower, plain};
use crate::json_document::{measured, reading, readings};

pub(super) const TOOL: Tool = Tool {
    name: "inference-perf",
    reads: "`summary_lifecycle_metrics.json` or `stage_N_lifecycle_metrics.json`",
    source: "https://github.com/kubernetes-sigs/inference-perf/blob/main/inference_perf/reportgen/base.py",
    lines: None,
    document: Some(Document::Json {
        is_it: |root| root.get("load_summary").is_some() || root.get("successes").is_some(),
        read,
    }),
    versions: "reports of 2025",
    metrics: || METRICS.iter().collect(),
    labels: &[],
    example: "{name: inference-perf, file: summary_lifecycle_metrics.json, metrics: [request_latency_p99]}",
    attempts: Some("requests"),
    cautions: &[],
    renamed: None,
};

static METRICS: &[ToolMetric] = &[
    plain("requested_rate", "requests/s", "the rate that was asked for, of a stage"),
    plain("achieved_rate", "requests/s", "the rate that was sent, of a stage"),
    plain("send_duration", "s", "how long requests were sent, of a stage"),
    plain("schedule_delay_{statistic}", "s", "how much later than planned requests were sent"),
    plain("prompt_len_{statistic}", "tokens", "tokens of prompts"),
    plain("output_len_{statistic}", "tokens", "tokens of outputs"),
    plain("success_count", "1", "requests that succeeded"),
    lower("failure_count", "1", "requests that failed"),
    lower("error_rate", "1", "the share that failed"),
    higher("requests_per_sec", "requests/s", "requests a second"),
    higher("{kind}_tokens_per_sec", "tokens/s", "tokens of a kind a second"),
    lower("{kind}_latency_{location}", "s", "a latency: of requests, between tokens"),
    lower("time_to_first_token_{location}", "s", "time to the first token"),
    lower("time_per_output_token_{location}", "s", "time per output token"),
    lower("normalized_time_per_output_token_{location}", "s", "time of a request over its output tokens"),
    plain("{metric}_{statistic}", "s", "any other latency, or a spread"),
    plain("{metric}", "requests/s", "any other rate"),
];

fn read(root: &Value, report: &mut Report) {
    for key in ["requested_rate", "achieved_rate", "send_duration"] {
        // Only stages have them.
        if let Some(value) = root.pointer(&format!("/load_summary/{key}")).filter(|value| !value.is_null()) {
            push(key, reading(value), report);
        }
    }
    push_distribution("schedule_delay", root.pointer("/load_summary/schedule_delay"), report);
    for (name, latency) in root.pointer("/successes/latency").and_then(Value::as_object).into_iter().flatten() {
        push_distribution(name, Some(latency), report);
    }
    for (name, value) in root.pointer("/successes/throughput").into_iter().flat_map(readings) {
        push(name, value, report);
    }
    for name in ["prompt_len", "output_len"] {
        push_distribution(name, root.pointer(&format!("/successes/{name}")), report);
    }
    push_counts(root, report);
}

fn push(name: &str, value: impl Into<Reading>, report: &mut Report) {
    report.push_found(METRICS, name, "1", &BTreeMap::new(), value);
}

fn push_distribution(name: &str, statistics: Option<&Value>, report: &mut Report) {
    for (statistic, value) in statistics.into_iter().flat_map(measured) {
        push(&format!("{name}_{statistic}"), value, report);
    }
}

fn push_counts(root: &Value, report: &mut Report) {
    let mut count = |part: &str| report.count(part, &reading(root.pointer(&format!("/{part}/count"))?));
    let (successes, failures) = (count("successes"), count("failures"));
    if let Some(successes) = successes {
        push("success_count", successes, report);
    }
    if let Some(failures) = failures {
        push("failure_count", failures, report);
    }
    if let (Some(successes), Some(failures)) = (successes, failures)
        && successes + failures > 0.0
    {
        push("error_rate", failures / (successes + failures), report);
        if successes > 0.0 {
            report.requests(failures, successes + failures);
        }
    }
    match successes {
        Some(successes) if successes > 0.0 => {}
        Some(_) => report.invalid("no request succeeded"),
        None => report.invalid("the report does not say how many requests succeeded"),
    }
}
