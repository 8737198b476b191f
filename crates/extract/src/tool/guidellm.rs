//! GuideLLM: `benchmarks.json`, with a benchmark for every way in which it put load on the server.
//!
//! The strategy is a label, and so is what was asked of it: a rate, or how many streams. A sweep measures the server alone and
//! at its limit, and then takes rates between the two, which differ from run to run: there the label `sweep` says which of
//! them it is, such as `3/8`. The rate itself is the metric `rate`. Only what is under `successful` counts; the zeros under `errored` of a run without errors are none. `request_latency` is in seconds, what
//! is called `…_ms` in milliseconds. Throughputs are weighted by time: take their mean, not their median.

use std::collections::BTreeMap;

use serde_json::Value;

use super::renamed::{Old, Renamed};
use super::{Document, Reading, Report, Tool, ToolMetric, higher, label, lower, plain};
use crate::json_document::{holds_secret, list, number, reading};

pub(super) const TOOL: Tool = Tool {
    name: "guidellm",
    reads: "`benchmarks.json`",
    source: "https://github.com/vllm-project/guidellm/blob/main/src/guidellm/benchmark/schemas",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("benchmarks").is_some(), read }),
    versions: "reports of version 2 (0.5 and later), and older ones",
    metrics: || METRICS.iter().collect(),
    labels: &[
        label("strategy", "`synchronous`, `throughput`, `constant`, `poisson` or `concurrent`"),
        label("rate", "the rate that was asked for"),
        label("streams", "how many requests at a time were asked for"),
        label("sweep", "which of the rates of a sweep, such as `3/8`"),
    ],
    example: "{name: guidellm, file: benchmarks.json, metrics: [request_latency_p99]}",
    attempts: Some("requests"),
    cautions: &[],
    renamed: Some(renamed),
};

/// Profiles that take rates from what they measured before.
const SEARCHES: [&str; 3] = ["sweep", "goodput", "knee"];

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
    for (benchmark, labels) in benchmarks.iter().zip(labels_of(benchmarks)) {
        push_benchmark(benchmark, &labels, report);
    }
}

/// Where the rates of a report are from.
enum Rates {
    /// They were requested.
    Asked,
    /// A search derived them from what it had measured: this many, if it says.
    Searched(Option<f64>),
}

/// How a benchmark put load on the server.
struct Strategy<'a> {
    kind: Option<&'a str>,
    rate: Option<f64>,
    streams: Option<f64>,
    /// Where its rate is from.
    rates: Rates,
}

impl<'a> Strategy<'a> {
    fn of(benchmark: &'a Value) -> Self {
        let at = |places: &[&str]| places.iter().find_map(|place| benchmark.pointer(place));
        let strategy = at(&["/config/strategy", "/args/strategy", "/scheduler/strategy"]);
        let parameter = |key| strategy?.get(key).and_then(number);
        let profile = at(&["/config/profile", "/args/profile"]);
        let of_profile = |key: &str| profile.and_then(|profile| profile.get(key));
        let profile_kind = of_profile("kind").or_else(|| of_profile("type_")).and_then(Value::as_str);
        let is_search = profile_kind.is_some_and(|kind| SEARCHES.contains(&kind));
        // Two of a sweep are without a rate: one request at a time, and as many as the server takes.
        let rates = of_profile("sweep_size").and_then(number).map(|size| size - 2.0);
        Self {
            kind: strategy.and_then(|strategy| strategy.get("type_")).and_then(Value::as_str),
            rate: parameter("rate"),
            streams: parameter("streams"),
            rates: if is_search { Rates::Searched(rates) } else { Rates::Asked },
        }
    }

    /// Returns the prefix that version 0.1 put before the names of metrics.
    fn prefix(&self) -> String {
        let kind = self.kind.unwrap_or("benchmark");
        match (self.rate, self.streams) {
            (Some(rate), _) => format!("rate{rate}"),
            (None, Some(streams)) => format!("{kind}{streams}"),
            (None, None) => kind.to_owned(),
        }
    }
}

/// Returns the labels that distinguish the benchmarks.
fn labels_of(benchmarks: &[Value]) -> Vec<BTreeMap<String, String>> {
    let mut searched = 0;
    let of_one = |benchmark: &Value| {
        let strategy = Strategy::of(benchmark);
        let mut labels = BTreeMap::new();
        let mut label = |name: &str, value: Option<String>| {
            labels.extend(value.map(|value| (name.to_owned(), value)));
        };
        label("strategy", strategy.kind.map(str::to_owned));
        label("streams", strategy.streams.map(|streams| streams.to_string()));
        match (strategy.rate, strategy.rates) {
            (Some(_), Rates::Searched(all)) => {
                searched += 1;
                let of = all.map_or_else(String::new, |all| format!("/{all}"));
                label("sweep", Some(format!("{searched}{of}")));
            }
            (rate, _) => label("rate", rate.map(|rate| rate.to_string())),
        }
        labels
    };
    benchmarks.iter().map(of_one).collect()
}

