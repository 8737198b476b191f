//! The result block of `vllm bench serve` and of SGLang's `bench_serving`, and the JSON that holds the same values.
//!
//! Metrics have the names of the JSON. Of several results in one output the last counts, or each, with the settings that
//! differ as labels.
//!
//! Latencies and throughputs leave out requests that failed: what hurt most would make a server look better.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Line, LineParser, Reading, Report, ToolLabel, ToolMetric, find, higher, label, lower, plain, read_on};
use crate::json_document::{documents_from, number as number_in, reading};
use crate::number;

/// The texts that [`Blocks`] needs to see.
pub(super) const NEEDLES: &[&str] = &[":", "====", "Namespace("];

/// Each with its row of the block in lower case; their names are the keys of the JSON.
static ROWS: [(&str, ToolMetric); 22] = [
    ("successful requests", plain("completed", "1", "requests that succeeded")),
    ("failed requests", lower("failed", "1", "requests that failed")),
    ("benchmark duration (s)", plain("duration", "s", "how long it took")),
    ("total input tokens", plain("total_input_tokens", "tokens", "tokens of prompts")),
    ("total input text tokens", plain("total_input_text_tokens", "tokens", "tokens of the texts of prompts")),
    ("total input vision tokens", plain("total_input_vision_tokens", "tokens", "tokens of the images of prompts")),
    ("total generated tokens", plain("total_output_tokens", "tokens", "tokens of outputs")),
    (
        "total generated tokens (retokenized)",
        plain("total_output_tokens_retokenized", "tokens", "tokens of outputs, counted again"),
    ),
    ("request throughput (req/s)", higher("request_throughput", "requests/s", "requests a second")),
    (
        "request goodput (req/s)",
        higher("request_goodput", "requests/s", "goodput: requests a second that met the SLOs"),
    ),
    ("input token throughput (tok/s)", higher("input_throughput", "tokens/s", "tokens of prompts a second")),
    ("output token throughput (tok/s)", higher("output_throughput", "tokens/s", "tokens of outputs a second")),
    ("total token throughput (tok/s)", higher("total_token_throughput", "tokens/s", "tokens of both a second")),
    (
        "peak output token throughput (tok/s)",
        plain("max_output_tokens_per_s", "tokens/s", "tokens of outputs in the best second"),
    ),
    ("peak concurrent requests", plain("max_concurrent_requests", "1", "most requests at a time")),
    ("concurrency", plain("concurrency", "1", "mean number of requests at a time")),
    ("accept length", plain("accept_length", "tokens", "tokens that speculation got accepted at a time")),
    ("rtfx (inverse real-time factor)", plain("rtfx", "1", "seconds of audio a second")),
    ("acceptance rate (%)", plain("spec_decode_acceptance_rate", "%", "drafted tokens that were accepted")),
    ("acceptance length", plain("spec_decode_acceptance_length", "tokens", "tokens that were accepted at a time")),
    ("drafts", plain("spec_decode_num_drafts", "1", "drafts")),
    ("draft tokens", plain("spec_decode_draft_tokens", "tokens", "tokens that were drafted")),
];
static LATENCIES: [ToolMetric; 4] = [
    lower("{mean|median|min|max|pN}_{ttft|tpot|itl|e2el|e2e_latency}_ms", "ms", LATENCY),
    plain("std_{ttft|tpot|itl|e2el|e2e_latency}_ms", "ms", "its spread"),
    lower("{mean|median|min|max|pN}_latency", "s", "time of an image or a video"),
    plain("std_latency", "s", "its spread"),
];
const LATENCY: &str = "time to the first token, of an output token, between tokens, of a request";

/// The metrics of both tools.
pub(super) fn metrics() -> Vec<&'static ToolMetric> {
    ROWS.iter().map(|(_, metric)| metric).chain(&LATENCIES).collect()
}

/// The requested settings, where `report: each` distinguishes reports.
pub(super) const LABELS: &[ToolLabel] = &[label(
    "{setting}",
    "with `report: each`, what was asked for: `request_rate`, `max_concurrency`, `num_prompts` …",
)];

