//! The result block of `vllm bench serve` and of SGLang's `bench_serving`, and the JSON that holds the same values.
//!
//! Metrics have the names of the JSON. Settings that differ between several results in one output become labels; without
//! such a difference the results are samples of the same metrics, of which the last counts.
//!
//! Latencies and throughputs leave out requests that failed: what hurt most would make a server look better. A result with
//! a failed or missing request is therefore reported as one that does not count.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Line, LineParser, ONE, Report, Sample, direction};
use crate::json_document::{documents_from, number as number_in, numbers};
use crate::number;
use kubebench_format::spec::v1::metric::Better;

/// The texts that [`Blocks`] needs to see.
pub(super) const NEEDLES: &[&str] = &[":", "===="];

/// Row of the block in lower case, key in JSON, unit.
const METRICS: [(&str, &str, &str); 24] = [
    ("successful requests", "completed", "1"),
    ("failed requests", "failed", "1"),
    ("benchmark duration (s)", "duration", "s"),
    ("total input tokens", "total_input_tokens", "tokens"),
    ("total input text tokens", "total_input_text_tokens", "tokens"),
    ("total input vision tokens", "total_input_vision_tokens", "tokens"),
    ("total generated tokens", "total_output_tokens", "tokens"),
    ("total generated tokens (retokenized)", "total_output_tokens_retokenized", "tokens"),
    ("request throughput (req/s)", "request_throughput", "requests/s"),
    ("request goodput (req/s)", "request_goodput", "requests/s"),
    // A version of vLLM wrote the colon into the key.
    ("", "request_goodput:", "requests/s"),
    ("input token throughput (tok/s)", "input_throughput", "tokens/s"),
    ("output token throughput (tok/s)", "output_throughput", "tokens/s"),
    ("total token throughput (tok/s)", "total_token_throughput", "tokens/s"),
    ("", "total_throughput", "tokens/s"),
    ("peak output token throughput (tok/s)", "max_output_tokens_per_s", "tokens/s"),
    ("peak concurrent requests", "max_concurrent_requests", "1"),
    ("concurrency", "concurrency", "1"),
    ("accept length", "accept_length", "tokens"),
    ("rtfx (inverse real-time factor)", "rtfx", "1"),
    ("acceptance rate (%)", "spec_decode_acceptance_rate", "%"),
    ("acceptance length", "spec_decode_acceptance_length", "tokens"),
    ("drafts", "spec_decode_num_drafts", "1"),
    ("draft tokens", "spec_decode_draft_tokens", "tokens"),
];

/// Row of the block in lower case, and key in JSON, of what was asked for.
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

#[derive(Clone, Debug)]
struct Measured {
    name: String,
    unit: &'static str,
    better: Option<Better>,
    sample: Sample,
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
    fn value(&self, name: &str) -> Option<f64> {
        self.measured.iter().find(|measured| measured.name == name).map(|measured| measured.sample.value)
    }

    fn take(&mut self, name: &str, unit: &'static str, sample: Sample) {
        let name = match name {
            "total_throughput" => "total_token_throughput",
            name => name.trim_end_matches(':'),
        };
        let better = match name {
            "max_output_tokens_per_s" => None,
            "failed" => Some(Better::Lower),
            _ if name.starts_with("std_") => None,
            _ => direction::of_name(name),
        };
        self.measured.push(Measured { name: name.to_owned(), unit, better, sample });
    }

    /// Says why the result does not count, if it does not.
    fn fault(&self) -> Option<String> {
        let completed = self.value("completed");
        let asked = self.settings.get("num_prompts").and_then(|count| count.parse::<f64>().ok());
        let failed = self.value("failed").or_else(|| Some(asked? - completed?));
        if completed == Some(0.0) {
            return Some("no request succeeded".to_owned());
        }
        let failed = failed.filter(|failed| *failed > 0.0)?;
        let all = completed.map_or_else(String::new, |completed| format!(" of {}", completed + failed));
        Some(format!("{failed}{all} requests failed: latencies and throughputs leave them out"))
    }
}

