//! torchtitan: a line a step, colored, of every rank that it was asked to print.
//!
//! `tps`, `tflops` and `mfu` are per device. The last line of a log is often a message about garbage collection.

use super::{LAST, LAST_AND_MEDIAN, Line, LineParser, Lines, Report, Tool, ToolMetric, higher, lower, plain, read_on};

pub(super) const TOOL: Tool = Tool {
    name: "torchtitan",
    reads: "the lines `step: N  loss: …  memory: …  tps: …` of its log",
    source: "https://github.com/pytorch/torchtitan/blob/main/torchtitan/components/metrics.py",
    lines: Some(Lines { needles: &["step:"], parser: || Box::new(Parser) }),
    document: None,
    versions: "the lines of 2024 to 2026, with and without `grad_norm`",
    metrics: || vec![&TPS, &TFLOPS, &MFU, &MEMORY, &LOSS, &GRAD_NORM, &STEP],
    labels: &[],
    example: "{name: torchtitan, metrics: [tps_median, loss_last]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

static TPS: ToolMetric = higher("tps", "tokens/s/device", "tokens a second and device").of(LAST_AND_MEDIAN);
static TFLOPS: ToolMetric =
    higher("tflops", "TFLOP/s/device", "floating-point operations a second and device").of(LAST_AND_MEDIAN);
static MFU: ToolMetric = higher("mfu", "%", "model FLOPs utilization").of(LAST_AND_MEDIAN);
static MEMORY: ToolMetric = lower("memory", "GiB", "peak of reserved memory of a device").of(LAST);
static LOSS: ToolMetric = lower("loss", "1", "training loss").of(LAST);
static GRAD_NORM: ToolMetric = plain("grad_norm", "1", "norm of the gradient").of(LAST);
static STEP: ToolMetric = plain("last_step", "step", "the last step");

struct Parser;

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let Some((before, from_step)) = line.whole_words().split_once("step:") else { return };
        // `validate step:` has the same keys with another meaning.
        if before.trim_end().ends_with("validate") || !from_step.contains("loss:") {
            return;
        }
        let mut words = from_step.split_whitespace().peekable();
        let Some(word) = words.next() else { return };
        let step = word.parse().ok();
        report.push(&STEP, read_on(line, step, word));
        while let Some(key) = words.next() {
            let (metric, unit) = match key {
                "loss:" => (&LOSS, ""),
                "grad_norm:" => (&GRAD_NORM, ""),
                "memory:" => (&MEMORY, "GiB"),
                "tps:" => (&TPS, ""),
                "tflops:" => (&TFLOPS, ""),
                "mfu:" => (&MFU, "%"),
                _ => continue,
            };
            let word = words.next_if(|word| !word.ends_with(':')).unwrap_or_default();
            // `2.47GiB(3.12%)`: what is before the unit.
            let text = if unit.is_empty() { word } else { word.split(unit).next().unwrap_or(word) };
            report.push(metric, read_on(line, step, text));
        }
    }
}
