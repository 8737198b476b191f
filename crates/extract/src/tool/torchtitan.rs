//! torchtitan: a line a step, colored, of every rank that it was asked to print.
//!
//! `tps`, `tflops` and `mfu` are per device. The last line of a log is often a message about garbage collection.

use super::{LAST, LAST_AND_MEDIAN, Line, LineParser, Lines, Report, Tool, ToolMetric, read_on};
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "torchtitan",
    reads: "the lines `step: N  loss: …  memory: …  tps: …` of its log",
    source: "https://github.com/pytorch/torchtitan/blob/main/torchtitan/components/metrics.py",
    lines: Some(Lines { needles: &["step:"], parser: || Box::new(Parser) }),
    document: None,
    metrics: Some(|| vec![&TPS, &TFLOPS, &MFU, &MEMORY, &LOSS, &GRAD_NORM, &STEP]),
    renamed: None,
};

const TPS: ToolMetric =
    ToolMetric { name: "tps", unit: "tokens/s/device", better: Some(Better::Higher), headlines: LAST_AND_MEDIAN };
const TFLOPS: ToolMetric =
    ToolMetric { name: "tflops", unit: "TFLOP/s/device", better: Some(Better::Higher), headlines: LAST_AND_MEDIAN };
const MFU: ToolMetric = ToolMetric { name: "mfu", unit: "%", better: Some(Better::Higher), headlines: LAST_AND_MEDIAN };
const MEMORY: ToolMetric = ToolMetric { name: "memory", unit: "GiB", better: Some(Better::Lower), headlines: LAST };
const LOSS: ToolMetric = ToolMetric { name: "loss", unit: "1", better: Some(Better::Lower), headlines: LAST };
const GRAD_NORM: ToolMetric = ToolMetric { name: "grad_norm", unit: "1", better: None, headlines: LAST };
const STEP: ToolMetric = ToolMetric { name: "last_step", unit: "step", better: None, headlines: super::ONE };

struct Parser;

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let Some((before, from_step)) = line.whole_words().split_once("step:") else { return };
        // `validate step:` has the same keys and another meaning.
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
