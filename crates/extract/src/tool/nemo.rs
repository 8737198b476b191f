//! NeMo: a line a step (NeMo 2), or the progress bar of Lightning (NeMo 1).
//!
//! ```text
//! Training epoch 1, iteration 10/999 | lr: 4.498e-06 | global_batch_size: 512 | global_step: 29 | reduced_train_loss: 11.03 | train_step_timing in s: 46.84
//! Epoch 0: :  47%|██▎  | 7/15 [06:19<07:13, reduced_train_loss=11.50, global_step=6.000, train_step_timing in s=49.50]
//! ```
//! `iteration` counts within an epoch; `global_step` is the step. Values have four significant digits. The bar rewrites
//! itself without new values, and rounds large steps (2004 is `2e+3`), which are then unknown. The first step warms up.

use super::{
    LAST, LAST_AND_MEDIAN, Line, LineParser, Lines, Report, Tool, ToolMetric, higher, lower, plain, read_on, sample_on,
};
use crate::number;

pub(super) const TOOL: Tool = Tool {
    name: "nemo",
    reads: "the lines `Training epoch …, iteration … | … | train_step_timing in s: …` of its log, or its progress bar",
    source: "https://github.com/NVIDIA-NeMo/NeMo/blob/v2.3.0/nemo/lightning/pytorch/callbacks/progress_printer.py",
    lines: Some(Lines {
        needles: &["train_step_timing in s", "reduced_train_loss"],
        parser: || Box::new(Parser::default()),
    }),
    document: None,
    versions: "NeMo 1 (progress bar) and NeMo 2",
    metrics: || vec![&STEP_TIMING, &TFLOPS, &TRAIN_LOSS, &VAL_LOSS, &GRAD_NORM, &GLOBAL_BATCH_SIZE, &LAST_GLOBAL_STEP],
    labels: &[],
    example: "{name: nemo, metrics: [train_step_timing_median]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

static STEP_TIMING: ToolMetric = lower("train_step_timing", "s", "time of a step").of(LAST_AND_MEDIAN);
static TFLOPS: ToolMetric =
    higher("tflops_per_gpu", "TFLOP/s/GPU", "floating-point operations a second and GPU").of(LAST_AND_MEDIAN);
static TRAIN_LOSS: ToolMetric = lower("reduced_train_loss", "1", "training loss, reduced over ranks").of(LAST);
static VAL_LOSS: ToolMetric = lower("val_loss", "1", "validation loss").of(LAST);
static GRAD_NORM: ToolMetric = plain("grad_norm", "1", "norm of the gradient").of(LAST);
static GLOBAL_BATCH_SIZE: ToolMetric = plain("global_batch_size", "1", "samples in a step");
static LAST_GLOBAL_STEP: ToolMetric = plain("last_global_step", "step", "the last step");

#[derive(Default)]
struct Parser {
    /// The values of the bar before.
    bar: String,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let of_line = line.whole_words().split_once("iteration ").filter(|_| line.text.contains(" | "));
        if let Some((_, fields)) = of_line {
            return read(fields.split(" | "), ": ", line, report);
        }
        let Some((values, fields)) = bar(line.text) else { return };
        if values != self.bar {
            values.clone_into(&mut self.bar);
            read(fields.split(", "), "=", line, report);
        }
    }
}

/// Of `… [06:19<07:13, v_num=0, reduced_train_loss=11.50, global_step=6.000]…` what changes with a step, and all fields.
fn bar(text: &str) -> Option<(&str, &str)> {
    let (before, values) = text.split_at_checked(text.find("reduced_train_loss=")?)?;
    let (values, _) = values.split_once(']')?;
    let open = before.rfind('[').filter(|open| before.get(*open..).is_some_and(|inside| !inside.contains(']')))?;
    Some((values, text.get(open + 1..before.len() + values.len())?))
}

fn read<'a>(fields: impl Iterator<Item = &'a str> + Clone, between: &str, line: &Line<'_>, report: &mut Report) {
    let values = fields.filter_map(|field| field.split_once(between));
    let step = values.clone().find(|(key, _)| key.trim() == "global_step");
    let step = step.filter(|(_, text)| !text.contains('e')).and_then(|(_, text)| number::parse(text).ok());
    let step = step.and_then(number::whole);
    for (key, text) in values {
        let metric = match key.trim() {
            "train_step_timing in s" => &STEP_TIMING,
            "TFLOPS_per_GPU" => &TFLOPS,
            "reduced_train_loss" => &TRAIN_LOSS,
            "val_loss" => &VAL_LOSS,
            "grad_norm" => &GRAD_NORM,
            "global_batch_size" => &GLOBAL_BATCH_SIZE,
            _ => continue,
        };
        let text = text.split_whitespace().next().unwrap_or_default();
        report.push(metric, read_on(line, step, text));
    }
    if let Some(step) = step {
        report.push(&LAST_GLOBAL_STEP, sample_on(line, Some(step), step as f64));
    }
}
