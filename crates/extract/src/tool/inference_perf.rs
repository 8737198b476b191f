//! inference-perf: `summary_lifecycle_metrics.json` and `stage_N_lifecycle_metrics.json`.
//!
//! Latencies are seconds. Only stages have rates that were asked for and reached. What did not happen is null and no metric
//! here. Failed requests are in no latency. A file without any success has nothing that counts.

use serde_json::Value;

use super::{Document, Report, Tool, direction};
use crate::json_document::{given, reading, readings};
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "inference-perf",
    reads: "`summary_lifecycle_metrics.json` or `stage_N_lifecycle_metrics.json`",
    source: "https://github.com/kubernetes-sigs/inference-perf/blob/main/inference_perf/reportgen/base.py",
    lines: None,
    document: Some(Document::Json {
        is_it: |root| root.get("load_summary").is_some() || root.get("successes").is_some(),
        read,
    }),
    metrics: None,
    renamed: None,
};

fn read(root: &Value, report: &mut Report) {
    for (key, unit) in [("requested_rate", "requests/s"), ("achieved_rate", "requests/s"), ("send_duration", "s")] {
        // Only stages have them.
        if let Some(value) = root.pointer(&format!("/load_summary/{key}")).filter(|value| !value.is_null()) {
            report.push_one(key, unit, None, reading(value));
        }
    }
    push_distribution("schedule_delay", "s", root.pointer("/load_summary/schedule_delay"), report);
    for (name, latency) in root.pointer("/successes/latency").and_then(Value::as_object).into_iter().flatten() {
        push_distribution(name, "s", Some(latency), report);
    }
    for (name, value) in root.pointer("/successes/throughput").into_iter().flat_map(readings) {
        let unit = if name.contains("token") { "tokens/s" } else { "requests/s" };
        report.push_one(name, unit, direction::of_name(name), value);
    }
    for name in ["prompt_len", "output_len"] {
        push_distribution(name, "tokens", root.pointer(&format!("/successes/{name}")), report);
    }
    push_counts(root, report);
}

fn push_distribution(name: &str, unit: &str, statistics: Option<&Value>, report: &mut Report) {
    // Without a success every statistic is null.
    for (statistic, value) in statistics.into_iter().flat_map(given) {
        report.push_one(&format!("{name}_{statistic}"), unit, direction::of_statistic(name, statistic), value);
    }
}

fn push_counts(root: &Value, report: &mut Report) {
    let mut count = |part: &str| report.count(part, &reading(root.pointer(&format!("/{part}/count"))?));
    let (successes, failures) = (count("successes"), count("failures"));
    if let Some(successes) = successes {
        report.push_one("success_count", "1", None, successes);
    }
    if let Some(failures) = failures {
        report.push_one("failure_count", "1", Some(Better::Lower), failures);
    }
    if let (Some(successes), Some(failures)) = (successes, failures)
        && successes + failures > 0.0
    {
        report.push_one("error_rate", "1", Some(Better::Lower), failures / (successes + failures));
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
