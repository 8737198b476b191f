//! TensorFlow's tf_cnn_benchmarks.
//!
//! ```text
//! 10  images/sec: 14.2 +/- 0.0 (jitter = 0.0)  7.020  0.500  1.000
//! total images/sec: 123.45
//! ```
//! Each `images/sec` is the mean of all steps so far: the last one or the total counts, and lines are never averaged. `+/-`
//! is its standard error, the jitter a scaled median deviation. With Horovod, and with several workers, a line is of *one
//! worker* and only the total is of all; then its metric is called `images_per_sec_last_per_rank`. Patched versions add a Unix
//! time behind the loss, with a blank. In an evaluation the total follows the accuracy, and is no speed of training.

use super::{
    LAST, Line, LineParser, Lines, Reading, Report, Tool, ToolMetric, fixed_on, higher, lower, plain, read_on,
};

pub(super) const TOOL: Tool = Tool {
    name: "tf-cnn-benchmarks",
    reads: "the lines `N images/sec: … +/- … (jitter = …) …` and `total images/sec: …` of its log",
    source: "https://github.com/tensorflow/benchmarks/blob/master/scripts/tf_cnn_benchmarks/benchmark_cnn.py",
    lines: Some(Lines {
        needles: &["images/sec: ", "Img/sec", "Variables:", "Accuracy @ 1 ="],
        parser: || Box::new(Parser::default()),
    }),
    document: None,
    versions: "the logs of 2018 to 2021, also with Horovod",
    metrics: || METRICS.to_vec(),
    labels: &[],
    example: "{name: tf-cnn-benchmarks, metrics: [images_per_sec_total]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

const UNIT: &str = "images/s";

/// Means so far: none of the ways to make one of several would mean anything but the last, see `finish`.
static SPEED: ToolMetric =
    higher("images_per_sec", UNIT, "mean of all steps so far, line by line; has no single value").of(&[]);
/// The last of them, of all workers or of one.
static LAST_SPEED: ToolMetric = higher("images_per_sec_last", UNIT, "mean of all steps, of all workers");
static LAST_SPEED_OF_RANK: ToolMetric =
    higher("images_per_sec_last_per_rank", UNIT, "the same, where a line is of one worker of several");
static TOTAL: ToolMetric = higher("images_per_sec_total", UNIT, "images a second of all workers");
static EVAL_TOTAL: ToolMetric = higher("eval_images_per_sec_total", UNIT, "images a second of an evaluation");
static UNCERTAINTY: ToolMetric = plain("images_per_sec_uncertainty", UNIT, "standard error of the mean");
static JITTER: ToolMetric = plain("images_per_sec_jitter", UNIT, "scaled median deviation of the steps");
static LOSS: ToolMetric = lower("total_loss", "1", "training loss").of(LAST);
static TOP_1: ToolMetric = higher("top_1_accuracy", "1", "accuracy of the first guess, as a share").of(LAST);
static TOP_5: ToolMetric = higher("top_5_accuracy", "1", "accuracy of the first five guesses, as a share").of(LAST);
static EVAL_TOP_1: ToolMetric = higher("eval_top_1_accuracy", "1", "the same of an evaluation").of(LAST);
static EVAL_TOP_5: ToolMetric = higher("eval_top_5_accuracy", "1", "the same of an evaluation").of(LAST);
static LAST_STEP: ToolMetric = plain("last_step", "step", "the last step");

static METRICS: [&ToolMetric; 13] = [
    &SPEED,
    &LAST_SPEED,
    &LAST_SPEED_OF_RANK,
    &TOTAL,
    &EVAL_TOTAL,
    &UNCERTAINTY,
    &JITTER,
    &LOSS,
    &TOP_1,
    &TOP_5,
    &EVAL_TOP_1,
    &EVAL_TOP_5,
    &LAST_STEP,
];

#[derive(Default)]
struct Parser {
    /// The last speed and the last total of the lowest rank.
    speed: Option<Reading>,
    total: Option<Reading>,
    /// True when lines are known to be of one worker among several.
    is_per_rank: bool,
    /// True after an evaluation's accuracy, until its total.
    is_evaluation: bool,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        if let Some((_, text)) = line.text.split_once("total images/sec: ") {
            let reading = first_number(line, None, text, 2);
            if self.is_evaluation {
                self.is_evaluation = false;
                return report.push(&EVAL_TOTAL, reading);
            }
            keep(&mut self.total, &reading);
            report.push(&TOTAL, reading);
        } else if let Some((before, text)) = line.text.split_once("images/sec: ") {
            self.step(before, text, line, report);
        } else if let Some((_, text)) = line.text.split_once("Variables:") {
            self.is_per_rank |= text.trim() == "horovod";
        } else if let Some((_, text)) = line.text.split_once("Accuracy @ 1 =") {
            self.is_evaluation = true;
            let (top_1, top_5) = text.split_once("Accuracy @ 5 =").unwrap_or((text, ""));
            for (metric, text) in [(&EVAL_TOP_1, top_1), (&EVAL_TOP_5, top_5)] {
                report.push(metric, first_number(line, None, text, 4));
            }
        } else if let Some((before, _)) = line.text.split_once("Img/sec")
            && before.split_whitespace().next_back() == Some("Step")
        {
            // Another start: its steps begin again.
            self.speed = None;
        }
    }

    fn finish(&mut self, report: &mut Report) {
        let Some(speed) = self.speed.take() else { return };
        let total = self.total.as_ref().and_then(Reading::value);
        let is_part = total.zip(speed.value()).is_some_and(|(total, speed)| total > 1.5 * speed);
        report.push(if self.is_per_rank || is_part { &LAST_SPEED_OF_RANK } else { &LAST_SPEED }, speed);
    }
}

