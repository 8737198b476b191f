//! AIPerf and GenAI-Perf: `profile_export_aiperf.json`, `…_genai_perf.json`.
//!
//! Every metric is an object with its unit. One with `avg` alone is a single number and has the metric's name; others have
//! a name for each statistic. `error_request_count` is absent when no request failed, and then it is what `error_summary` adds up
//! to; a run that was cancelled, or in which no request succeeded, does not count.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Report, Tool, ToolMetric, higher, lower, plain};
use crate::json_document::{holds_secret, reading, readings};

pub(super) const TOOL: Tool = Tool {
    name: "aiperf",
    reads: "`profile_export_aiperf.json`, also GenAI-Perf's `profile_export_genai_perf.json`",
    source: "https://github.com/ai-dynamo/aiperf/blob/main/src/aiperf/exporters/metrics_json_exporter.py",
    lines: None,
    document: Some(Document::Json {
        is_it: |root| root.as_object().into_iter().flatten().any(|member| metric(member).is_some()),
        read,
    }),
    versions: "AIPerf 0.13",
    metrics: || METRICS.iter().collect(),
    labels: &[],
    example: "{name: aiperf, file: profile_export_aiperf.json, metrics: [request_latency_p99]}",
    attempts: Some("requests"),
    cautions: &[],
    renamed: None,
};

/// The metric that AIPerf leaves out where no request failed.
const FAILED: &str = "error_request_count";

static METRICS: &[ToolMetric] = &[
    lower("{kind}_latency_{location}", "", "a latency: of requests, between tokens").in_unit_of_output(),
    lower("time_to_{event}_{location}", "", "time to the first token, or to another event").in_unit_of_output(),
    higher("{kind}_throughput", "", "requests or tokens a second").in_unit_of_output(),
    higher("{kind}_throughput_{location}", "", "requests or tokens a second").in_unit_of_output(),
    higher("{kind}_throughput_per_user_{location}", "", "tokens a second of one user").in_unit_of_output(),
    higher("{kind}goodput", "", "goodput: requests a second that met the SLOs").in_unit_of_output(),
    lower("{kind}_error_rate", "", "the share that failed").in_unit_of_output(),
    plain("{metric}_{statistic}", "", "any other metric that has statistics").in_unit_of_output(),
    plain("{metric}", "", "any other metric with one value").in_unit_of_output(),
];

fn read(root: &Value, report: &mut Report) {
    if holds_secret(root) {
        report.withhold_document();
    }
    let metrics: Vec<_> = root.as_object().into_iter().flatten().filter_map(metric).collect();
    for (name, unit, metric) in &metrics {
        let unit = unit_as_rate(unit);
        let statistics = || readings(metric).filter(|(statistic, _)| *statistic != "unit");
        let is_single = statistics().count() == 1 && metric.get("avg").is_some();
        for (statistic, value) in statistics().filter(|(statistic, _)| !matches!(*statistic, "count" | "sum")) {
            let name = if is_single { (*name).to_owned() } else { format!("{name}_{statistic}") };
            report.push_found(METRICS, &name, &unit, &BTreeMap::new(), value);
        }
    }
    let says = |key: &str, wanted: bool| root.get(key).and_then(Value::as_bool) == Some(wanted);
    let is_cancelled = says("was_cancelled", true);
    let is_complete = !is_cancelled && !says("is_complete", false);
    if is_cancelled {
        report.invalid("the run was cancelled");
    } else if !is_complete {
        report.invalid("the run did not complete");
    }
    let mut count = |what: &str| report.count(what, &reading(root.pointer(&format!("/{what}/avg"))?));
    let (served, mut failed) = (count("request_count"), count(FAILED));
    if root.get(FAILED).is_none() {
        failed = summed(root, report);
        if let Some(failed) = failed.filter(|_| is_complete) {
            report.push_found(METRICS, FAILED, "requests", &BTreeMap::new(), failed);
        }
    }
    if metrics.is_empty() || served == Some(0.0) {
        report.invalid("no request succeeded");
    } else {
        let failed = failed.unwrap_or_default();
        report.requests(failed, served.unwrap_or_default() + failed);
    }
}

/// Returns how many requests failed according to the summary of their errors, if there is one.
fn summed(root: &Value, report: &mut Report) -> Option<f64> {
    let errors = root.get("error_summary")?.as_array()?;
    let mut count = |error: &Value| {
        report.count("`count` of `error_summary`", &reading(error.get("count").unwrap_or(&Value::Null)))
    };
    errors.iter().map(&mut count).sum()
}

fn metric<'a>((name, value): (&'a String, &'a Value)) -> Option<(&'a str, &'a str, &'a Value)> {
    Some((name.as_str(), value.get("unit")?.as_str()?, value))
}

/// `tokens/sec/user` is `tokens/s/user`.
fn unit_as_rate(unit: &str) -> String {
    let parts = unit.split('/').map(|part| match part {
        "sec" | "seconds" => "s",
        "count" | "ratio" => "1",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}
