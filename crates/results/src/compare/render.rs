//! Answers as people read them. Leaves: they get an answer and return text.

mod human;
mod markdown;
mod sparkline;

pub use human::{comparison as human_comparison, gated as human_gated, rest as leftovers};
pub(crate) use markdown::grid;
pub use markdown::{comparison as markdown_comparison, escape, gated as markdown_gated};
pub use sparkline::history as human_history;

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Acknowledged, GateReport, Line, NO_SESSION, Verdict};
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
    let change = line.change.map(|change| format!(" {}:", words::estimate(change, line.interval))).unwrap_or_default();
    let change = if matches!(line.reason.as_str(), "open" | "fixedBaseline") { String::new() } else { change };
    format!("`{}` of {}{case}:{change} {}", words::metric(line), words::benchmark(line), line.message)
}

/// Returns lines with what needs attention first, and the larger change before the smaller one.
fn by_weight(lines: &[Line]) -> Vec<&Line> {
    let size = |line: &Line| line.change.map_or(0.0, f64::abs);
    let mut sorted: Vec<&Line> = lines.iter().collect();
    sorted.sort_by(|one, other| one.verdict.cmp(&other.verdict).then(size(other).total_cmp(&size(one))));
    sorted
}

/// Returns what decides nothing since the default branch has it too, and the others.
fn parted(lines: &[Line], answer: &GateReport) -> (Vec<Line>, Vec<Line>) {
    lines.iter().cloned().partition(|line| answer.only_new && line.on_default)
}

/// Returns lines with those of each benchmark and target as one that never ran: who has many specs has run few of them at first.
fn folded(lines: &[Line]) -> Vec<Line> {
    let target = |line: &Line| line.environment.get("target").cloned().unwrap_or_default();
    let mut absent: BTreeMap<(String, String), Vec<&Line>> = BTreeMap::new();
    let mut shown = Vec::new();
    for line in lines {
        if line.reason == NO_SESSION {
            absent.entry((line.benchmark.clone(), target(line))).or_default().push(line);
        } else {
            shown.push(line.clone());
        }
    }
    for ((_, target), of_target) in absent {
        let Some(first) = of_target.first() else { continue };
        let cases: BTreeSet<&str> = of_target.iter().map(|line| line.case.as_str()).collect();
        let metrics: BTreeSet<&str> = of_target.iter().map(|line| line.metric.as_str()).collect();
        let case_name =
            |case: &str| of_target.iter().find(|line| line.case == case).map(|line| line.case_name.as_str());
        shown.push(Line {
            case_name: named(&cases.into_iter().filter_map(case_name).collect::<Vec<_>>()),
            metric: named(&metrics.into_iter().collect::<Vec<_>>()),
            message: format!("{} on {target}", first.message),
            ..(*first).clone()
        });
    }
    shown
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

/// Counts verdicts: `1 regressed, 3 no change seen`.
fn tally(lines: &[Line]) -> String {
    let mut counts: BTreeMap<(Verdict, &str), usize> = BTreeMap::new();
    for line in lines {
        *counts.entry((line.verdict, words::verdict(line))).or_default() += 1;
    }
    let words: Vec<String> = counts.into_iter().map(|((_, verdict), count)| format!("{count} {verdict}")).collect();
    words.join(", ")
}
