//! wrk, and wrk2: the report at the end of a run.
//!
//! Times are printed in the unit that fits best and are milliseconds here; `KB` of transfer are 1024 bytes. Latencies
//! include answers that say an error and leave out those that did not come in time. Without any answer wrk prints latencies
//! of 0.00us, which are none.

use super::{Line, LineParser, Lines, ONE, Report, Sample, Tool, ToolMetric};
use crate::number;
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "wrk",
    reads: "its report, with `--latency` also the percentiles",
    source: "https://github.com/wg/wrk/blob/master/src/wrk.c",
    lines: Some(Lines { needles: &[], parser: || Box::new(Parser::default()) }),
    document: None,
    metrics: None,
};

const fn metric(name: &'static str, unit: &'static str, better: Option<Better>) -> ToolMetric {
    ToolMetric { name, unit, better, headlines: ONE }
}

const LOWER: Option<Better> = Some(Better::Lower);
static REQUESTS_PER_SECOND: ToolMetric = metric("requests_per_second", "requests/s", Some(Better::Higher));
static TRANSFER_PER_SECOND: ToolMetric = metric("transfer_per_second", "B/s", Some(Better::Higher));
static REQUESTS: ToolMetric = metric("requests", "1", None);
static ERRORS: ToolMetric = metric("error_responses", "1", LOWER);
static SOCKET_ERRORS: ToolMetric = metric("socket_errors", "1", LOWER);
static LATENCY: [ToolMetric; 3] =
    [metric("latency_avg", "ms", LOWER), metric("latency_stdev", "ms", None), metric("latency_max", "ms", LOWER)];

#[derive(Default)]
struct Parser {
    run: Run,
    is_over: bool,
}

/// One run: what it measured is told only when it is known that anything answered.
#[derive(Default)]
struct Run {
    latencies: Vec<(String, Sample)>,
    requests: Option<f64>,
    errors: Option<f64>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let sample = |value| Sample { value, step: None, line: Some(line.number), rank: line.rank };
        // `10.66m` may have been `10.66ms`; a rate ends in `B`.
        let text = if line.text.starts_with("Transfer/sec:") { line.text } else { line.whole_words() };
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["Running", _, "test", "@", ..] => *self = Self::default(),
            ["Latency", times @ ..] if times.len() >= 3 => {
                for (metric, time) in LATENCY.iter().zip(times) {
                    self.run.latencies.extend(milliseconds(time).map(|time| (metric.name.to_owned(), sample(time))));
                }
            }
            [percentile, time] if percentile.ends_with('%') => {
                let rank = percentile.trim_end_matches('%').parse::<f64>();
                if let (Ok(rank), Some(time)) = (rank, milliseconds(time)) {
                    self.run.latencies.push((format!("latency_p{rank}"), sample(time)));
                }
            }
            [count, "requests", "in", ..] => {
                self.run.requests = number::parse(count).ok();
                if let Some(count) = self.run.requests {
                    report.push(&REQUESTS, sample(count));
                }
            }
            ["Non-2xx", "or", "3xx", "responses:", count] => {
                self.run.errors = number::parse(count).ok();
                if let Some(count) = self.run.errors {
                    report.push(&ERRORS, sample(count));
                }
            }
            // `connect 0, read 5, write 0, timeout 3`
            ["Socket", "errors:", counts @ ..] if counts.len() == 8 => {
                let counts = counts.iter().filter_map(|word| number::parse(word.trim_end_matches(',')).ok());
                report.push(&SOCKET_ERRORS, sample(counts.sum()));
            }
            ["Requests/sec:", rate] => {
                if let Ok(rate) = number::parse(rate) {
                    report.push(&REQUESTS_PER_SECOND, sample(rate));
                }
            }
            ["Transfer/sec:", rate] => {
                if let Some(rate) = bytes(rate) {
                    self.is_over = true;
                    report.push(&TRANSFER_PER_SECOND, sample(rate));
                }
            }
            ["unable", "to", "connect", "to", ..] => report.invalid(format!("wrk says: {}", line.text.trim())),
            _ => {}
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if !self.is_over {
            report.invalid("there is no line `Transfer/sec:`: wrk did not end, or its report was cut off");
        }
        if self.run.requests == Some(0.0) {
            return report.invalid("no request was answered");
        }
        if self.run.errors.is_some() && self.run.errors == self.run.requests {
            report.invalid("every answer was an error");
        }
        for (name, sample) in &self.run.latencies {
            let better = if name == "latency_stdev" { None } else { LOWER };
            report.push_named(name, "ms", better, &std::collections::BTreeMap::new(), ONE, *sample);
        }
    }
}

fn scaled(text: &str, scales: &[(&str, f64)]) -> Option<f64> {
    scales.iter().find_map(|(unit, scale)| Some(number::parse(text.strip_suffix(unit)?).ok()? * scale))
}

fn milliseconds(text: &str) -> Option<f64> {
    scaled(text, &[("us", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)])
}

fn bytes(text: &str) -> Option<f64> {
    const KB: f64 = 1024.0;
    scaled(text, &[("KB", KB), ("MB", KB * KB), ("GB", KB * KB * KB), ("TB", KB * KB * KB * KB), ("B", 1.0)])
}
