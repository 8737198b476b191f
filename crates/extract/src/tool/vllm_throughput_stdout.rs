//! `vllm bench throughput`: its line `Throughput: …`, or the JSON of `--output-json`.
//!
//! The counts of tokens that follow the line have no end that would show that they are whole; they are not read. What older
//! versions and the JSON call tokens is the sum of prompt and output tokens.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Line, LineParser, Lines, Report, Tool, ToolMetric, higher, plain, read_on};
use crate::json_document::reading;

pub(super) const TOOL: Tool = Tool {
    name: "vllm-throughput-stdout",
    reads: "the line `Throughput: … requests/s, …` of `vllm bench throughput`, or the JSON of `--output-json`",
    source: "https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/throughput.py",
    lines: Some(Lines { needles: &["Throughput:"], parser: || Box::new(Parser::default()) }),
    document: Some(Document::Json { is_it: |root| root.get("tokens_per_second").is_some(), read }),
    versions: "the line of older versions and of 2025, and the JSON",
    metrics: || vec![&REQUESTS, &TOTAL, &OUTPUT, &ALL_TOKENS, &REQUEST_COUNT, &ELAPSED],
    labels: &[],
    example: "{name: vllm-throughput-stdout, metrics: [total_tokens_per_second]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

static REQUESTS: ToolMetric = higher("requests_per_second", "requests/s", "requests a second");
static TOTAL: ToolMetric = higher("total_tokens_per_second", "tokens/s", "prompt and output tokens a second");
static OUTPUT: ToolMetric = higher("output_tokens_per_second", "tokens/s", "output tokens a second");
static ALL_TOKENS: ToolMetric = plain("total_num_tokens", "tokens", "prompt and output tokens");
static REQUEST_COUNT: ToolMetric = plain("num_requests", "1", "requests");
static ELAPSED: ToolMetric = plain("elapsed_time", "s", "how long it took");

#[derive(Default)]
struct Parser {
    has_throughput: bool,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let Some((_, values)) = line.text.split_once("Throughput:") else { return };
        report.begin(line.rank, BTreeMap::new());
        for part in values.split(", ") {
            let Some((value, unit)) = part.trim().split_once(' ') else { continue };
            let metric = match unit.trim() {
                "requests/s" => &REQUESTS,
                "total tokens/s" | "tokens/s" => &TOTAL,
                "output tokens/s" => &OUTPUT,
                _ => continue,
            };
            self.has_throughput = true;
            report.push(metric, read_on(line, None, value));
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if !self.has_throughput {
            report.invalid("the log has no line `Throughput:`: the benchmark did not end");
        }
    }
}

fn read(document: &Value, report: &mut Report) {
    let keys = [
        ("requests_per_second", &REQUESTS),
        ("tokens_per_second", &TOTAL),
        ("total_num_tokens", &ALL_TOKENS),
        ("num_requests", &REQUEST_COUNT),
        ("elapsed_time", &ELAPSED),
    ];
    for (key, metric) in keys {
        if let Some(value) = document.get(key) {
            report.push(metric, reading(value));
        }
    }
    if document.get("tokens_per_second").is_none() {
        report.invalid("the JSON holds no throughput");
    }
}
