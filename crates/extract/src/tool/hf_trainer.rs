//! The Trainer of Hugging Face Transformers: dicts in its log, and the files that it writes.
//!
//! ```text
//! {'loss': '0.4', 'grad_norm': '1.2', 'learning_rate': '5e-05', 'epoch': '1.0'}
//! {'train_runtime': 116.19, 'train_samples_per_second': 6.885, 'train_loss': 2.81, 'epoch': 0.15}
//! ***** train metrics *****
//!   train_runtime            = 0:01:56.19
//! ```
//! Version 5 prints its numbers as texts. Dicts follow progress bars, and the prefix of another rank.
//! `train_loss` is the mean of the training, the last `loss` is not. The log's dicts have no step, so a window of steps needs
//! `trainer_state.json`. The blocks repeat what the dicts said, with durations cut to hundredths, and count only for what no
//! dict had. In `all_results.json` every metric has one value, so names have no `_last`.

use std::collections::{BTreeMap, BTreeSet};

use super::python_literal::Literal;
use super::{Document, LAST, Line, LineParser, Lines, Reading, Report, Sample, Tool, ToolMetric, higher, lower, plain};
use crate::line::without_prefix;
use crate::number;
use crate::tool::Headline;
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "hf-trainer",
    reads: "the dicts `{'loss': …}` in its log, `trainer_state.json`, `all_results.json` and `train_results.json`",
    source: "https://github.com/huggingface/transformers/blob/main/src/transformers/trainer.py",
    lines: Some(Lines { needles: &["{'", " metrics *****", " ="], parser: || Box::new(Parser::default()) }),
    document: Some(Document::Text(read_document)),
    versions: "Transformers 4 and 5.23",
    metrics: || METRICS.iter().chain([&GLOBAL_STEP]).chain(RESULTS).collect(),
    labels: &[],
    example: "{name: hf-trainer, metrics: [train_samples_per_second, train_loss]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

const LAST_STEP: &[Headline] = &[Headline::of("_last_step", Reduce::Last)];
static GLOBAL_STEP: ToolMetric = plain("global_step", "step", "the last step, in `trainer_state.json`");

/// What the Trainer and its scripts log. The summary of the training, and results in a file, have one value a metric; all else
/// is a series.
static METRICS: &[ToolMetric] = &[
    lower("train_runtime", "s", "how long the training took"),
    higher("train_samples_per_second", "samples/s", "samples a second"),
    higher("train_steps_per_second", "steps/s", "steps a second"),
    higher("train_tokens_per_second", "tokens/s", "tokens a second"),
    lower("train_loss", "1", "mean loss of the training"),
    plain("train_samples", "samples", "samples of the training"),
    plain("train_{kind}_mem_{what}", "B", "memory of the training"),
    plain("train_{metric}", "1", "any other value of the summary"),
    plain("total_flos", "FLOP", "floating-point operations of the training"),
    lower("loss", "1", "loss of the last step").of(LAST_STEP),
    lower("{split}_loss", "1", "loss of an evaluation").of(LAST),
    higher("{split}_accuracy", "1", "accuracy of an evaluation").of(LAST),
    lower("{split}_runtime", "s", "how long an evaluation took").of(LAST),
    higher("{split}_samples_per_second", "samples/s", "samples a second of an evaluation").of(LAST),
    higher("{split}_steps_per_second", "steps/s", "steps a second of an evaluation").of(LAST),
    higher("{split}_tokens_per_second", "tokens/s", "tokens a second of an evaluation").of(LAST),
    plain("{split}_samples", "samples", "samples of an evaluation").of(LAST),
    plain("{split}_mem_{what}", "B", "memory of an evaluation").of(LAST),
    plain("num_input_tokens_seen", "tokens", "tokens so far").of(LAST),
    plain("num_tokens", "tokens", "tokens so far").of(LAST),
    plain("{metric}", "1", "anything else that is logged, such as `grad_norm` and `learning_rate`").of(LAST),
];
/// The same in a file of results.
static RESULTS: &[ToolMetric] = &[
    lower("{split}_runtime", "s", "how long it took"),
    higher("{split}_samples_per_second", "samples/s", "samples a second"),
    higher("{split}_steps_per_second", "steps/s", "steps a second"),
    higher("{split}_tokens_per_second", "tokens/s", "tokens a second"),
    lower("{split}_loss", "1", "loss"),
    lower("loss", "1", "loss"),
    higher("{split}_accuracy", "1", "accuracy"),
    plain("{split}_samples", "samples", "samples"),
    plain("{split}_mem_{what}", "B", "memory"),
    plain("total_flos", "FLOP", "floating-point operations of the training"),
    plain("num_input_tokens_seen", "tokens", "tokens of the training"),
    plain("{metric}", "1", "anything else in a file of results"),
];

