//! SGLang's `bench_serving`: the result block that it prints, or the JSON lines of `--output-file`.
//!
//! The block is vLLM's with more rows. `Total generated tokens` is what was asked for and counted as it came; the
//! retokenized count differs from it. The output file is appended to: results of other settings in it are distinguished.

use super::serving_block::{Blocks, LABELS, NEEDLES, metrics, read_json};
use super::{Document, Lines, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "sglang-bench-stdout",
    reads: "the block `Serving Benchmark Result` of `sglang.bench_serving`, or the JSON lines of `--output-file`",
    source: "https://github.com/sgl-project/sglang/blob/main/python/sglang/bench_serving.py",
    lines: Some(Lines { needles: NEEDLES, parser: || Box::new(Blocks::default()) }),
    document: Some(Document::Text(read_json)),
    versions: "blocks of 2025, also of `sglang.multimodal_gen`, and the lines of `--output-file`",
    metrics,
    labels: LABELS,
    example: "{name: sglang-bench-stdout, metrics: [output_throughput, median_e2e_latency_ms]}",
    attempts: Some("requests"),
    cautions: &[],
    renamed: None,
};
