//! The result block of `vllm bench serve` and of SGLang's `bench_serving`, and the JSON that holds the same values.
//!
//! Metrics have the names of the JSON. Of several results in one output the last counts, or each, with the settings that
//! differ as labels.
//!
//! Latencies and throughputs leave out requests that failed: what hurt most would make a server look better.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Line, LineParser, ONE, Reading, Report, direction, read_on};
use crate::json_document::{documents_from, number as number_in, reading};
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

    fn take(&mut self, name: &str, unit: &'static str, reading: Reading) {
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
        self.measured.push(Measured { name: name.to_owned(), unit, better, reading });
    }

    /// Takes in what the row of completed requests says: `14`, or `14/20`, which names those that were asked for too.
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
        self.take("completed", "1", read_on(line, None, completed));
    }

    /// Reports the result.
    fn push(&self, report: &mut Report) {
        let settings = self.settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        report.begin(self.rank, settings);
        if !self.ended {
            report.invalid("the result block was cut off: it has no closing line of `=`");
        }
        for Measured { name, unit, better, reading } in &self.measured {
            report.push_named(name, unit, *better, &BTreeMap::new(), ONE, reading.clone());
        }
        let completed = self.reading("completed").and_then(|reading| report.count("completed requests", reading));
        let asked = self.settings.get("num_prompts").and_then(|count| count.parse::<f64>().ok());
        let failed = match self.reading("failed") {
            Some(reading) => report.count("failed requests", reading),
            None => asked.zip(completed).map(|(asked, completed)| asked - completed),
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
        } else if label == "successful requests" {
            run.take_completed(line, value);
        } else if let Some((_, name, unit)) = METRICS.iter().find(|(row, ..)| *row == label && !row.is_empty()) {
            run.take(name, unit, read_on(line, None, value));
        } else if let Some((name, unit)) = latency(&label) {
            run.take(&name, unit, read_on(line, None, value));
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

/// Returns the key and the unit of a row such as `p99 ttft (ms)`, `mean e2e latency (ms)` or `latency mean (s)`.
fn latency(label: &str) -> Option<(String, &'static str)> {
    if let Some(statistic) = label.strip_prefix("latency ").and_then(|rest| rest.strip_suffix(" (s)")) {
        // Of images and videos.
        return is_statistic(statistic).then(|| (format!("{statistic}_latency"), "s"));
    }
    let (statistic, metric) = label.strip_suffix(" (ms)")?.split_once(' ')?;
    let known = ["ttft", "tpot", "itl", "e2el", "e2e latency"].contains(&metric) && is_statistic(statistic);
    known.then(|| (format!("{statistic}_{}_ms", metric.replace(' ', "_")), "ms"))
}

fn is_statistic(word: &str) -> bool {
    let is_percentile = |rank: &str| !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    matches!(word, "mean" | "median" | "std" | "max" | "min") || word.strip_prefix('p').is_some_and(is_percentile)
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
        let known = METRICS.iter().find(|(_, name, _)| name == key);
        let is_latency = || {
            let (statistic, metric) = key.strip_suffix("_ms")?.split_once('_')?;
            (["ttft", "tpot", "itl", "e2el", "e2e_latency"].contains(&metric) && is_statistic(statistic))
                .then_some("ms")
        };
        // What was not asked for is null: a goodput without goals.
        if let Some(unit) = known.map(|(.., unit)| *unit).or_else(is_latency).filter(|_| !value.is_null()) {
            run.take(key, unit, reading(value));
        }
    }
    run
}