/// Reads result blocks out of a log.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    runs: Vec<Run>,
}

impl LineParser for Blocks {
    fn line(&mut self, line: &Line<'_>, _report: &mut Report) {
        let text = line.text.trim();
        if text.contains(" Serving Benchmark Result ") && text.starts_with('=') {
            self.runs.push(Run { rank: line.rank, ..Run::default() });
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
        } else if let Ok(value) = number::parse(value) {
            let sample = Sample { value, step: None, line: Some(line.number), rank: line.rank };
            if let Some((_, name, unit)) = METRICS.iter().find(|(row, ..)| *row == label && !row.is_empty()) {
                run.take(name, unit, sample);
            } else if let Some(name) = latency(&label) {
                run.take(&name, "ms", sample);
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if self.runs.is_empty() {
            report
                .invalid("there is no block `Serving Benchmark Result` and no JSON of one: the benchmark did not end");
        }
        if self.runs.last().is_some_and(|run| !run.ended) {
            report.invalid("the result block was cut off: it has no closing line of `=`");
        }
        push_runs(&self.runs, report);
    }
}

/// Returns the key of a row such as `p99 ttft (ms)` or `mean e2e latency (ms)`.
fn latency(label: &str) -> Option<String> {
    let (statistic, metric) = label.strip_suffix(" (ms)")?.split_once(' ')?;
    let known = ["ttft", "tpot", "itl", "e2el", "e2e latency"].contains(&metric) && is_statistic(statistic);
    known.then(|| format!("{statistic}_{}_ms", metric.replace(' ', "_")))
}

fn is_statistic(word: &str) -> bool {
    let is_percentile = |rank: &str| !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    matches!(word, "mean" | "median" | "std" | "max" | "min") || word.strip_prefix('p').is_some_and(is_percentile)
}

/// Reads the JSON of one or more results, in a row or one a line.
pub(super) fn read_json(text: &str, report: &mut Report) {
    let found = documents_from(text, report.first_line);
    let runs: Vec<Run> = found.values.iter().map(run_of).collect();
    if runs.iter().all(|run| run.measured.is_empty()) {
        return read_log(text, report);
    }
    if let Some(flaw) = &found.flaw {
        report.invalid(flaw.as_str());
    }
    push_runs(&runs, report);
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
    for (key, value) in numbers(document) {
        let known = METRICS.iter().find(|(_, name, _)| *name == key);
        let is_latency = || {
            let (statistic, metric) = key.strip_suffix("_ms")?.split_once('_')?;
            (["ttft", "tpot", "itl", "e2el", "e2e_latency"].contains(&metric) && is_statistic(statistic))
                .then_some("ms")
        };
        if let Some(unit) = known.map(|(.., unit)| *unit).or_else(is_latency) {
            run.take(key, unit, Sample::of(value));
        }
    }
    run
}

fn push_runs(runs: &[Run], report: &mut Report) {
    let settings: BTreeSet<&str> = runs.iter().flat_map(|run| run.settings.keys().copied()).collect();
    let differing: Vec<&str> = settings
        .into_iter()
        .filter(|key| runs.iter().map(|run| run.settings.get(key)).collect::<BTreeSet<_>>().len() > 1)
        .collect();
    let mut faults = BTreeMap::new();
    for run in runs {
        let labels: BTreeMap<String, String> =
            differing.iter().filter_map(|key| Some(((*key).to_owned(), run.settings.get(key)?.clone()))).collect();
        for Measured { name, unit, better, sample } in &run.measured {
            report.push_named(name, unit, *better, &labels, ONE, *sample);
        }
        // After a restart the last result of its kind is the one that counts.
        faults.insert(labels, run.fault());
    }
    for fault in faults.into_values().flatten() {
        report.invalid(fault);
    }
}
