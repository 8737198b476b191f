//! MaxText: a line a step, and its metrics file with one JSON object a step.
//!
//! ```text
//! completed step: 7, seconds: 6.051, TFLOP/s/device: 451.236, Tokens/s/device: 8123.462, total_weights: 393216, loss: 6.765
//! ```
//! Rates are per device, and on TPU v7 a device is a core. The first two steps after each start are artefacts (compilation,
//! then dispatch that did not wait for it) and any step may be one, such as one with a checkpoint: a mean or maximum over all
//! steps is meaningless.
//! While the batch size ramps up, and where the profiler starts or stops, only the loss is taken.

use super::python_literal::Literal;
use super::renamed::{Old, Renamed};
use super::{
    LAST, LAST_AND_MEDIAN, Line, LineParser, Lines, Report, Tool, ToolMetric, fixed_on, higher, lower, plain, read_on,
};
use crate::number;

pub(super) const TOOL: Tool = Tool {
    name: "maxtext",
    reads: "the lines `completed step: N, seconds: …, TFLOP/s/device: …` of its log, or its metrics file",
    source: "https://github.com/AI-Hypercomputer/maxtext/blob/main/src/maxtext/common/metric_logger.py",
    lines: Some(Lines {
        needles: &["completed step: ", PROFILER, "\"perf/step_time_seconds\""],
        parser: || Box::new(Parser),
    }),
    document: None,
    versions: "logs since 2023, and the metrics file",
    metrics: || vec![&STEP_TIME, &TFLOPS, &TOKENS, &LOSS, &LAST_STEP],
    labels: &[],
    example: "{name: maxtext, metrics: [tflops_per_device_median]}",
    attempts: None,
    cautions: &[],
    renamed: Some(renamed),
};

const PROFILER: &str = "completed profiler activation/deactivation step: ";

static STEP_TIME: ToolMetric = lower("step_time", "s", "time of a step").of(LAST_AND_MEDIAN);
static TFLOPS: ToolMetric =
    higher("tflops_per_device", "TFLOP/s", "floating-point operations a second and device").of(LAST_AND_MEDIAN);
static TOKENS: ToolMetric =
    higher("tokens_per_sec_per_device", "tokens/s", "tokens a second and device").of(LAST_AND_MEDIAN);
static LOSS: ToolMetric = lower("loss", "1", "training loss").of(LAST);
static LAST_STEP: ToolMetric = plain("last_step", "step", "the last step");

/// Version 0.1 named the median of the rates after the steps that it covered.
fn renamed(old: &Old<'_>) -> Option<Renamed> {
    let name = "tflops_per_device_median";
    old.name.strip_prefix(name)?.strip_prefix("_steps_")?;
    Some(Renamed::To { name: name.to_owned(), labels: old.labels.clone() })
}

struct Parser;

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        if line.text.contains("\"perf/step_time_seconds\"") {
            metrics_file(line, report);
        } else {
            log(line, report);
        }
    }
}

fn log(line: &Line<'_>, report: &mut Report) {
    let text = line.text;
    let Some((_, fields)) = text.split_once("completed step: ").or_else(|| text.split_once(PROFILER)) else {
        return;
    };
    let Some((number, fields)) = fields.split_once(", ") else { return };
    // A rate counts also where the step cannot be read.
    let step = number.trim().parse().ok();
    // A line that is not about a training step has only seconds.
    let is_timed = text.contains("TFLOP/s");
    report.push(&LAST_STEP, read_on(line, step, number));
    for field in fields.split(", ") {
        let Some((key, value)) = field.split_once(": ") else { continue };
        let metric = match key {
            "seconds" if is_timed => &STEP_TIME,
            // Without the device in 2023.
            "TFLOP/s/device" | "TFLOP/s" => &TFLOPS,
            "Tokens/s/device" => &TOKENS,
            "loss" => &LOSS,
            _ => continue,
        };
        let value = value.split_whitespace().next().unwrap_or_default();
        report.push(metric, fixed_on(line, step, value, 3));
    }
}

fn metrics_file(line: &Line<'_>, report: &mut Report) {
    let Some(object) = line.text.find('{').and_then(|at| line.text.get(at..)).and_then(Literal::read) else {
        return;
    };
    let of = |key: &str, step: Option<u64>| Some(object.get(key)?.reading(line.place(step)));
    let Some(number) = of("step", None) else { return };
    let step = number.value().and_then(number::whole);
    report.push(&LAST_STEP, number.at_step(step));
    let keys = [
        ("perf/step_time_seconds", &STEP_TIME),
        ("perf/per_device_tflops_per_sec", &TFLOPS),
        ("perf/per_device_tokens_per_sec", &TOKENS),
        ("learning/loss", &LOSS),
    ];
    for (key, metric) in keys {
        if let Some(reading) = of(key, step) {
            report.push(metric, reading);
        }
    }
}
