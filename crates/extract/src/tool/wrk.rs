//! wrk, and wrk2: the report at the end of a run.
//!
//! Times are printed in the unit that fits best and are milliseconds here; `KB` of transfer are 1024 bytes. Latencies
//! include answers that say an error and leave out those that did not come in time. Without any answer wrk prints latencies
//! of 0.00us, which are not values. Of the two distributions that wrk2 prints with `-U` the first counts, which includes how long
//! requests waited to be sent. Errors have a row only where there are some: a whole report without the row has none.

use std::collections::BTreeMap;

use super::{
    Line, LineParser, Lines, Reading, Report, Tool, ToolMetric, higher, label, lower, plain, read_on, sample_on,
    take_on,
};
use crate::number;

pub(super) const TOOL: Tool = Tool {
    name: "wrk",
    reads: "its report, with `--latency` also the percentiles",
    source: "https://github.com/wg/wrk/blob/master/src/wrk.c",
    lines: Some(Lines { needles: &[], parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "4.1.0, also wrk2",
    metrics,
    labels: &[label("{setting}", "with `report: each`, what was asked for: `url`, `threads`, `connections`")],
    example: "{name: wrk, metrics: [requests_per_second, latency_p99]}",
    attempts: Some("requests"),
    cautions: &[],
    renamed: None,
};

static REQUESTS_PER_SECOND: ToolMetric = higher("requests_per_second", "requests/s", "answers a second");
static TRANSFER_PER_SECOND: ToolMetric = higher("transfer_per_second", "B/s", "bytes a second");
static REQUESTS: ToolMetric = plain("requests", "1", "answers");
static ERRORS: ToolMetric = lower("error_responses", "1", "answers with a status that is neither 2xx nor 3xx");
static SOCKET_ERRORS: ToolMetric =
    lower("socket_errors", "1", "requests that a socket lost, or that had no answer in time");
static LATENCY: [ToolMetric; 3] = [
    lower("latency_avg", "ms", "mean latency"),
    plain("latency_stdev", "ms", "standard deviation of latencies"),
    lower("latency_max", "ms", "maximum latency"),
];
static PERCENTILE: ToolMetric = lower("latency_p{N}", "ms", "a percentile of latencies, with `--latency`");

fn metrics() -> Vec<&'static ToolMetric> {
    let others = [&PERCENTILE, &REQUESTS_PER_SECOND, &TRANSFER_PER_SECOND, &REQUESTS, &ERRORS, &SOCKET_ERRORS];
    LATENCY.iter().chain(others).collect()
}

#[derive(Default)]
struct Parser {
    has_begun: bool,
    run: Run,
    /// True in the percentiles of wrk2 that leave out how late requests were sent.
    is_uncorrected: bool,
    is_over: bool,
}

/// One run: what it measured is reported only when it is known that anything answered.
#[derive(Default)]
struct Run {
    latencies: Vec<(&'static ToolMetric, String, Reading)>,
    requests: Option<f64>,
    errors: Option<f64>,
    socket_errors: Option<f64>,
    /// The errors that have a row.
    rows: Vec<&'static ToolMetric>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        // `10.66m` may have been `10.66ms`; a rate ends in `B`.
        let text = if line.text.starts_with("Transfer/sec:") { line.text } else { line.whole_words() };
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["Running", _, "test", "@", url, ..] => {
                if self.has_begun {
                    self.finish(report);
                }
                *self = Self { has_begun: true, ..Self::default() };
                report.begin(line.rank, BTreeMap::from([("url".to_owned(), (*url).to_owned())]));
            }
            [threads, "threads", "and", connections, "connections"] => {
                report.setting("threads", threads);
                report.setting("connections", connections);
            }
            // wrk2 names the histogram: `(HdrHistogram - Recorded Latency)`.
            ["Latency", "Distribution", histogram @ ..] => self.is_uncorrected = histogram.contains(&"Uncorrected"),
            ["Latency", times @ ..] => {
                let times = times.iter().copied().chain(std::iter::repeat(""));
                for (metric, time) in LATENCY.iter().zip(times) {
                    self.run.latencies.push((metric, metric.name.to_owned(), milliseconds(line, time)));
                }
            }
            [percentile, time @ ..] if percentile.ends_with('%') && time.len() <= 1 => {
                let rank = percentile.trim_end_matches('%').parse::<f64>();
                if let (Ok(rank), false) = (rank, self.is_uncorrected) {
                    let time = only(time);
                    self.run.latencies.push((&PERCENTILE, format!("latency_p{rank}"), milliseconds(line, time)));
                }
            }
            [count, "requests", "in", ..] | [count @ "requests", "in", ..] => {
                let count = read_on(line, None, count);
                self.run.requests = report.count("requests", &count);
                report.push(&REQUESTS, count);
            }
            ["Non-2xx", "or", "3xx", "responses:", count @ ..] => {
                let count = read_on(line, None, only(count));
                self.run.rows.push(&ERRORS);
                self.run.errors = report.count("responses that are errors", &count);
                report.push(&ERRORS, count);
            }
            // `connect 0, read 5, write 0, timeout 3`
            ["Socket", "errors:", counts @ ..] => {
                let counts = counts.iter().map(|word| word.trim_end_matches(','));
                let sum = ["connect", "read", "write", "timeout"].iter().try_fold(0.0, |sum, kind| {
                    let count = counts.clone().skip_while(|word| word != kind).nth(1);
                    Ok(sum + number::parse(count.unwrap_or_default())?)
                });
                let sum = take_on(line, None, sum);
                self.run.rows.push(&SOCKET_ERRORS);
                self.run.socket_errors = report.count("socket errors", &sum);
                report.push(&SOCKET_ERRORS, sum);
            }
            ["Requests/sec:", rate @ ..] => report.push(&REQUESTS_PER_SECOND, read_on(line, None, only(rate))),
            ["Transfer/sec:", rate @ ..] => {
                let rate = scaled(line, only(rate), &BYTES, "size");
                self.is_over = !rate.is_cut();
                report.push(&TRANSFER_PER_SECOND, rate);
                // wrk prints the rows of errors between that of the requests and this one.
                let is_whole = self.is_over && self.run.requests.is_some();
                for metric in [&ERRORS, &SOCKET_ERRORS].into_iter().filter(|_| is_whole) {
                    if !self.run.rows.iter().any(|row| std::ptr::eq(*row, metric)) {
                        report.push(metric, sample_on(line, None, 0.0));
                    }
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
        // What came with an error is among the requests; what a socket lost is not.
        let lost = self.run.socket_errors.unwrap_or_default();
        if let Some(requests) = self.run.requests {
            report.requests(lost + self.run.errors.unwrap_or_default(), requests + lost);
        }
        for (metric, name, sample) in &self.run.latencies {
            report.push_named(metric, name, &BTreeMap::new(), sample.clone());
        }
    }
}

const TIMES: [(&str, f64); 5] = [("us", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)];
const KB: f64 = 1024.0;
const BYTES: [(&str, f64); 5] =
    [("KB", KB), ("MB", KB * KB), ("GB", KB * KB * KB), ("TB", KB * KB * KB * KB), ("B", 1.0)];

/// Returns the word where a value is expected, which may be missing.
fn only<'a>(words: &[&'a str]) -> &'a str {
    words.first().copied().unwrap_or_default()
}

fn scaled(line: &Line<'_>, text: &str, scales: &[(&str, f64)], what: &str) -> Reading {
    let read = |(unit, scale): &(&str, f64)| Some(number::parse(text.strip_suffix(unit)?).ok()? * scale);
    let found = scales.iter().find_map(read).ok_or_else(|| format!("`{text}` is not a {what}"));
    take_on(line, None, found)
}

fn milliseconds(line: &Line<'_>, text: &str) -> Reading {
    scaled(line, text, &TIMES, "time")
}
