//! GuideLLM: `benchmarks.json`, with a benchmark for every rate.
//!
//! A rate is a parameter: names begin with it (`rate2.`, `concurrent8.`, `throughput.`). Only what stands under
//! `successful` counts; the zeros under `errored` of a run without errors are none. `request_latency` is in seconds, what
//! is called `…_ms` in milliseconds. Throughputs are weighted by time: take their mean, not their median.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, ONE, Report, Tool, direction};
use crate::json_document::{holds_secret, list, number, reading};
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "guidellm",
    reads: "`benchmarks.json`",
    source: "https://github.com/vllm-project/guidellm/blob/main/src/guidellm/benchmark/schemas",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("benchmarks").is_some(), read }),
    metrics: None,
};

const STATISTICS: [(&str, &str); 10] = [
    ("mean", "/mean"),
    ("median", "/median"),
    ("std_dev", "/std_dev"),
    ("min", "/min"),
    ("max", "/max"),
    ("p50", "/percentiles/p50"),
    ("p90", "/percentiles/p90"),
    ("p95", "/percentiles/p95"),
    ("p99", "/percentiles/p99"),
    ("p999", "/percentiles/p999"),
];

fn read(root: &Value, report: &mut Report) {
    if holds_secret(root) {
        report.withhold_document();
    }
    let benchmarks = list(root, "benchmarks");
    if benchmarks.is_empty() {
        report.invalid("the report holds no benchmark");
    }
    let strategies: Vec<String> = benchmarks.iter().map(strategy).collect();
    for (index, (benchmark, strategy)) in benchmarks.iter().zip(&strategies).enumerate() {
        // The same rate twice: the place in the file tells the two apart.
        let is_repeated = strategies.iter().filter(|other| *other == strategy).count() > 1;
        let labels = is_repeated.then(|| ("benchmark".to_owned(), index.to_string())).into_iter().collect();
        push_benchmark(benchmark, strategy, &labels, report);
    }
}

/// Returns the name of the way in which a benchmark put load on the server.
fn strategy(benchmark: &Value) -> String {
    let places = ["/config/strategy", "/args/strategy", "/scheduler/strategy"];
    let Some(strategy) = places.iter().find_map(|place| benchmark.pointer(place)) else {
        return "benchmark".to_owned();
    };
    let kind = strategy.get("type_").and_then(Value::as_str).unwrap_or("benchmark");
    let parameter = |key| strategy.get(key).and_then(number);
    match (parameter("rate"), parameter("streams")) {
        (Some(rate), _) => format!("rate{rate}"),
        (None, Some(streams)) => format!("{kind}{streams}"),
        (None, None) => kind.to_owned(),
    }
}

fn push_benchmark(benchmark: &Value, strategy: &str, labels: &BTreeMap<String, String>, report: &mut Report) {
    let mut push = |name: &str, unit: &str, better, value| {
        report.push_named(&format!("{strategy}.{name}"), unit, better, labels, ONE, value);
    };
    let totals = benchmark.pointer("/metrics/request_totals");
    let total = |key: &str| Some(reading(totals?.get(key)?));
    for (key, better) in [("successful", None), ("errored", Some(Better::Lower)), ("incomplete", Some(Better::Lower))] {
        if let Some(value) = total(key) {
            push(&format!("requests_{key}"), "1", better, value);
        }
    }
    for (name, metric) in benchmark.get("metrics").and_then(Value::as_object).into_iter().flatten() {
        let Some(successful) = metric.get("successful").filter(|part| part.get("count").and_then(number) != Some(0.0))
        else {
            continue;
        };
        for (statistic, pointer) in STATISTICS {
            if let Some(value) = successful.pointer(pointer) {
                let better = direction::of_statistic(name, statistic);
                push(&format!("{name}_{statistic}"), unit_of(name), better, reading(value));
            }
        }
    }
    let mut count = |key: &str| report.count(&format!("`{key}` of `{strategy}`"), &total(key)?);
    let (successful, errored, incomplete) = (count("successful"), count("errored"), count("incomplete"));
    if successful == Some(0.0) {
        report.invalid(format!("no request of benchmark `{strategy}` succeeded"));
    } else if let Some(successful) = successful {
        let failed = errored.unwrap_or_default() + incomplete.unwrap_or_default();
        report.requests(failed, successful + failed);
    }
}

fn unit_of(name: &str) -> &'static str {
    match name {
        "requests_per_second" => "requests/s",
        "request_latency" => "s",
        _ if name.ends_with("_ms") => "ms",
        _ if name.ends_with("tokens_per_second") => "tokens/s",
        _ if name.ends_with("tokens_per_iteration") => "tokens/iteration",
        _ if name.ends_with("token_count") => "tokens",
        _ => "1",
    }
}
