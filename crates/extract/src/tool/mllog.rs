//! MLPerf Training's log: events as JSON behind `:::MLLOG`, anywhere in a line.
//!
//! The score is the time from `run_start` to `run_stop`, and only a run whose `run_stop` says `success` has one:
//! `time_to_train`. Of any other run it is `run_duration`, and the run does not count. What metadata calls `epoch_num` is a
//! count of samples in some benchmarks; it is taken as the step, without a unit. `eval_accuracy` is a loss in some
//! benchmarks, so neither direction is better. Logs of reference runs have no times, and then there are no durations.
//! `seed` is a metric only when all ranks log the same. Of several runs in one log the last counts.

use std::collections::BTreeMap;

use super::python_literal::Literal;
use super::{
    LAST, Line, LineParser, Lines, Reading, Report, Sample, Tool, ToolMetric, find, higher, label, lower, plain,
};
use crate::number;
use crate::series::Series;
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "mllog",
    reads: "the lines `:::MLLOG {…}` of MLPerf Training, also among other output",
    source: "https://github.com/mlcommons/logging/blob/master/mlperf_logging/mllog/mllog.py",
    lines: Some(Lines { needles: &[TAG], parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "MLPerf Training 2.1",
    metrics,
    labels: &[label("metric", "what `eval_accuracy` is of, where the log says it: `FID`, `CLIP`")],
    example: "{name: mllog, metrics: [time_to_train]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

const TAG: &str = ":::MLLOG";
/// The events that are read.
const KEYS: [&str; 9] = [
    "init_start",
    "init_stop",
    "run_start",
    "run_stop",
    "seed",
    "global_batch_size",
    "eval_accuracy",
    "throughput",
    "tracked_stats",
];

static TIME_TO_TRAIN: ToolMetric = lower("time_to_train", "s", "from `run_start` to a `run_stop` that says `success`");
static RUN_DURATION: ToolMetric = plain("run_duration", "s", "the same where it says anything else");
static INIT_TIME: ToolMetric = lower("init_time", "s", "time of the initialization");
static EVAL_ACCURACY: ToolMetric =
    plain("eval_accuracy", "1", "what evaluations measured; a loss in some benchmarks").of(LAST);
static EVAL_COUNT: ToolMetric = plain("eval_accuracy_count", "1", "how many evaluations there were");
static GLOBAL_BATCH_SIZE: ToolMetric = plain("global_batch_size", "1", "samples in a step");
static SEED: ToolMetric = plain("seed", "1", "the seed, where all ranks log the same");

static IMAGES: [ToolMetric; 2] = [
    higher("throughput", "images/s", "images a second, of image classification").of(LAST),
    higher("tracked_stats.{throughput|imgs_sec}", "images/s", "images a second").of(LAST),
];
static SAMPLES: [ToolMetric; 2] = [
    higher("throughput", "samples/s", "samples a second, of other benchmarks").of(LAST),
    higher("tracked_stats.throughput", "samples/s", "samples a second, of other benchmarks").of(LAST),
];
static TRACKED: ToolMetric = plain("tracked_stats.{name}", "1", "anything else in `tracked_stats`").of(LAST);

fn metrics() -> Vec<&'static ToolMetric> {
    let of_run = [&TIME_TO_TRAIN, &RUN_DURATION, &INIT_TIME, &EVAL_ACCURACY, &EVAL_COUNT, &GLOBAL_BATCH_SIZE, &SEED];
    of_run.into_iter().chain(&IMAGES).chain(&SAMPLES).chain([&TRACKED]).collect()
}

#[derive(Default)]
struct Parser {
    is_image_classification: bool,
    run: Run,
}

/// What was logged of one run.
#[derive(Default)]
struct Run {
    init_start: Option<Reading>,
    init_stop: Option<Reading>,
    is_started: bool,
    start: Option<Reading>,
    stop: Option<Stop>,
    /// By what metadata says of them.
    evaluations: BTreeMap<BTreeMap<String, String>, Series>,
    seed: Option<Reading>,
    seeds_differ: bool,
}

struct Stop {
    time: Option<Reading>,
    status: String,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        // Two processes may have written into one line.
        for text in line.text.split(TAG).skip(1) {
            if let Some(event) = Literal::read(text) {
                self.event(&event, line, report);
            } else if let Some(key) = KEYS.iter().find(|key| line.is_whole && text.contains(&format!("\"{key}\""))) {
                report.invalid(format!("line {}: the event `{key}` cannot be read", line.number));
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        let run = &self.run;
        if let Some(seed) = run.seed.clone().filter(|_| !run.seeds_differ) {
            report.push(&SEED, seed);
        }
        for (labels, series) in &run.evaluations {
            let line = series.reduce(Reduce::Last).line;
            let value = series.count() as f64;
            report.push_labeled(&EVAL_COUNT, labels, Sample { value, step: None, line, rank: series.rank() });
        }
        if let Some((start, stop)) = run.init_start.as_ref().zip(run.init_stop.as_ref()) {
            report.push(&INIT_TIME, seconds(start, stop));
        }
        let Some(stop) = &run.stop else {
            if run.is_started {
                report.invalid("there is a `run_start` but no `run_stop`: the run did not end, or its log was cut off");
            }
            return;
        };
        let is_success = stop.status == "success";
        if let Some((start, end)) = run.start.as_ref().zip(stop.time.as_ref()) {
            let metric = if is_success { &TIME_TO_TRAIN } else { &RUN_DURATION };
            report.push(metric, seconds(start, end));
        }
        if !is_success {
            let status = if stop.status.is_empty() { "no status" } else { &stop.status };
            report.invalid(format!(
                "`run_stop` says `{status}`, not `success`: the run did not reach its target, so its duration is not a \
                 time to train"
            ));
        }
    }
}

impl Parser {
    fn event(&mut self, event: &Literal, line: &Line<'_>, report: &mut Report) {
        let Some(key) = event.get("key").and_then(Literal::text) else { return };
        let metadata = event.get("metadata");
        let time = event.get("time_ms").map(|time| time.reading(line.place(None)));
        let value = event.get("value");
        let step = metadata.and_then(step_of);
        let reading = value.map(|value| value.reading(line.place(step)));
        match (key, reading) {
            ("submission_benchmark", _) => {
                self.is_image_classification = value.and_then(Literal::text) == Some("resnet");
            }
            ("init_start", _) => self.run.start_init(time),
            ("init_stop", _) => self.run.init_stop = time,
            ("run_start", _) => self.run.start_run(time),
            ("run_stop", _) if self.run.stop.is_none() => {
                let status = metadata.and_then(|metadata| metadata.get("status")).and_then(Literal::text);
                let status = status.unwrap_or_default().to_owned();
                self.run.stop = Some(Stop { time: time.map(|time| time.at_step(step)), status });
            }
            ("seed", Some(seed)) => self.run.take_seed(seed),
            ("global_batch_size", Some(reading)) => report.push(&GLOBAL_BATCH_SIZE, reading),
            ("eval_accuracy", Some(reading)) => {
                // Two metrics of one model are two series: `FID`, `CLIP`.
                let metric = metadata.and_then(|metadata| metadata.get("metric")).and_then(Literal::text);
                let labels: BTreeMap<String, String> =
                    metric.map(|metric| ("metric".to_owned(), metric.to_owned())).into_iter().collect();
                self.run.evaluations.entry(labels.clone()).or_default().read(reading.clone());
                report.push_labeled(&EVAL_ACCURACY, &labels, reading);
            }
            ("throughput", Some(reading)) => self.push_rate(key, key, reading, report),
            ("tracked_stats", _) => {
                let rates = value.map(Literal::entries).unwrap_or_default();
                for (rate, value) in rates.iter().filter(|(_, value)| value.is_value()) {
                    let name = format!("tracked_stats.{rate}");
                    self.push_rate(rate, &name, value.reading(line.place(step)), report);
                }
            }
            _ => {}
        }
    }

    /// Adds a rate of the run; its unit is images in one benchmark only.
    fn push_rate(&self, rate: &str, name: &str, reading: Reading, report: &mut Report) {
        let of_kind = match rate {
            "imgs_sec" => Some(&IMAGES),
            "throughput" if self.is_image_classification => Some(&IMAGES),
            "throughput" => Some(&SAMPLES),
            _ => None,
        };
        let metric = of_kind.and_then(|metrics| find(metrics, name)).unwrap_or(&TRACKED);
        report.push_named(metric, name, &BTreeMap::new(), reading);
    }
}

impl Run {
    /// Several processes log the start; one after a run has started begins another run.
    fn start_init(&mut self, time: Option<Reading>) {
        if self.is_started {
            *self = Self::default();
        }
        self.init_start = self.init_start.take().or(time);
    }

    fn start_run(&mut self, time: Option<Reading>) {
        if self.stop.is_some() {
            *self = Self::default();
        }
        self.is_started = true;
        self.start = self.start.take().or(time);
    }

    fn take_seed(&mut self, seed: Reading) {
        self.seeds_differ |= self.seed.as_ref().is_some_and(|known| known.value() != seed.value());
        self.seed = Some(seed);
    }
}

/// Returns the seconds between two times in milliseconds, of the line of the second.
fn seconds(from: &Reading, to: &Reading) -> Reading {
    match from.value() {
        Some(from) => to.clone().map(|to| (to - from) / 1000.0),
        None => from.clone(),
    }
}

/// A number, or a list whose last number is the step.
fn step_of(metadata: &Literal) -> Option<u64> {
    let keys = ["step", "samples_count", "epoch_num", "epoch_count"];
    let value = keys.into_iter().find_map(|key| metadata.get(key))?;
    let value = if let Literal::List(values) = value { values.last()? } else { value };
    value.number().and_then(number::whole)
}
