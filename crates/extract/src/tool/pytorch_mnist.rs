//! PyTorch's MNIST example, and its variants in Horovod, Katib and the Kubeflow training operator.
//!
//! ```text
//! Train Epoch: 1 [640/60000 (1%)]  Loss: 2.300000
//! Test set: Average loss: 0.0500, Accuracy: 9811/10000 (98%)
//! ```
//! The step is the epoch. The percentage is rounded to whole numbers, so the accuracy is computed from the counts if they are
//! printed; Horovod prints `Accuracy: 98.11%` instead. Katib and the operator print `loss=2.3000` and in the end
//! `accuracy=0.9664`, a share. An average loss of 0.0000 is a loss.

use super::{
    LAST, Line, LineParser, Lines, Report, Tool, ToolMetric, fixed_on, higher, lower, plain, read_on, sample_on,
    take_on,
};
use crate::number;

pub(super) const TOOL: Tool = Tool {
    name: "pytorch-mnist",
    reads: "the lines `Train Epoch: …`, `Test set: …` and `accuracy=…` of the MNIST example",
    source: "https://github.com/pytorch/examples/blob/main/mnist/main.py",
    lines: Some(Lines {
        needles: &["Train Epoch: ", "Test set: ", "accuracy="],
        parser: || Box::new(Parser::default()),
    }),
    document: None,
    versions: "the example, and those of Horovod, Katib and the training operator",
    metrics: || vec![&TRAIN_LOSS, &LOSS, &TEST_LOSS, &TEST_ACCURACY, &ACCURACY, &EPOCHS, &LAST_SAMPLE],
    labels: &[],
    example: "{name: pytorch-mnist, metrics: [test_accuracy_last]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

static TRAIN_LOSS: ToolMetric = lower("train_loss", "1", "training loss").of(LAST);
static LOSS: ToolMetric = lower("loss", "1", "training loss, as Katib and the training operator print it").of(LAST);
static TEST_LOSS: ToolMetric = lower("test_avg_loss", "1", "mean loss on the test set").of(LAST);
static TEST_ACCURACY: ToolMetric = higher("test_accuracy", "%", "accuracy on the test set, from its counts").of(LAST);
static ACCURACY: ToolMetric =
    higher("accuracy", "1", "accuracy as a share, as Katib and the training operator print it");
static EPOCHS: ToolMetric = plain("epochs", "1", "the last epoch");
static LAST_SAMPLE: ToolMetric = plain("last_sample", "1", "how many samples of the epoch were trained");

#[derive(Default)]
struct Parser {
    epoch: Option<u64>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        if let Some((_, rest)) = line.text.split_once("Train Epoch: ") {
            self.train(rest, line, report);
        } else if let Some((_, rest)) = line.text.split_once("Test set: ") {
            self.test(rest, line, report);
        } else if let Some(text) = line.text.split_whitespace().find_map(|word| word.strip_prefix("accuracy=")) {
            report.push(&ACCURACY, fixed_on(line, self.epoch, text, 4));
        }
    }
}

impl Parser {
    /// `1 [640/60000 (1%)]  Loss: 2.300000`
    fn train(&mut self, text: &str, line: &Line<'_>, report: &mut Report) {
        let Some((epoch, rest)) = text.split_once('[') else { return };
        let Some((place, loss)) = rest.split_once(']') else { return };
        let Ok(epoch) = epoch.trim().parse::<u64>() else { return };
        self.epoch = Some(epoch);
        report.push(&EPOCHS, sample_on(line, self.epoch, epoch as f64));
        if let Some((sample, _)) = place.rsplit_once('/') {
            report.push(&LAST_SAMPLE, read_on(line, self.epoch, sample));
        }
        if let Some((_, loss)) = loss.split_once("Loss:") {
            report.push(&TRAIN_LOSS, fixed_on(line, self.epoch, first_word(loss), 6));
        } else if let Some(loss) = loss.trim_start().strip_prefix("loss=") {
            report.push(&LOSS, fixed_on(line, self.epoch, first_word(loss), 4));
        }
    }

    /// `Average loss: 0.0500, Accuracy: 9811/10000 (98%)`, or `Accuracy: 98.11%`
    fn test(&self, text: &str, line: &Line<'_>, report: &mut Report) {
        for field in text.split(", ") {
            let Some((key, value)) = field.split_once(':') else { continue };
            match key.trim() {
                "Average loss" => report.push(&TEST_LOSS, fixed_on(line, self.epoch, first_word(value), 4)),
                "Accuracy" => {
                    let percentage = || number::parse(value.trim().strip_suffix('%')?).ok();
                    let read = share(value).or_else(percentage);
                    let read = read.ok_or_else(|| format!("`{}` is not a share", value.trim()));
                    report.push(&TEST_ACCURACY, take_on(line, self.epoch, read));
                }
                _ => {}
            }
        }
    }
}

/// `9811/10000 (98%)` in percent, not rounded. Without the parenthesis the second count may have been cut off.
fn share(text: &str) -> Option<f64> {
    let (counts, _) = text.split_once('(')?;
    let (right, of) = counts.split_once('/')?;
    let of = number::parse(of).ok().filter(|of| *of > 0.0)?;
    Some(100.0 * number::parse(right).ok()? / of)
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
