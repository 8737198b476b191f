//! Answers as people read them. Leaves: they get an answer and return text.

mod alike;
mod comment;
mod human;
mod layout;
mod links;
mod mark;
mod markdown;
mod parts;
mod sparkline;
mod summary;
mod terminal;

#[cfg(test)]
mod tests;

pub use comment::{gated as markdown_gated, without_answer as markdown_without_answer};
pub use human::{comparison as human_comparison, rest as leftovers};
pub use links::{Addresses, NoAddresses};
pub use mark::Subject;
pub(crate) use markdown::grid;
pub use markdown::{code_cell, code_span, comparison as markdown_comparison, escape, prose};
pub use sparkline::history as human_history;
pub use terminal::{Detail, View, gated as human_gated, last_line, unsettled};

use std::collections::BTreeMap;

use super::model::{Acknowledged, Line, Verdict};
use super::words::{self, Scaled};
pub(crate) use kubebench_syntax::text::plain;

/// Returns a line whose texts a terminal can show.
fn clean(line: &Line) -> Line {
    let mut line = line.clone();
    let texts = [&mut line.case_name, &mut line.metric, &mut line.message].into_iter();
    let texts = texts.chain(line.unit.as_mut()).chain(&mut line.notes).chain(line.environment.values_mut());
    texts.for_each(|text| *text = plain(text));
    line.labels = line.labels.iter().map(|(name, value)| (plain(name), plain(value))).collect();
    line.acks.iter_mut().for_each(clean_ack);
    line
}

fn clean_ack(ack: &mut Acknowledged) {
    for text in [&mut ack.by, &mut ack.reason, &mut ack.file] {
        *text = plain(text);
    }
}

/// Says of one line, in one sentence, what was found.
pub fn sentence(line: &Line) -> String {
    let case = if line.case_name.is_empty() { String::new() } else { format!(" ({})", line.case_name) };
    let change = match line.reason.as_str() {
        "open" | "fixedBaseline" => String::new(),
        _ => {
            words::shown(line).map_or_else(String::new, |size| format!(" {}:", words::size(size, line.unit.as_deref())))
        }
    };
    let hardware = words::hardware(&line.environment);
    let on = if hardware.is_empty() { String::new() } else { format!(" on {hardware}") };
    format!("`{}` of {}{case}{on}:{change} {}", words::metric(line), words::benchmark(line), line.message)
}

/// Returns lines with what needs attention first, and the larger change before the smaller one, as they are shown.
fn by_weight(lines: &[Line]) -> Vec<&Line> {
    let mut sorted: Vec<(&Line, f64)> = lines.iter().map(|line| (line, words::distance(line))).collect();
    sorted.sort_by(|(one, near), (other, far)| one.verdict.cmp(&other.verdict).then(far.total_cmp(near)));
    sorted.into_iter().map(|(line, _)| line).collect()
}

/// Names some of many.
fn named(all: &[&str]) -> String {
    const MOST: usize = 3;
    let some = all.iter().take(MOST).copied().collect::<Vec<_>>().join("; ");
    if all.len() > MOST { format!("{some} and {} more", all.len() - MOST) } else { some }
}

/// Returns what a table shows of a line: benchmark, case, metric, before, after, change and verdict; `none` where there is no value.
fn cells(line: &Line, none: &str) -> [String; 7] {
    let medians = [line.baseline.median, line.candidate.median];
    let scaled = Scaled::of_all(medians.into_iter().flatten(), line.unit.as_deref());
    let [before, after] = medians.map(|value| value.map_or_else(|| none.to_owned(), |value| scaled.value(value)));
    [
        words::benchmark(line),
        line.case_name.clone(),
        words::metric(line),
        before,
        after,
        words::effect(line),
        words::verdict(line).to_owned(),
    ]
}

/// Counts verdicts, as people call them.
fn tally<'a>(lines: impl Iterator<Item = &'a Line>) -> Vec<(&'static str, usize)> {
    let mut counts: BTreeMap<(Verdict, &'static str), usize> = BTreeMap::new();
    for line in lines {
        *counts.entry((line.verdict, words::verdict(line))).or_default() += 1;
    }
    counts.into_iter().map(|((_, verdict), count)| (verdict, count)).collect()
}

/// Counts verdicts in words: `1 regressed, 3 no change seen`.
fn counted(lines: &[Line]) -> String {
    let words: Vec<String> =
        tally(lines.iter()).into_iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    words.join(", ")
}
