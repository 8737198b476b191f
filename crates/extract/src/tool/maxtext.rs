//! MaxText: a line a step, and its metrics file with one JSON object a step.
//!
//! ```text
//! completed step: 7, seconds: 6.051, TFLOP/s/device: 451.236, Tokens/s/device: 8123.462, total_weights: 393216, loss: 6.765
//! ```
//! Rates are per device, and on TPU v7 a device is a core. The first two steps after each start are artefacts (compilation,
//! then dispatch that did not wait for it) and any step may be one: a mean or maximum over all steps is meaningless, which is
//! why the median of the steps after them is a metric of its own, named after them: `tflops_per_device_median_steps_2_9`.
//! While the batch size ramps up, and where the profiler starts or stops, only the loss is taken.

use std::collections::BTreeMap;

use super::python_literal::Literal;
use super::{LAST, Line, LineParser, Lines, ONE, Report, Sample, Series, Tool, ToolMetric, sample_on};
use crate::number;
use kubebench_format::spec::v1::metric::{Better, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "maxtext",
    reads: "the lines `completed step: N, seconds: …, TFLOP/s/device: …` of its log, or its metrics file",
    source: "https://github.com/AI-Hypercomputer/maxtext/blob/main/src/maxtext/common/metric_logger.py",
    lines: Some(Lines {
        needles: &["completed step: ", PROFILER, "\"perf/step_time_seconds\""],
        parser: || Box::new(Parser::default()),
    }),
    document: None,
    metrics: None,
};

const PROFILER: &str = "completed profiler activation/deactivation step: ";
const ARTEFACTS: u64 = 2;

static STEP_TIME: ToolMetric =
    ToolMetric { name: "step_time", unit: "s", better: Some(Better::Lower), headlines: LAST };
static TFLOPS: ToolMetric =
    ToolMetric { name: "tflops_per_device", unit: "TFLOP/s", better: Some(Better::Higher), headlines: LAST };
static TOKENS: ToolMetric =
    ToolMetric { name: "tokens_per_sec_per_device", unit: "tokens/s", better: Some(Better::Higher), headlines: LAST };
static LOSS: ToolMetric = ToolMetric { name: "loss", unit: "1", better: Some(Better::Lower), headlines: LAST };
static LAST_STEP: ToolMetric = ToolMetric { name: "last_step", unit: "step", better: None, headlines: ONE };

#[derive(Default)]
struct Parser {
    /// TFLOP/s of the steps that are no artefacts.
    steady: Series,
    /// The first and the last of them.
    steps: Option<(u64, u64)>,
    /// The lowest rank that printed a step, whose steps these are.
    rank: Option<u32>,
    /// The step of the line before, and how many steps there were since the start.
    previous: Option<u64>,
    since_start: u64,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        if line.text.contains("\"perf/step_time_seconds\"") {
            self.metrics_file(line, report);
        } else {
            self.log(line, report);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        let reduced = self.steady.reduce(Reduce::Median);
        let (Some((first, last)), Some(value)) = (self.steps, reduced.value) else { return };
        let name = format!("{}_median_steps_{first}_{last}", TFLOPS.name);
        let sample = Sample { value, step: Some(last), line: reduced.line, rank: self.steady.rank() };
        report.push_named(&name, TFLOPS.unit, TFLOPS.better, &BTreeMap::new(), ONE, sample);
    }
}

impl Parser {
    fn log(&mut self, line: &Line<'_>, report: &mut Report) {
        let text = line.text;
        let Some((_, fields)) = text.split_once("completed step: ").or_else(|| text.split_once(PROFILER)) else {
            return;
        };
        let Some((step, fields)) = fields.split_once(", ") else { return };
        let Ok(step) = step.trim().parse() else { return };
        let is_timed = text.contains("/s/device: ");
        let mut tflops = None;
        report.push(&LAST_STEP, sample_on(line, Some(step), step as f64));
        for field in fields.split(", ") {
            let Some((key, value)) = field.split_once(": ") else { continue };
            let metric = match key {
                "seconds" if is_timed => &STEP_TIME,
                "TFLOP/s/device" => &TFLOPS,
                "Tokens/s/device" => &TOKENS,
                "loss" => &LOSS,
                _ => continue,
            };
            let value = value.split_whitespace().next().unwrap_or_default();
            if let Some(value) = number::fixed(value, 3) {
                report.push(metric, sample_on(line, Some(step), value));
                tflops = if metric.name == TFLOPS.name { Some(value) } else { tflops };
            }
        }
        self.count(step, tflops, line);
    }

    fn metrics_file(&mut self, line: &Line<'_>, report: &mut Report) {
        let Some(object) = line.text.find('{').and_then(|at| line.text.get(at..)).and_then(Literal::read) else {
            return;
        };
        let of = |key: &str| object.get(key).and_then(Literal::number);
        let Some(step) = of("step").and_then(number::whole) else { return };
        report.push(&LAST_STEP, sample_on(line, Some(step), step as f64));
        let keys = [
            ("perf/step_time_seconds", &STEP_TIME),
            ("perf/per_device_tflops_per_sec", &TFLOPS),
            ("perf/per_device_tokens_per_sec", &TOKENS),
            ("learning/loss", &LOSS),
        ];
        for (key, metric) in keys {
            if let Some(value) = of(key) {
                report.push(metric, sample_on(line, Some(step), value));
            }
        }
        self.count(step, of("perf/per_device_tflops_per_sec"), line);
    }

    /// Takes in what the median is made of. Every process may print the same steps.
    fn count(&mut self, step: u64, tflops: Option<f64>, line: &Line<'_>) {
        if self.previous.is_none() || line.rank < self.rank {
            *self = Self { rank: line.rank, ..Self::default() };
        }
        if line.rank > self.rank || self.previous == Some(step) {
            return;
        }
        if self.previous.is_some_and(|previous| step < previous) {
            self.since_start = 0;
        }
        self.previous = Some(step);
        self.since_start += 1;
        if let Some(value) = tflops.filter(|_| self.since_start > ARTEFACTS) {
            self.steady.push(sample_on(line, Some(step), value));
            self.steps = Some((self.steps.map_or(step, |(first, _)| first.min(step)), step));
        }
    }
}
