//! sysbench: the report of `cpu`, `memory`, `fileio`, `threads` and the tests of databases.
//!
//! Latencies are milliseconds with two decimals: 0.00 is what was faster than 5 microseconds. The percentile is the one
//! that `--percentile` asks for. A direction in which nothing was done has rates of 0.00 and no metric here. With `--report-interval` the rates of the intervals are samples.

use std::collections::BTreeMap;

use super::{Headline, Line, LineParser, Lines, ONE, Report, Tool, read_on};
use kubebench_format::spec::v1::metric::{Better, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "sysbench",
    reads: "the report of `cpu`, `memory`, `fileio`, `threads` and the tests of databases (`oltp_…`)",
    source: "https://github.com/akopytov/sysbench/blob/master/src/sysbench.c",
    lines: Some(Lines { needles: &[":", " transferred ("], parser: || Box::new(Parser::default()) }),
    document: None,
    metrics: None,
    renamed: None,
};

const HIGHER: Option<Better> = Some(Better::Higher);
const LOWER: Option<Better> = Some(Better::Lower);
const INTERVALS: &[Headline] = &[Headline::of("_median", Reduce::Median)];

const ROWS: [(&str, &str, &str, Option<Better>); 12] = [
    ("events per second", "events_per_second", "1/s", HIGHER),
    ("reads/s", "reads_per_second", "1/s", HIGHER),
    ("writes/s", "writes_per_second", "1/s", HIGHER),
    ("fsyncs/s", "fsyncs_per_second", "1/s", HIGHER),
    ("read, MiB/s", "read_throughput", "MiB/s", HIGHER),
    ("written, MiB/s", "write_throughput", "MiB/s", HIGHER),
    ("total time", "total_time", "s", None),
    ("total number of events", "events", "1", None),
    ("min", "latency_min", "ms", LOWER),
    ("avg", "latency_avg", "ms", LOWER),
    ("max", "latency_max", "ms", LOWER),
    ("sum", "latency_sum", "ms", None),
];

/// Of a database, each with its rate in parentheses.
const RATES: [(&str, &str); 3] = [
    ("transactions", "transactions_per_second"),
    ("queries", "queries_per_second"),
    ("ignored errors", "ignored_errors_per_second"),
];

#[derive(Default)]
struct Parser {
    has_begun: bool,
    has_latency: bool,
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
        let mut push = |name: &str, unit: &str, better, headlines, text: &str| {
            report.push_named(name, unit, better, &BTreeMap::new(), headlines, read_on(line, None, text));
        };
        // `[ 1s ] thds: 2 eps: 8675.58 lat (ms,99%): 0.42`
        if let Some((_, after)) = text.split_once(" eps: ").filter(|_| text.starts_with("[ ")) {
            let rate = after.split_whitespace().next().unwrap_or_default();
            return push("interval_events_per_second", "1/s", HIGHER, INTERVALS, rate);
        }
        // `2048.00 MiB transferred (7053.01 MiB/sec)`
        if let Some((_, rate)) = text.split_once(" MiB transferred (") {
            return push("transfer_per_second", "MiB/s", HIGHER, ONE, first_word(rate));
        }
        if text.starts_with("FATAL:") {
            return report.invalid(format!("sysbench says: {text}"));
        }
        let Some((label, value)) = text.split_once(':') else { return };
        let value = value.trim();
        if label == "Number of threads" {
            report.setting("threads", value);
        } else if label == "Latency (ms)" {
            self.has_latency = true;
        } else if label == "events (avg/stddev)" {
            self.is_over = true;
        } else if label == "Total operations" {
            // `2097152 (7222287.17 per second)`
            let rate = value.split_once('(').map_or("", |(_, rate)| first_word(rate));
            push("operations_per_second", "1/s", HIGHER, ONE, rate);
        } else if let Some((_, name)) = RATES.iter().find(|(row, _)| *row == label) {
            // `12345  (1234.40 per sec.)`
            let rate = value.split_once('(').map_or("", |(_, rate)| first_word(rate));
            push(name, "1/s", Some(Better::Higher).filter(|_| label != "ignored errors"), ONE, rate);
        } else if let Some(rank) = label.strip_suffix("th percentile").filter(|_| self.has_latency) {
            push(&format!("latency_p{rank}"), "ms", LOWER, ONE, value);
        } else if let Some((_, name, unit, better)) = ROWS.iter().find(|(row, ..)| *row == label) {
            let value = if *unit == "s" { value.trim_end_matches('s') } else { value };
            let is_idle = value == "0.00" && matches!(*unit, "1/s" | "MiB/s");
            if !is_idle && (*unit != "ms" || self.has_latency) {
                push(name, unit, *better, ONE, value);
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if !self.is_over {
            report
                .invalid("the report has no part `Threads fairness`: sysbench did not end, or its report was cut off");
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
