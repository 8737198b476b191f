//! PyTorch's ImageNet example, which many training scripts copied.
//!
//! ```text
//! Epoch: [0][  10/5005]  Time  0.321 ( 0.567)  Data  0.000 ( 0.110)  Loss 7.0010e+00 (7.1000e+00)  Acc@1   0.00 (  0.10)  Acc@5   0.78 (  0.50)
//!  *   Acc@1 69.758 Acc@5 89.076
//! ```
//! Each meter is the batch's value and, in parentheses, the mean of the epoch so far. That mean is taken once an epoch, from
//! its last line; lines are never averaged. The step of `time` counts batches over all epochs, the step of everything else is
//! the epoch, from 0. `Test:` lines are evaluation. Images per second are the batch size over the time: the log does not
//! name the batch size. Old versions say `Prec@1` for `Acc@1`.

use super::{Line, LineParser, Lines, Reading, Report, Tool, ToolMetric, fixed_on, higher, lower, plain, read_on};
use crate::tool::Headline;
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "pytorch-imagenet",
    reads: "the lines `Epoch: [N][…]  Time … (…)  …` and ` * Acc@1 … Acc@5 …` of the ImageNet example",
    source: "https://github.com/pytorch/examples/blob/main/imagenet/main.py",
    lines: Some(Lines { needles: &["Epoch: [", "* "], parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "old and new forms of the example (`Prec@1`, `Acc@1`), and timm",
    metrics: || vec![&TIME, &TIME_AVG, &DATA_AVG, &LOSS_AVG, &ACC1, &ACC5, &BATCHES],
    labels: &[],
    example: "{name: pytorch-imagenet, metrics: [time_median, acc1_final]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

const LAST_EPOCH: &[Headline] = &[Headline::of("_last_epoch", Reduce::Last)];
const FINAL: &[Headline] = &[Headline::of("_final", Reduce::Last)];
const MEDIAN: &[Headline] = &[Headline::of("_median", Reduce::Median)];

static TIME: ToolMetric = lower("time", "s", "time of a batch").of(MEDIAN);
static TIME_AVG: ToolMetric = lower("time_avg", "s", "mean time of a batch in the epoch").of(LAST_EPOCH);
static DATA_AVG: ToolMetric = lower("data_avg", "s", "mean wait for data in the epoch").of(LAST_EPOCH);
static LOSS_AVG: ToolMetric = lower("loss_avg", "1", "mean loss of the epoch").of(LAST_EPOCH);
static ACC1: ToolMetric = higher("acc1", "%", "accuracy of the first guess").of(FINAL);
static ACC5: ToolMetric = higher("acc5", "%", "accuracy of the first five guesses").of(FINAL);
static BATCHES: ToolMetric = plain("batches_per_epoch", "1", "batches in an epoch");

#[derive(Default)]
struct Parser {
    epoch: Option<Epoch>,
}

/// What the last line of an epoch said.
struct Epoch {
    number: u64,
    rank: Option<u32>,
    means: Vec<(&'static ToolMetric, Reading)>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        if let Some((_, rest)) = line.text.split_once("Epoch: [") {
            self.train(rest, line, report);
        } else if let Some((_, rest)) = line.text.split_once("* ") {
            let mut words = rest.split_whitespace().peekable();
            let number = self.epoch.as_ref().map(|epoch| epoch.number);
            while let (Some(name), Some(text)) = (words.next(), words.next()) {
                let metric = match name {
                    "Acc@1" | "Prec@1" => &ACC1,
                    "Acc@5" | "Prec@5" => &ACC5,
                    _ => return,
                };
                report.push(metric, fixed_on(line, number, text, 3));
                // timm prints the mean, and behind it what is missing: `(24.518)`.
                words.next_if(|word| word.starts_with('('));
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.end_epoch(report);
    }
}

impl Parser {
    /// `0][  10/5005]  Time  0.321 ( 0.567)  …`
    fn train(&mut self, text: &str, line: &Line<'_>, report: &mut Report) {
        let Some((number, rest)) = text.split_once("][") else { return };
        let Some((batch, meters)) = rest.split_once(']') else { return };
        let Some((batch, batches)) = batch.split_once('/') else { return };
        let Ok(number) = number.trim().parse::<u64>() else { return };
        let [batch, all] = [batch, batches].map(|count| count.trim().parse::<u64>().ok());
        if self.epoch.as_ref().is_some_and(|epoch| line.rank > epoch.rank) {
            return;
        }
        if self.epoch.as_ref().is_some_and(|epoch| epoch.number != number) {
            self.end_epoch(report);
        }
        report.push(&BATCHES, read_on(line, Some(number), batches));
        let mut means = Vec::with_capacity(3);
        for meter in meters.split_inclusive(')').filter_map(|meter| meter.strip_suffix(')')) {
            let Some((value, mean)) = meter.split_once('(') else { continue };
            let mut words = value.split_whitespace();
            let metric = match words.next() {
                Some("Time") => &TIME_AVG,
                Some("Data") => &DATA_AVG,
                Some("Loss") => &LOSS_AVG,
                _ => continue,
            };
            means.push((metric, read_on(line, Some(number), mean)));
            if let Some(value) = words.next().filter(|_| metric.name == TIME_AVG.name) {
                let step = all.and_then(|all| number.checked_mul(all)).and_then(|before| before.checked_add(batch?));
                report.push(&TIME, read_on(line, step, value));
            }
        }
        // A line that was cut off does not take the place of a whole one.
        if let Some(known) = self.epoch.as_ref().filter(|known| known.number == number && known.rank == line.rank) {
            let missing =
                known.means.iter().filter(|(metric, _)| means.iter().all(|(other, _)| other.name != metric.name));
            let missing: Vec<_> = missing.cloned().collect();
            means.extend(missing);
        }
        self.epoch = Some(Epoch { number, rank: line.rank, means });
    }

    fn end_epoch(&mut self, report: &mut Report) {
        for (metric, sample) in self.epoch.iter_mut().flat_map(|epoch| epoch.means.drain(..)) {
            report.push(metric, sample);
        }
    }
}