/// Version 0.1 put strategy and rate into the name, and distinguished equal ones by their place.
fn renamed(old: &Old<'_>) -> Option<Renamed> {
    if old.labels.contains_key("strategy") {
        return None;
    }
    let benchmarks = old.document.map(|root| list(root, "benchmarks")).unwrap_or_default();
    let place: Option<usize> = old.labels.get("benchmark").and_then(|place| place.parse().ok());
    let found = benchmarks.iter().zip(labels_of(benchmarks)).enumerate().find_map(|(index, (benchmark, labels))| {
        let name = old.name.strip_prefix(&Strategy::of(benchmark).prefix())?.strip_prefix('.')?;
        place.is_none_or(|place| place == index).then(|| Renamed::To { name: name.to_owned(), labels })
    });
    found.or_else(|| {
        let (prefix, name) = old.name.rsplit_once('.')?;
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let labels = match (prefix, prefix.strip_prefix("concurrent")) {
            ("synchronous" | "throughput", _) => [label("strategy", prefix)].into(),
            (_, Some(streams)) => [label("strategy", "concurrent"), label("streams", streams)].into(),
            // From a sweep, or requested.
            _ => return Some(Renamed::Unknown { name: name.to_owned(), labels: &["strategy", "rate", "sweep"] }),
        };
        Some(Renamed::To { name: name.to_owned(), labels })
    })
}

fn push_benchmark(benchmark: &Value, labels: &BTreeMap<String, String>, report: &mut Report) {
    let said: Vec<String> = labels.iter().map(|(name, value)| format!("{name} `{value}`")).collect();
    let subject = if said.is_empty() { "an unknown strategy".to_owned() } else { said.join(" and ") };
    report.begin_result(&subject);
    let mut push = |name: &str, value: Reading| report.push_found(METRICS, name, "1", labels, value);
    if let Some(rate) = Strategy::of(benchmark).rate {
        push("rate", rate.into());
    }
    let totals = benchmark.pointer("/metrics/request_totals");
    let total = |key: &str| Some(reading(totals?.get(key)?));
    for key in ["successful", "errored", "incomplete"] {
        if let Some(value) = total(key) {
            push(&format!("requests_{key}"), value);
        }
    }
    for (name, metric) in benchmark.get("metrics").and_then(Value::as_object).into_iter().flatten() {
        let Some(successful) = metric.get("successful").filter(|part| part.get("count").and_then(number) != Some(0.0))
        else {
            continue;
        };
        for (statistic, pointer) in STATISTICS {
            if let Some(value) = successful.pointer(pointer) {
                push(&format!("{name}_{statistic}"), reading(value));
            }
        }
    }
    let mut count = |key: &str| report.count(&format!("`{key}` of {subject}"), &total(key)?);
    let (successful, errored, incomplete) = (count("successful"), count("errored"), count("incomplete"));
    if successful == Some(0.0) {
        report.invalid(format!("no request of {subject} succeeded"));
    } else if let Some(successful) = successful {
        let failed = errored.unwrap_or_default() + incomplete.unwrap_or_default();
        report.requests(failed, successful + failed);
    }
}

static METRICS: &[ToolMetric] = &[
    plain("rate", "requests/s", "the rate that was asked for; in a sweep, one between its limits"),
    plain("requests_successful", "1", "requests that succeeded"),
    lower("requests_errored", "1", "requests that failed"),
    lower("requests_incomplete", "1", "requests without an answer at the end"),
    higher("requests_per_second_{location}", "requests/s", "requests a second"),
    plain("requests_per_second_std_dev", "requests/s", "their spread"),
    lower("request_latency_{location}", "s", "time of a request"),
    plain("request_latency_std_dev", "s", "its spread"),
    lower("time_to_first_{event}_ms_{location}", "ms", "time to the first token"),
    lower("time_per_output_token_ms_{location}", "ms", "time per output token"),
    lower("inter_token_latency_ms_{location}", "ms", "time between two tokens"),
    plain("{metric}_ms_{statistic}", "ms", "any other time, or a spread"),
    higher("tokens_per_second_{location}", "tokens/s", "tokens a second"),
    higher("{kind}_tokens_per_second_{location}", "tokens/s", "tokens of a kind a second"),
    plain("tokens_per_second_std_dev", "tokens/s", "their spread"),
    plain("{kind}_tokens_per_second_std_dev", "tokens/s", "their spread"),
    plain("{kind}_tokens_per_iteration_{statistic}", "tokens/iteration", "tokens of an iteration"),
    plain("{kind}_token_count_{statistic}", "tokens", "tokens of a request"),
    plain("{metric}_{statistic}", "1", "any other metric, such as `request_concurrency`"),
];
