//! `vllm bench serve`: the result block that it prints, or the JSON of `--save-result` and `--append-result`.
//!
//! Milliseconds and seconds as each row says. Older versions print `Total Token throughput` and no row for failed requests;
//! the request rate is printed only when it is not `inf`. `--append-result` puts one JSON object after the other.

use super::serving_block::{Blocks, LABELS, NEEDLES, metrics, read_json};
use super::{Document, Lines, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "vllm-serve-stdout",
    reads: "the block `Serving Benchmark Result` of `vllm bench serve`, or the JSON of `--save-result`",
    source: "https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py",
    lines: Some(Lines { needles: NEEDLES, parser: || Box::new(Blocks::default()) }),
    document: Some(Document::Text(read_json)),
    versions: "blocks since 2024, and the JSON of `--save-result`",
    metrics,
    labels: LABELS,
    example: "{name: vllm-serve-stdout, metrics: [request_throughput, p99_ttft_ms]}",
    attempts: Some("requests"),
    cautions: &[],
    renamed: None,
};