#[derive(Default)]
struct Parser {
    /// Names that dicts had.
    known: BTreeSet<String>,
    /// The split of a block whose lines may still come: `train`.
    block: Option<String>,
    /// What blocks said.
    repeated: Vec<(String, Reading)>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        if let Some(split) = block_title(line.text) {
            self.block = Some(split.to_owned());
            return;
        }
        if !line.text.contains("{'") {
            return self.block_line(line);
        }
        let mut rest = line.text;
        while let Some((before, dict)) = rest.find("{'").and_then(|at| rest.split_at_checked(at)) {
            let (dict, after) = Literal::read_first(dict);
            rest = after;
            if let Some(dict) = dict.filter(is_log) {
                let rank = rank_before(before).or(line.rank);
                self.dict(&dict, &Line { rank, ..*line }, report);
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for (name, value) in self.repeated.drain(..) {
            if !self.known.contains(&name) {
                push(&name, METRICS, value, report);
            }
        }
    }
}

impl Parser {
    fn dict(&mut self, dict: &Literal, line: &Line<'_>, report: &mut Report) {
        let step = dict.get("step").and_then(Literal::number).and_then(number::whole);
        for (name, value) in dict.entries().iter().filter(|(_, value)| value.is_value()) {
            self.known.insert(name.clone());
            push(name, METRICS, value.reading(line.place(step)), report);
        }
    }

    /// `  train_samples_per_second =    781.888`
    fn block_line(&mut self, line: &Line<'_>) {
        let Some(split) = &self.block else { return };
        let Some((name, text)) = line.text.split_once(" =") else { return };
        let Some(name) = name.split_whitespace().next_back() else { return };
        let is_of_block = name.strip_prefix(split.as_str()).is_some_and(|rest| rest.starts_with('_'));
        // A number may continue where a line did not end. Widths say nothing: log collectors may drop blanks.
        if is_of_block && line.is_whole {
            let value = number_in_block(text).ok_or_else(|| format!("`{}` is not a number", text.trim()));
            self.repeated.push((name.to_owned(), Reading::of(line.place(None), value)));
        }
    }
}

/// `***** train metrics *****`
fn block_title(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("***** ")?;
    rest.split_once(" metrics *****").map(|(split, _)| split)
}

/// `781.888`, `0:08:59.74`, `1 day, 2:03:04.50`, `15MB`
fn number_in_block(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(megabytes) = text.strip_suffix("MB") {
        return number::parse(megabytes).ok().map(|value| value * 1_048_576.0);
    }
    let (days, time) = text.split_once(" day").unwrap_or(("0", text));
    let time = time.trim_start_matches(['s', ',', ' ']);
    let parts: Vec<&str> = time.split(':').collect();
    let [hours, minutes, seconds] = parts.as_slice() else { return number::parse(text).ok() };
    let part = |text: &str| number::parse(text).ok();
    Some(part(days)? * 86_400.0 + part(hours)? * 3600.0 + part(minutes)? * 60.0 + part(seconds)?)
}

/// The rank in a launcher's prefix, which is between a progress bar and the text printed after it.
fn rank_before(text: &str) -> Option<u32> {
    let prefix = text.get(text.rfind('[')?..)?;
    let (rank, rest) = without_prefix(prefix);
    rank.filter(|_| rest.is_empty())
}

/// The Trainer adds the epoch to all that it logs.
fn is_log(dict: &Literal) -> bool {
    let is_known = |name: &str| matches!(name, "epoch" | "loss" | "eval_loss" | "train_runtime");
    dict.entries().iter().any(|(name, _)| is_known(name))
}

/// Returns the last of the documents in `text`, unless one of them is cut off.
fn last_document(text: &str) -> Option<Literal> {
    let mut last = None;
    let mut rest = text.trim_start();
    while rest.starts_with('{') {
        let (found, after) = Literal::read_first(rest);
        last = Some(found?);
        rest = after.trim_start();
    }
    last
}

fn read_document(text: &str, report: &mut Report) {
    let Some(root) = last_document(text) else {
        return report.invalid(
            "the file is not JSON, or was truncated while the Trainer wrote it: use that of the previous checkpoint",
        );
    };
    let Some(Literal::List(history)) = root.get("log_history") else {
        // A file of results: one value a metric.
        let mut count = 0;
        for (name, value) in root.entries().iter().filter(|(_, value)| value.is_value()) {
            push(name, RESULTS, value.reading(Sample::of(f64::NAN)), report);
            count += 1;
        }
        if count == 0 {
            report.invalid("the file has neither a `log_history` nor results: it is not a file of the Trainer");
        }
        return;
    };
    for entry in history {
        let step = entry.get("step").and_then(Literal::number).and_then(number::whole);
        for (name, value) in entry.entries().iter().filter(|(_, value)| value.is_value()) {
            push(name, METRICS, value.reading(Sample { step, ..Sample::of(f64::NAN) }), report);
        }
    }
    if let Some(step) = root.get("global_step").and_then(Literal::number) {
        report.push(&GLOBAL_STEP, Sample { step: number::whole(step), ..Sample::of(step) });
    }
}

fn push(name: &str, metrics: &'static [ToolMetric], value: Reading, report: &mut Report) {
    if !matches!(name, "epoch" | "step") {
        report.push_found(metrics, name, "1", &BTreeMap::new(), value);
    }
}
