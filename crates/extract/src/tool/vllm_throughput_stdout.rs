//! `vllm bench throughput`: its line `Throughput: …`, or the JSON of `--output-json`.
//!
//! The counts of tokens that follow the line have no end that would show that they are whole; they are not read. What older
//! versions and the JSON call tokens is the sum of prompt and output tokens.

use serde_json::Value;

use super::{Line, LineParser, Lines, ONE, Report, Sample, Tool, ToolMetric};
use crate::json_document::number as number_in;
use crate::number;
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "vllm-throughput-stdout",
    reads: "the line `Throughput: … requests/s, …` of `vllm bench throughput`, or the JSON of `--output-json`",
    source: "https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/throughput.py",
    lines: Some(Lines { needles: &["Throughput:"], parser: || Box::new(Parser::default()) }),
    document: Some(read),
    metrics: Some(|| vec![&REQUESTS, &TOTAL, &OUTPUT, &ALL_TOKENS, &REQUEST_COUNT, &ELAPSED]),
};

const fn metric(name: &'static str, unit: &'static str, better: Option<Better>) -> ToolMetric {
    ToolMetric { name, unit, better, headlines: ONE }
}

static REQUESTS: ToolMetric = metric("requests_per_second", "requests/s", Some(Better::Higher));
static TOTAL: ToolMetric = metric("total_tokens_per_second", "tokens/s", Some(Better::Higher));
static OUTPUT: ToolMetric = metric("output_tokens_per_second", "tokens/s", Some(Better::Higher));
static ALL_TOKENS: ToolMetric = metric("total_num_tokens", "tokens", None);
static REQUEST_COUNT: ToolMetric = metric("num_requests", "1", None);
static ELAPSED: ToolMetric = metric("elapsed_time", "s", None);

#[derive(Default)]
struct Parser {
    has_throughput: bool,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let mut push = |metric: &'static ToolMetric, text: &str| {
            let Ok(value) = number::parse(text) else { return false };
            report.push(metric, Sample { value, step: None, line: Some(line.number), rank: line.rank });
            true
        };
        if let Some((_, values)) = line.text.split_once("Throughput:") {
            for part in values.split(", ") {
                let Some((value, unit)) = part.trim().split_once(' ') else { continue };
                self.has_throughput |= match unit.trim() {
                    "requests/s" => push(&REQUESTS, value),
                    "total tokens/s" | "tokens/s" => push(&TOTAL, value),
                    "output tokens/s" => push(&OUTPUT, value),
                    _ => false,
                };
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if !self.has_throughput {
            report.invalid("the log has no line `Throughput:`: the benchmark did not end");
        }
    }
}

fn read(text: &str, report: &mut Report) {
    let found = report.documents(text);
    let keys = [
        ("requests_per_second", &REQUESTS),
        ("tokens_per_second", &TOTAL),
        ("total_num_tokens", &ALL_TOKENS),
        ("num_requests", &REQUEST_COUNT),
        ("elapsed_time", &ELAPSED),
    ];
    let mut is_empty = true;
    for document in &found.values {
        for (key, metric) in keys {
            if let Some(value) = document.get(key).and_then(number_in) {
                report.push(metric, Sample::of(value));
                is_empty &= key != "tokens_per_second";
            }
        }
    }
    if is_empty && found.values.iter().all(Value::is_object) {
        report.invalid("the JSON holds no throughput");
    }
}
