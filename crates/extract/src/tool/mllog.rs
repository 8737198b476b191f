//! MLPerf Training's log: events as JSON behind `:::MLLOG`, anywhere in a line.
//!
//! The score is the time from `run_start` to `run_stop`, and only a run whose `run_stop` says `success` has one:
//! `time_to_train`. Of any other run it is `run_duration`, and the run does not count. What metadata calls `epoch_num` is a
//! count of samples in some benchmarks; it is taken as the step, without a unit. `eval_accuracy` is a loss in some
//! benchmarks, so no way is said to be better. Logs of reference runs have no times, and then there are no durations.
//! `seed` is a metric only when all ranks log the same. Of several runs in one log the last counts.

use std::collections::BTreeMap;

use super::python_literal::Literal;
use super::{LAST, Line, LineParser, Lines, ONE, Report, Sample, Series, Tool, ToolMetric, sample_on};
use crate::number;
use kubebench_format::spec::v1::metric::{Better, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "mllog",
    reads: "the lines `:::MLLOG {…}` of MLPerf Training, also among other output",
    source: "https://github.com/mlcommons/logging/blob/master/mlperf_logging/mllog/mllog.py",
    lines: Some(Lines { needles: &[TAG], parser: || Box::new(Parser::default()) }),
    document: None,
    metrics: None,
};

const TAG: &str = ":::MLLOG";

static TIME_TO_TRAIN: ToolMetric =
    ToolMetric { name: "time_to_train", unit: "s", better: Some(Better::Lower), headlines: ONE };
static RUN_DURATION: ToolMetric = ToolMetric { name: "run_duration", unit: "s", better: None, headlines: ONE };
static INIT_TIME: ToolMetric = ToolMetric { name: "init_time", unit: "s", better: Some(Better::Lower), headlines: ONE };
static EVAL_ACCURACY: ToolMetric = ToolMetric { name: "eval_accuracy", unit: "1", better: None, headlines: LAST };
static EVAL_COUNT: ToolMetric = ToolMetric { name: "eval_accuracy_count", unit: "1", better: None, headlines: ONE };
static GLOBAL_BATCH_SIZE: ToolMetric =
    ToolMetric { name: "global_batch_size", unit: "1", better: None, headlines: ONE };
static SEED: ToolMetric = ToolMetric { name: "seed", unit: "1", better: None, headlines: ONE };

#[derive(Default)]
struct Parser {
    is_image_classification: bool,
    run: Run,
}

/// What was logged of one run.
#[derive(Default)]
struct Run {
    init_start: Option<f64>,
    init_stop: Option<Sample>,
    is_started: bool,
    start: Option<f64>,
    stop: Option<Stop>,
    evaluations: Series,
    seed: Option<Sample>,
    seeds_differ: bool,
}

struct Stop {
    time: Option<f64>,
    status: String,
    sample: Sample,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        // Two processes may have written into one line.
        for event in line.text.split(TAG).skip(1).filter_map(Literal::read) {
            self.event(&event, line, report);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        let run = &self.run;
        if let Some(sample) = run.seed.filter(|_| !run.seeds_differ) {
            report.push(&SEED, sample);
        }
        if !run.evaluations.is_empty() {
            let line = run.evaluations.reduce(Reduce::Last).line;
            let value = run.evaluations.count() as f64;
            report.push(&EVAL_COUNT, Sample { value, step: None, line, rank: run.evaluations.rank() });
        }
        if let Some((start, stop)) = run.init_start.zip(run.init_stop) {
            report.push(&INIT_TIME, Sample { value: seconds(start, stop.value), ..stop });
        }
        let Some(stop) = &run.stop else {
            if run.is_started {
                report.invalid("there is a `run_start` but no `run_stop`: the run did not end, or its log was cut off");
            }
            return;
        };
        let is_success = stop.status == "success";
        if let Some((start, end)) = run.start.zip(stop.time) {
            let metric = if is_success { &TIME_TO_TRAIN } else { &RUN_DURATION };
            report.push(metric, Sample { value: seconds(start, end), ..stop.sample });
        }
        if !is_success {
            let status = if stop.status.is_empty() { "no status" } else { &stop.status };
            report.invalid(format!(
                "`run_stop` says `{status}`, not `success`: the run did not reach its target, so its duration is no time to train"
            ));
        }
    }
}

