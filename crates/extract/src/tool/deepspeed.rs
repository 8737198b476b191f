//! DeepSpeed: its throughput timer, and the lines of Megatron-DeepSpeed.
//!
//! ```text
//! epoch=0/micro_step=10/global_step=10, RunningAvgSamplesPerSec=220.69, CurrSamplesPerSec=222.88, MemAllocated=0.07GB, …
//! ```
//! `RunningAvgSamplesPerSec` is the mean since the timer's start: the last line counts, a mean over lines counts early steps
//! many times. `-inf` is printed until the timer has started. Before version 0.7 a line began with epoch and step *of
//! that epoch* (`0/20, RunningAvg…`), earlier with `0/20, SamplesPerSec=…`, which is the running mean too.
//! `GB` are 2^30 bytes, of rank 0. With pipelines the timer sees a part of a step only, and its rates are far too high (311
//! in a log whose Megatron lines say 27.5): there `samples_per_second` is the rate.

use super::{
    LAST, LAST_AND_MEDIAN, Line, LineParser, Lines, Report, Tool, ToolMetric, higher, lower, megatron, plain, read_on,
};
use crate::tool::Headline;
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "deepspeed",
    reads: "the lines `…, RunningAvgSamplesPerSec=…, CurrSamplesPerSec=…` of its log, and those of Megatron-DeepSpeed",
    source: "https://github.com/deepspeedai/DeepSpeed/blob/master/deepspeed/utils/timer.py",
    lines: Some(Lines { needles: &NEEDLES, parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "lines of before 0.7 and since, and those of Megatron-DeepSpeed",
    metrics: || [&[&RUNNING, &CURRENT, &MAX_MEMORY, &LAST_GLOBAL_STEP], megatron::METRICS].concat(),
    labels: &[],
    example: "{name: deepspeed, metrics: [curr_samples_per_sec_median]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

const NEEDLES: [&str; 3] = [TIMER, megatron::NEEDLES[0], megatron::NEEDLES[1]];
const TIMER: &str = "SamplesPerSec=";

static RUNNING: ToolMetric =
    higher("running_avg_samples_per_sec", "samples/s", "samples a second since the start of the timer").of(LAST);
static CURRENT: ToolMetric =
    higher("curr_samples_per_sec", "samples/s", "samples a second since the line before").of(LAST_AND_MEDIAN);
/// A peak, which starts again after a restart.
static MAX_MEMORY: ToolMetric =
    lower("max_mem_allocated", "GB", "peak of allocated memory on rank 0, in units of 2^30 bytes")
        .of(&[Headline::of("", Reduce::Max)]);
static LAST_GLOBAL_STEP: ToolMetric = plain("last_global_step", "step", "the last step");

#[derive(Default)]
struct Parser {
    megatron: megatron::Parser,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        if !line.text.contains(TIMER) {
            return self.megatron.line(line, report);
        }
        let fields = line.whole_words().split(", ");
        // A rate counts also where the step cannot be read.
        let is_place = |field: &&str| step_of(field).is_some() || field.contains("global_step=");
        let place = fields.clone().find(is_place).unwrap_or_default();
        let step = step_of(place);
        if let Some((_, step_text)) = place.split_once("global_step=") {
            report.push(&LAST_GLOBAL_STEP, read_on(line, step, step_text));
        }
        let mut fields = fields.peekable();
        while let Some(field) = fields.next() {
            let Some((key, text)) = field.split_once('=') else { continue };
            // Lines of current versions continue up to the memory: a line that ends before was cut off.
            if fields.peek().is_none() && place.contains("global_step=") && !text.contains("GB") {
                return;
            }
            let metric = match key.trim() {
                "RunningAvgSamplesPerSec" | "SamplesPerSec" => &RUNNING,
                "CurrSamplesPerSec" => &CURRENT,
                "MaxMemAllocated" => &MAX_MEMORY,
                _ => continue,
            };
            let text = text.split_whitespace().next().unwrap_or_default().trim_end_matches(',');
            let text = if metric.unit == Some("GB") { text.strip_suffix("GB").unwrap_or(text) } else { text };
            report.push(metric, read_on(line, step, text));
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.megatron.finish(report);
    }
}

/// `… [INFO] [timer.py:199:stop] epoch=0/micro_step=20/global_step=10`, and `… [INFO] 0/20` of old versions.
fn step_of(field: &str) -> Option<u64> {
    let place = field.split_whitespace().next_back()?;
    if let Some((_, step)) = place.split_once("global_step=") {
        return step.parse().ok();
    }
    let (epoch, step) = place.split_once('/')?;
    epoch.parse::<u64>().ok()?;
    step.parse().ok()
}