impl Parser {
    /// `10` and `14.2 +/- 0.0 (jitter = 0.0)  7.020 1604265632  0.500  1.000`
    fn step(&mut self, before: &str, text: &str, line: &Line<'_>, report: &mut Report) {
        let Some(number) = before.split_whitespace().next_back() else { return };
        let step = number.parse().ok();
        if step.is_none() && !text.contains("+/-") {
            return;
        }
        // Collectors of logs make one blank of a tab: only the parenthesis says where the speed ends.
        let (speed, columns) = text.split_once(')').unwrap_or((text, ""));
        let reading = first_number(line, step, speed, 1);
        // Each of several workers prints every step.
        let is_of_another = |last: &Reading| last.step() == step || last.rank() != line.rank;
        self.is_per_rank |= self.speed.as_ref().is_some_and(is_of_another);
        keep(&mut self.speed, &reading);
        report.push(&SPEED, reading);
        report.push(&LAST_STEP, read_on(line, step, number));
        let spreads = [(&UNCERTAINTY, speed.split_once("+/-")), (&JITTER, speed.split_once("jitter ="))];
        for (metric, text) in spreads {
            if let Some((_, text)) = text {
                report.push(metric, first_number(line, step, text, 1));
            }
        }
        let is_time = |word: &&str| word.len() >= 10 && word.bytes().all(|byte| byte.is_ascii_digit());
        let columns = columns.split_whitespace().filter(|word| !is_time(word));
        for (metric, text) in [&LOSS, &TOP_1, &TOP_5].into_iter().zip(columns) {
            report.push(metric, first_number(line, step, text, 3));
        }
    }
}

/// Replaces `kept` unless that is of a lower rank, or the number may be what is missing.
fn keep(kept: &mut Option<Reading>, reading: &Reading) {
    if !reading.is_cut() && kept.as_ref().is_none_or(|kept| reading.rank() <= kept.rank()) {
        *kept = Some(reading.clone());
    }
}

fn first_number(line: &Line<'_>, step: Option<u64>, text: &str, decimals: usize) -> Reading {
    let word = text.split_whitespace().next().unwrap_or_default();
    fixed_on(line, step, word.trim_end_matches(')'), decimals)
}