impl Parser {
    fn event(&mut self, event: &Literal, line: &Line<'_>, report: &mut Report) {
        let Some(key) = event.get("key").and_then(Literal::text) else { return };
        let metadata = event.get("metadata");
        let time = event.get("time_ms").and_then(Literal::number);
        let value = event.get("value");
        let step = metadata.and_then(step_of);
        let sample = value.and_then(Literal::number).map(|number| sample_on(line, step, number));
        match (key, sample) {
            ("submission_benchmark", _) => {
                self.is_image_classification = value.and_then(Literal::text) == Some("resnet");
            }
            ("init_start", _) => self.run.start_init(time),
            ("init_stop", _) => self.run.init_stop = time.map(|time| sample_on(line, None, time)),
            ("run_start", _) => self.run.start_run(time),
            ("run_stop", _) if self.run.stop.is_none() => {
                let status = metadata.and_then(|metadata| metadata.get("status")).and_then(Literal::text);
                let status = status.unwrap_or_default().to_owned();
                self.run.stop = Some(Stop { time, status, sample: sample_on(line, step, 0.0) });
            }
            ("seed", Some(sample)) => self.run.take_seed(sample),
            ("global_batch_size", Some(sample)) => report.push(&GLOBAL_BATCH_SIZE, sample),
            ("eval_accuracy", Some(sample)) => {
                self.run.evaluations.push(sample);
                report.push(&EVAL_ACCURACY, sample);
            }
            ("throughput", Some(sample)) => self.push_rate(key, key, sample, report),
            ("tracked_stats", _) => {
                for (rate, value) in value.map(Literal::entries).unwrap_or_default() {
                    if let Some(number) = value.number() {
                        let name = format!("tracked_stats.{rate}");
                        self.push_rate(rate, &name, sample_on(line, step, number), report);
                    }
                }
            }
            _ => {}
        }
    }

    /// Takes in a rate of the run; what it counts are images in one benchmark only.
    fn push_rate(&self, rate: &str, name: &str, sample: Sample, report: &mut Report) {
        let (unit, better) = match rate {
            "imgs_sec" => ("images/s", Some(Better::Higher)),
            "throughput" if self.is_image_classification => ("images/s", Some(Better::Higher)),
            "throughput" => ("samples/s", Some(Better::Higher)),
            _ => ("1", None),
        };
        report.push_named(name, unit, better, &BTreeMap::new(), LAST, sample);
    }
}

impl Run {
    /// Several processes log the start; one after a run has started begins another run.
    fn start_init(&mut self, time: Option<f64>) {
        if self.is_started {
            *self = Self::default();
        }
        self.init_start = self.init_start.or(time);
    }

    fn start_run(&mut self, time: Option<f64>) {
        if self.stop.is_some() {
            *self = Self::default();
        }
        self.is_started = true;
        self.start = self.start.or(time);
    }

    fn take_seed(&mut self, sample: Sample) {
        #[expect(clippy::float_cmp, reason = "seeds are whole numbers")]
        let differs = self.seed.is_some_and(|seed| seed.value != sample.value);
        self.seeds_differ |= differs;
        self.seed = Some(sample);
    }
}

fn seconds(from: f64, to: f64) -> f64 {
    (to - from) / 1000.0
}

/// A number, or a list whose last number is the step.
fn step_of(metadata: &Literal) -> Option<u64> {
    let keys = ["step", "samples_count", "epoch_num", "epoch_count"];
    let value = keys.into_iter().find_map(|key| metadata.get(key))?;
    let value = if let Literal::List(values) = value { values.last()? } else { value };
    value.number().and_then(number::whole)
}