/// Returns the metric that the JSON calls `key`.
fn metric_of(key: &str) -> Option<&'static ToolMetric> {
    // A version of vLLM wrote the colon into the key.
    let name = match key {
        "total_throughput" => "total_token_throughput",
        key => key.trim_end_matches(':'),
    };
    ROWS.iter().map(|(_, metric)| metric).find(|metric| metric.name == name).or_else(|| find(&LATENCIES, name))
}

/// Row of the block in lower case, and key in JSON, of the requested settings.
const SETTINGS: [(&str, &str); 13] = [
    ("request rate configured (rps)", "request_rate"),
    ("traffic request rate", "request_rate"),
    ("maximum request concurrency", "max_concurrency"),
    ("max request concurrency", "max_concurrency"),
    ("backend", "backend"),
    ("", "dataset_name"),
    ("", "num_prompts"),
    ("", "model_id"),
    ("", "label"),
    ("", "sharegpt_output_len"),
    ("", "random_input_len"),
    ("", "random_output_len"),
    ("", "burstiness"),
];

/// The keys of every run's JSON, apart from latencies.
const ALWAYS: [&str; 6] =
    ["completed", "duration", "total_input_tokens", "total_output_tokens", "request_throughput", "output_throughput"];

/// Data sets of SGLang whose number of requests is not `num_prompts`.
const OWN_NUMBER: [&str; 2] = ["generated-shared-prefix", "mooncake"];

#[derive(Clone, Debug)]
struct Measured {
    metric: &'static ToolMetric,
    name: String,
    reading: Reading,
}

/// One result.
#[derive(Clone, Debug, Default)]
struct Run {
    rank: Option<u32>,
    settings: BTreeMap<&'static str, String>,
    measured: Vec<Measured>,
    ended: bool,
}

impl Run {
    fn reading(&self, name: &str) -> Option<&Reading> {
        self.measured.iter().find(|measured| measured.name == name).map(|measured| &measured.reading)
    }

    /// Adds the value of the JSON key `key`, if that is a metric.
    fn take(&mut self, key: &str, reading: Reading) {
        if let Some(metric) = metric_of(key) {
            let name = if metric.is_open() { key } else { metric.name };
            self.measured.push(Measured { metric, name: name.to_owned(), reading });
        }
    }

    /// Reads the row of completed requests: `14`, or `14/20`, which includes the number of requested ones.
    fn take_completed(&mut self, line: &Line<'_>, text: &str) {
        let of = text.split_once('/').and_then(|(completed, asked)| {
            let asked = number::parse(asked).ok()?;
            number::parse(completed).ok().filter(|completed| *completed <= asked)?;
            Some((completed, asked))
        });
        if let Some((_, asked)) = of {
            self.settings.insert("num_prompts", asked.to_string());
        }
        let completed = of.map_or(text, |(completed, _)| completed);
        self.take("completed", read_on(line, None, completed));
    }

    /// Reports the result.
    fn push(&self, report: &mut Report) {
        let settings = self.settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        report.begin(self.rank, settings);
        if !self.ended {
            report.invalid("the result block was cut off: it has no closing line of `=`");
        }
        for Measured { metric, name, reading } in &self.measured {
            report.push_named(metric, name, &BTreeMap::new(), reading.clone());
        }
        let completed = self.reading("completed").and_then(|reading| report.count("completed requests", reading));
        let asked = self.settings.get("num_prompts").and_then(|count| count.parse::<f64>().ok());
        let failed = match self.reading("failed") {
            Some(reading) => report.count("failed requests", reading),
            None => asked.zip(completed).map(|(asked, completed)| (asked - completed).max(0.0)),
        };
        if completed == Some(0.0) {
            report.invalid("no request succeeded");
        } else if let Some(failed) = failed {
            report.requests(failed, completed.unwrap_or_default() + failed);
        }
    }
}

/// Reads result blocks out of a log.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// How many requests were requested, from the arguments that each rank prints first.
    asked: BTreeMap<Option<u32>, Option<String>>,
    runs: Vec<Run>,
}

