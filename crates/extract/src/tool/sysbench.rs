//! sysbench: the report of `cpu`, `memory`, `fileio`, `threads` and the tests of databases.
//!
//! Latencies are milliseconds with two decimals: 0.00 is what was faster than 5 microseconds. The percentile is the one
//! that `--percentile` asks for. A direction in which nothing was done has rates of 0.00 and no metric here. With `--report-interval`
//! the rates of the intervals are samples. The reports of 0.4 and 0.5 have other units and are not read.

use std::collections::BTreeMap;

use super::{
    Headline, Line, LineParser, Lines, Reading, Report, Tool, ToolMetric, higher, label, lower, plain, read_on,
};
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "sysbench",
    reads: "the report of `cpu`, `memory`, `fileio`, `threads` and the tests of databases (`oltp_…`)",
    source: "https://github.com/akopytov/sysbench/blob/master/src/sysbench.c",
    lines: Some(Lines { needles: &[":", " transferred ("], parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "1.0.20, and the reports of 1.1",
    metrics,
    labels: &[label("threads", "with `report: each`, the number of threads")],
    example: "{name: sysbench, metrics: [events_per_second]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

const INTERVALS: &[Headline] = &[Headline::of("_median", Reduce::Median)];

/// The rows of the report, by their names in 1.0.
static ROWS: [(&str, ToolMetric); 12] = [
    ("events per second", higher("events_per_second", "1/s", "events a second")),
    ("reads/s", higher("reads_per_second", "1/s", "reads a second")),
    ("writes/s", higher("writes_per_second", "1/s", "writes a second")),
    ("fsyncs/s", higher("fsyncs_per_second", "1/s", "calls of fsync a second")),
    ("read, MiB/s", higher("read_throughput", "MiB/s", "what was read a second")),
    ("written, MiB/s", higher("write_throughput", "MiB/s", "what was written a second")),
    ("total time", plain("total_time", "s", "how long it took")),
    ("total number of events", plain("events", "1", "events")),
    ("min", lower("latency_min", "ms", "the fastest event")),
    ("avg", lower("latency_avg", "ms", "mean time of an event")),
    ("max", lower("latency_max", "ms", "the slowest event")),
    ("sum", plain("latency_sum", "ms", "time of all events")),
];

/// The names of two of them in 1.1.
const NEWER: [(&str, &str); 2] = [("events/s (eps)", "events per second"), ("time elapsed", "total time")];

/// Rows of operations on files in 1.1, each with the names of its rate and its throughput in 1.0.
const FILES: [(&str, &str, &str); 3] =
    [("read", "reads/s", "read, MiB/s"), ("write", "writes/s", "written, MiB/s"), ("fsync", "fsyncs/s", "")];

/// Headings of the reports of 0.4 and 0.5.
const OLDER: [&str; 3] = ["Test execution summary", "per-request statistics", "response time"];

/// Of a database, each with its rate in parentheses.
static RATES: [(&str, ToolMetric); 3] = [
    ("transactions", higher("transactions_per_second", "1/s", "transactions of a database a second")),
    ("queries", higher("queries_per_second", "1/s", "queries of a database a second")),
    ("ignored errors", plain("ignored_errors_per_second", "1/s", "ignored errors a second")),
];

static PERCENTILE: ToolMetric = lower("latency_p{N}", "ms", "the percentile of `--percentile`");
static INTERVAL: ToolMetric =
    higher("interval_events_per_second", "1/s", "events a second of each `--report-interval`").of(INTERVALS);
static TRANSFER: ToolMetric = higher("transfer_per_second", "MiB/s", "memory that was read or written a second");
static OPERATIONS: ToolMetric = higher("operations_per_second", "1/s", "operations on memory a second");

fn metrics() -> Vec<&'static ToolMetric> {
    let of_rows = ROWS.iter().chain(&RATES).map(|(_, metric)| metric);
    of_rows.chain([&PERCENTILE, &INTERVAL, &TRANSFER, &OPERATIONS]).collect()
}

#[derive(Default)]
struct Parser {
    has_begun: bool,
    has_latency: bool,
    /// The heading that only an older report has.
    older: Option<String>,
    /// The values that were read, which count if the report has a known form.
    found: Vec<(&'static ToolMetric, String, Reading)>,
    is_over: bool,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let text = line.whole_words().trim();
        if text == "Running the test with following options:" {
            if self.has_begun {
                self.finish(report);
            }
            *self = Self { has_begun: true, ..Self::default() };
            return report.begin(line.rank, BTreeMap::new());
        }
        // `[ 1s ] thds: 2 eps: 8675.58 lat (ms,99%): 0.42`
        if let Some((_, after)) = text.split_once(" eps: ").filter(|_| text.starts_with("[ ")) {
            return self.push(&INTERVAL, line, first_word(after));
        }
        // `2048.00 MiB transferred (7053.01 MiB/sec)`
        if let Some((_, rate)) = text.split_once(" MiB transferred (") {
            return self.push(&TRANSFER, line, first_word(rate));
        }
        if text.starts_with("FATAL:") {
            return report.invalid(format!("sysbench says: {text}"));
        }
        let Some((label, value)) = text.split_once(':') else { return };
        let (label, value) = (label.trim_end(), value.trim());
        let label = NEWER.iter().find(|(newer, _)| *newer == label).map_or(label, |(_, known)| known);
        if label == "Number of threads" {
            report.setting("threads", value);
        } else if OLDER.contains(&label) {
            self.older.get_or_insert_with(|| label.to_owned());
        } else if label == "Latency (ms)" {
            self.has_latency = true;
        } else if label == "events (avg/stddev)" {
            self.is_over = true;
        } else if label == "Total operations" {
            // `2097152 (7222287.17 per second)`
            self.push(&OPERATIONS, line, in_parentheses(value));
        } else if let Some((_, metric)) = RATES.iter().find(|(row, _)| *row == label) {
            // `12345  (1234.40 per sec.)`
            self.push(metric, line, in_parentheses(value));
        } else if let Some(rank) = label.strip_suffix("th percentile").filter(|_| self.has_latency) {
            self.found.push((&PERCENTILE, format!("latency_p{rank}"), read_on(line, None, value)));
        } else if let Some(rates) = value.strip_prefix("IOPS=") {
            // `read:  IOPS=2720.53 42.51 MiB/s (44.57 MB/s)`
            let Some((_, rate, throughput)) = FILES.iter().find(|(row, ..)| *row == label) else { return };
            let mut rates = rates.split_whitespace();
            for row in [rate, throughput].into_iter().filter(|row| !row.is_empty()) {
                self.row(row, line, rates.next().unwrap_or_default());
            }
        } else {
            self.row(label, line, value);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if !self.is_over {
            report
                .invalid("the report has no part `Threads fairness`: sysbench did not end, or its report was cut off");
        }
        if let Some(heading) = &self.older {
            return report.invalid(format!(
                "`{heading}:` is from a report of sysbench 0.4 or 0.5, which is not supported: run sysbench 1.0 or \
                 later"
            ));
        }
        for (metric, name, reading) in self.found.drain(..) {
            report.push_named(metric, &name, &BTreeMap::new(), reading);
        }
    }
}

impl Parser {
    fn push(&mut self, metric: &'static ToolMetric, line: &Line<'_>, text: &str) {
        self.found.push((metric, metric.name.to_owned(), read_on(line, None, text)));
    }

    /// Reads the row of that name, if it is one. The tests of 1.1 that print a rate of their own print it a second time.
    fn row(&mut self, label: &str, line: &Line<'_>, value: &str) {
        let Some((_, metric)) = ROWS.iter().find(|(row, _)| *row == label) else { return };
        let unit = metric.unit.unwrap_or_default();
        let value = if unit == "s" { value.trim_end_matches('s') } else { value };
        let is_idle = value == "0.00" && matches!(unit, "1/s" | "MiB/s");
        let is_known = self.found.iter().any(|(known, ..)| std::ptr::eq(*known, metric));
        if !is_idle && !is_known && (unit != "ms" || self.has_latency) {
            self.push(metric, line, value);
        }
    }
}

fn in_parentheses(text: &str) -> &str {
    text.split_once('(').map_or("", |(_, inside)| first_word(inside))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
