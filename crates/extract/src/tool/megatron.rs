//! Megatron-LM, Megatron-DeepSpeed and Megatron-Bridge: a line every `--log-interval` iterations.
//!
//! ```text
//!  [2026-01-05 10:00:00] iteration      100/    5000 | consumed samples: … | elapsed time per iteration (ms): 1382.2 | … |
//! ```
//! Times and rates are means over the iterations since the line before. Which keys a line has varies: a loss is printed
//! only when its mean is above zero, so one that is nan is *not* printed and shows as `number of nan iterations` instead.
//! The last rank prints the line. Megatron-Bridge prints `Step Time : 5.39s GPU utilization: 661.5MODEL_TFLOP/s/GPU` on
//! rank 0 before it. Lines about validation (`validation loss at iteration …`) have other keys and are not read.

use super::{
    LAST, LAST_AND_MEDIAN, Line, LineParser, Lines, Reading, Report, Tool, ToolMetric, higher, lower, plain, read_on,
};
use crate::number;
use crate::tool::Headline;
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const NEEDLES: [&str; 2] = ["elapsed time per iteration (ms):", MODEL_TFLOPS];

pub(super) const TOOL: Tool = Tool {
    name: "megatron",
    reads: "the lines `iteration N/ M | … | elapsed time per iteration (ms): … | …` of its log",
    source: "https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/training.py",
    lines: Some(Lines { needles: &NEEDLES, parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "Megatron-LM, Megatron-DeepSpeed, Megatron-Bridge and AMD Primus",
    metrics: || METRICS.to_vec(),
    labels: &[],
    example: "{name: megatron, metrics: [throughput_per_gpu_median]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

const MODEL_TFLOPS: &str = "MODEL_TFLOP/s/GPU";
/// Counters of what happened since the line before.
const TOTAL: &[Headline] = &[Headline::of("", Reduce::Sum)];

static ELAPSED: ToolMetric =
    lower("elapsed_time_per_iteration", "ms", "mean time of an iteration since the line before").of(LAST_AND_MEDIAN);
static THROUGHPUT: ToolMetric =
    higher("throughput_per_gpu", "TFLOP/s/GPU", "floating-point operations a second and GPU").of(LAST_AND_MEDIAN);
static SAMPLES_PER_SECOND: ToolMetric =
    higher("samples_per_second", "samples/s", "samples a second").of(LAST_AND_MEDIAN);
static LM_LOSS: ToolMetric = lower("lm_loss", "1", "loss of the language model").of(LAST);
static GRAD_NORM: ToolMetric = plain("grad_norm", "1", "norm of the gradient").of(LAST);
static GLOBAL_BATCH_SIZE: ToolMetric = plain("global_batch_size", "1", "samples in an iteration");
static SKIPPED: ToolMetric =
    lower("skipped_iterations", "iteration", "iterations that were skipped, of all lines").of(TOTAL);
static NAN: ToolMetric = lower("nan_iterations", "iteration", "iterations whose loss was nan, of all lines").of(TOTAL);
static LAST_ITERATION: ToolMetric = plain("last_iteration", "iteration", "the last iteration");

/// All of them.
pub(super) static METRICS: &[&ToolMetric] = &[
    &ELAPSED,
    &THROUGHPUT,
    &SAMPLES_PER_SECOND,
    &LM_LOSS,
    &GRAD_NORM,
    &GLOBAL_BATCH_SIZE,
    &SKIPPED,
    &NAN,
    &LAST_ITERATION,
];

#[derive(Default)]
pub(super) struct Parser {
    /// What Megatron-Bridge printed for the iteration whose line comes next.
    throughput: Option<Reading>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let mut iteration = None;
        // A field without a `|` at its end was cut off.
        for field in line.text.split_inclusive('|').filter_map(|field| field.strip_suffix('|')) {
            let Some(step) = iteration else {
                // A rate counts also where its iteration cannot be read.
                if let Some(text) = iteration_of(field) {
                    let step = text.parse().ok();
                    report.push(&LAST_ITERATION, read_on(line, step, text));
                    iteration = Some(step);
                }
                continue;
            };
            let Some((key, value)) = field.rsplit_once(':') else { continue };
            if let Some(metric) = metric_of(key.trim()) {
                report.push(metric, read_on(line, step, current(value)));
            }
        }
        if let Some(word) = model_tflops(line.text) {
            self.flush(None, report);
            self.throughput = Some(read_on(line, None, word));
        }
        if let Some(step) = iteration {
            self.flush(step, report);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.flush(None, report);
    }
}

impl Parser {
    fn flush(&mut self, step: Option<u64>, report: &mut Report) {
        if let Some(reading) = self.throughput.take() {
            report.push(&THROUGHPUT, reading.at_step(step));
        }
    }
}

/// ` [2026-01-05 10:00:00] iteration       10/    1000 `
fn iteration_of(field: &str) -> Option<&str> {
    let (_, counts) = field.rsplit_once("iteration ")?;
    let (iteration, of) = counts.rsplit_once('/')?;
    of.trim().parse::<u64>().ok()?;
    Some(iteration.trim())
}

fn metric_of(key: &str) -> Option<&'static ToolMetric> {
    Some(match key {
        "elapsed time per iteration (ms)" => &ELAPSED,
        // The second is Megatron-DeepSpeed's, per GPU as well.
        "throughput per GPU (TFLOP/s/GPU)" | "TFLOPs" => &THROUGHPUT,
        "samples per second" => &SAMPLES_PER_SECOND,
        "lm loss" => &LM_LOSS,
        "grad norm" => &GRAD_NORM,
        "global batch size" => &GLOBAL_BATCH_SIZE,
        "number of skipped iterations" => &SKIPPED,
        "number of nan iterations" => &NAN,
        _ => return None,
    })
}

/// `663.5MODEL_TFLOP/s/GPU`, `663.5 MODEL_TFLOP/s/GPU`
fn model_tflops(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(MODEL_TFLOPS)?;
    before.split_whitespace().next_back()
}

/// Of `13372.8/13364.7`, which AMD Primus prints, the value of these iterations: behind it is the mean of all so far.
fn current(text: &str) -> &str {
    let is_decimal = |text: &str| text.contains('.') && number::parse(text).is_ok();
    let is_pair = |(one, mean): &(&str, &str)| is_decimal(one) && is_decimal(mean);
    text.split_once('/').filter(is_pair).map_or(text, |(current, _)| current)
}