impl LineParser for Blocks {
    fn line(&mut self, line: &Line<'_>, _report: &mut Report) {
        let text = line.text.trim();
        if text.contains(" Serving Benchmark Result ") && text.starts_with('=') {
            let asked = self.asked.get(&line.rank).cloned().flatten();
            let settings = asked.map(|count| ("num_prompts", count)).into_iter().collect();
            self.runs.push(Run { rank: line.rank, settings, ..Run::default() });
            return;
        }
        if let Some((_, arguments)) = text.split_once("Namespace(") {
            self.asked.insert(line.rank, asked_for(arguments));
            return;
        }
        let open = self.runs.iter_mut().rev().find(|run| run.rank == line.rank && !run.ended);
        let Some(run) = open else { return };
        if text.len() >= 20 && text.bytes().all(|byte| byte == b'=') {
            run.ended = true;
            return;
        }
        let Some((label, value)) = line.whole_words().split_once(':') else { return };
        let (label, value) = (label.trim().to_ascii_lowercase(), value.trim());
        if let Some((_, name)) = SETTINGS.iter().find(|(row, _)| *row == label && !row.is_empty()) {
            run.settings.insert(name, value.to_owned());
        } else if label == "successful requests" {
            run.take_completed(line, value);
        } else if let Some((_, metric)) = ROWS.iter().find(|(row, _)| *row == label) {
            run.take(metric.name, read_on(line, None, value));
        } else if let Some(name) = latency(&label) {
            run.take(&name, read_on(line, None, value));
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if self.runs.is_empty() {
            report
                .invalid("there is no block `Serving Benchmark Result` and no JSON of one: the benchmark did not end");
        }
        for run in &self.runs {
            run.push(report);
        }
    }
}

/// Returns how many requests the arguments request: `backend='vllm', num_prompts=1000`. Some data sets have a number of their own.
fn asked_for(arguments: &str) -> Option<String> {
    let mut members = arguments.trim_end_matches(')').split(", ").filter_map(|member| member.split_once('='));
    let has_own = |name: &str| OWN_NUMBER.contains(&name.trim_matches('\''));
    let is_other = members.clone().any(|(name, value)| name == "dataset_name" && has_own(value));
    let (_, count) = members.find(|(name, _)| *name == "num_prompts").filter(|_| !is_other)?;
    number::parse(count).ok().map(|count| count.to_string())
}

/// Returns the key of a row such as `p99 ttft (ms)`, `mean e2e latency (ms)` or `latency mean (s)`.
fn latency(label: &str) -> Option<String> {
    if let Some(statistic) = label.strip_prefix("latency ").and_then(|rest| rest.strip_suffix(" (s)")) {
        // Of images and videos.
        return Some(format!("{statistic}_latency"));
    }
    Some(format!("{}_ms", label.strip_suffix(" (ms)")?.replace(' ', "_")))
}

/// Reads the JSON of one or more results, in a row or one a line.
pub(super) fn read_json(text: &str, report: &mut Report) {
    let found = documents_from(text, report.first_line());
    let runs: Vec<Run> = found.values.iter().map(run_of).collect();
    if runs.iter().all(|run| run.measured.is_empty()) {
        return read_log(text, report);
    }
    for run in &runs {
        run.push(report);
    }
    if let Some(flaw) = &found.flaw {
        report.invalid(flaw.as_str());
    }
}

/// Reads a log whose first line happens to be JSON.
fn read_log(text: &str, report: &mut Report) {
    let mut blocks = Blocks::default();
    for (line, number) in text.lines().zip(1..) {
        blocks.line(&Line::new(number, line), report);
    }
    blocks.finish(report);
}

fn run_of(document: &Value) -> Run {
    let mut run = Run { ended: true, ..Run::default() };
    for (_, key) in SETTINGS {
        match document.get(key) {
            Some(Value::String(text)) => run.settings.insert(key, text.clone()),
            Some(Value::Null) | None => None,
            Some(other) => {
                run.settings.insert(key, number_in(other).map_or_else(|| other.to_string(), |n| n.to_string()))
            }
        };
    }
    for (key, value) in document.as_object().into_iter().flatten() {
        // What was not requested is null: a goodput without goals. What is always measured is then a value that is not finite.
        if !value.is_null() || ALWAYS.contains(&key.as_str()) || find(&LATENCIES, key).is_some() {
            run.take(key, reading(value));
        }
    }
    run
}
