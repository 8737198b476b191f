//! MLPerf's loadgen: `mlperf_log_summary.txt`.
//!
//! Latencies are nanoseconds. Whether a run counts is loadgen's own verdict: `Result is : VALID`. The tokens of a Server
//! run are printed twice; what follows `Test Parameters Used` are settings.

use std::collections::BTreeMap;

use super::{Line, LineParser, Lines, Reading, Report, Tool, ToolMetric, find, higher, lower, plain, read_on};
use kubebench_format::spec::v1::metric::Caution;

pub(super) const TOOL: Tool = Tool {
    name: "mlperf-loadgen",
    reads: "`mlperf_log_summary.txt`",
    source: "https://github.com/mlcommons/inference/blob/master/loadgen/results.cc",
    lines: Some(Lines { needles: &[], parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "submissions of Inference 1.0 and of 2025",
    metrics,
    labels: &[],
    example: "{name: mlperf-loadgen, file: mlperf_log_summary.txt, metrics: [samples_per_second]}",
    attempts: None,
    cautions: &[Caution::ToolWarnings],
    renamed: None,
};

/// The rows that are not latencies.
static RATES: [(&str, ToolMetric); 10] = [
    ("samples per second", higher("samples_per_second", "samples/s", "the result of Offline")),
    (
        "completed samples per second",
        higher(
            "completed_samples_per_second",
            "samples/s",
            "the result of Server: samples that were answered a second",
        ),
    ),
    (
        "scheduled samples per second",
        plain("scheduled_samples_per_second", "samples/s", "samples that were asked a second, of Server"),
    ),
    ("tokens per second", higher("tokens_per_second", "tokens/s", "tokens a second, of Offline")),
    ("completed tokens per second", higher("completed_tokens_per_second", "tokens/s", "tokens a second, of Server")),
    ("qps w/ loadgen overhead", higher("qps_with_loadgen_overhead", "samples/s", "queries a second, of SingleStream")),
    (
        "qps w/o loadgen overhead",
        higher("qps_without_loadgen_overhead", "samples/s", "queries a second, of SingleStream"),
    ),
    ("tps w/ loadgen overhead", higher("tps_with_loadgen_overhead", "tokens/s", "tokens a second, of SingleStream")),
    (
        "tps w/o loadgen overhead",
        higher("tps_without_loadgen_overhead", "tokens/s", "tokens a second, of SingleStream"),
    ),
    ("samples per query", plain("samples_per_query", "samples", "samples of a query, of MultiStream")),
];
static LATENCIES: &[ToolMetric] = &[
    lower("early_stopping_latency_p{N}", "ns", "the official result of SingleStream and MultiStream"),
    lower("latency_{location}", "ns", "latency of a query"),
    lower("ttft_{location}", "ns", "time to the first token"),
    lower("tpot_{location}", "ns", "time per output token"),
];

fn metrics() -> Vec<&'static ToolMetric> {
    RATES.iter().map(|(_, metric)| metric).chain(LATENCIES).collect()
}

#[derive(Default)]
struct Parser {
    summary: Option<Summary>,
}

#[derive(Default)]
struct Summary {
    rank: Option<u32>,
    metrics: Vec<(&'static ToolMetric, String, Reading)>,
    is_performance: bool,
    verdict: Option<String>,
    unmet: Vec<String>,
    errors: Option<String>,
    warnings: Option<String>,
    in_parameters: bool,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let text = line.whole_words().trim();
        if text == "MLPerf Results Summary" {
            if self.summary.is_some() {
                self.finish(report);
            }
            self.summary = Some(Summary { rank: line.rank, ..Summary::default() });
        } else if let Some(summary) = &mut self.summary {
            summary.line(text, line);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        let Some(summary) = self.summary.take() else {
            return report.invalid("the text holds no `MLPerf Results Summary`");
        };
        report.begin(summary.rank, BTreeMap::new());
        for (metric, name, reading) in &summary.metrics {
            report.push_named(metric, name, &BTreeMap::new(), reading.clone());
        }
        match summary.verdict.as_deref() {
            Some("VALID") => {}
            Some(verdict) if summary.unmet.is_empty() => report.invalid(format!("loadgen's result is {verdict}")),
            Some(verdict) => {
                report.invalid(format!("loadgen's result is {verdict}, not satisfied: {}", summary.unmet.join(", ")));
            }
            None if summary.is_performance => report.invalid("the summary was cut off before loadgen's verdict"),
            None => report.invalid("this was not a performance run: loadgen gives no verdict"),
        }
        if summary.verdict.is_some() && !summary.in_parameters {
            report.invalid("the summary was cut off before its `Test Parameters Used`");
        }
        if let Some(errors) = summary.errors {
            report.invalid(format!("loadgen says: {errors}"));
        }
        if let Some(warnings) = summary.warnings {
            report.caution(Caution::ToolWarnings, warnings);
        }
    }
}

impl Summary {
    fn line(&mut self, text: &str, line: &Line<'_>) {
        self.in_parameters |= text == "Test Parameters Used";
        let says_errors = text.contains(" ERROR encountered") || text.contains(" ERRORS encountered");
        if says_errors {
            self.errors = Some(text.trim_end_matches('.').to_owned());
        }
        let counts_warnings = text.contains(" warning encountered") || text.contains(" warnings encountered");
        if counts_warnings && text.starts_with(|first: char| first.is_ascii_digit()) {
            self.warnings = Some(text.trim_end_matches('.').to_owned());
        }
        let Some((label, value)) = text.split_once(':').filter(|_| !self.in_parameters) else { return };
        let (label, value) = (label.trim_end().to_ascii_lowercase(), value.trim());
        if label == "mode" {
            self.is_performance = value == "PerformanceOnly";
        } else if label == "result is" {
            self.verdict = Some(value.to_owned());
        } else if let Some(what) = label.strip_suffix(" satisfied") {
            if value == "NO" {
                self.unmet.push(what.to_owned());
            }
        } else if let Some((_, metric)) = RATES.iter().find(|(row, _)| *row == label) {
            self.metrics.push((metric, metric.name.to_owned(), read_on(line, None, value)));
        } else if let Some(name) = latency(&label)
            && let Some(metric) = find(LATENCIES, &name)
        {
            self.metrics.push((metric, name, read_on(line, None, value)));
        }
    }
}

/// Returns the name of a row such as `mean first token latency (ns)` or `90.0th percentile latency (ns)`.
fn latency(label: &str) -> Option<String> {
    // The official result of single streams and multiple streams.
    if let Some(percentile) = label.strip_prefix("early stopping ").and_then(|rest| rest.strip_suffix(" estimate")) {
        let percentile: f64 = percentile.strip_suffix("th percentile")?.parse().ok()?;
        return Some(format!("early_stopping_latency_p{percentile}"));
    }
    let words = label.strip_suffix(" (ns)")?;
    let (first, rest) = words.split_once(' ')?;
    // `90.0th first token percentile latency`, `90.00 percentile first token latency`
    let what = rest.split(' ').filter(|word| *word != "percentile").collect::<Vec<_>>().join(" ");
    let metric = match what.as_str() {
        "latency" => "latency",
        "first token latency" => "ttft",
        "time to output token" | "time per output token" => "tpot",
        _ => return None,
    };
    if matches!(first, "min" | "max" | "mean") {
        return Some(format!("{metric}_{first}"));
    }
    let percentile: f64 = first.trim_end_matches("th").parse().ok()?;
    Some(format!("{metric}_p{percentile}"))
}
