//! The last line of a gate: what came out, and what got worse.

use std::collections::BTreeSet;

use super::super::model::{GateReport, Line, Outcome, Verdict};
use super::super::words;
use super::parts::{Parts, Standing};
use super::tally;

/// The maximum number of regressions that are named.
const MOST: usize = 10;

/// Says in one line of a width what came out; what got worse is named as far as there is room, and the most of what did not is counted as
/// `others`.
pub(super) fn summary(answer: &GateReport, parts: &Parts<'_>, width: usize) -> String {
    let says = match (answer.outcome, parts.standing(answer)) {
        (Outcome::NoAnswer, _) => "gate gives no answer, because result files that are evaluated cannot be trusted",
        (Outcome::NoHistory, _) => "gate failed, because the recorded results are not in this clone",
        (_, Standing::Passed) => "gate passed",
        (_, Standing::Failed) => "gate failed",
        (_, Standing::Pending) => "gate is pending",
        (_, Standing::Inconclusive) => "gate is inconclusive",
        (_, Standing::New) => "nothing to compare with yet",
    };
    let regressions = [
        (Verdict::Regressed.words().to_owned(), parts.worse.as_slice()),
        (words::already(answer), parts.known.as_slice()),
    ];
    let regressions: Vec<(String, &[&Line])> = regressions.into_iter().filter(|(_, lines)| !lines.is_empty()).collect();
    let rest = answer.lines.iter().filter(|line| line.verdict != Verdict::Regressed);
    let counts = tally(rest);
    let failing = answer.weakened.iter().filter(|weakened| weakened.fails).count();
    let failing = (failing > 0).then(|| format!("{failing} weaker than the base"));
    let whole = |names: usize, kept: Option<usize>| {
        let said = failing.iter().cloned().chain(said(&regressions, names, &counts, kept));
        format!("{says}: {}", said.collect::<Vec<_>>().join(", "))
    };
    let fits = |text: &String| text.chars().count() <= width;
    let most = regressions.first().map_or(0, |(_, lines)| lines.len().min(MOST));
    // With fewer counts there is more room for names; the worst one has its name where there is any.
    for kept in (0..=counts.len()).rev().map(Some).chain([None]) {
        let least = usize::from(most > 0);
        if let Some(longest) = (least..=most).map(|names| whole(names, kept)).take_while(fits).last() {
            return longest;
        }
    }
    whole(0, Some(0))
}

/// Returns the parts of the line: the first kind of regressions with the names of some, and so many of the counts; without them, nothing of
/// what did not get worse.
fn said(
    regressions: &[(String, &[&Line])],
    names: usize,
    counts: &[(&'static str, usize)],
    kept: Option<usize>,
) -> Vec<String> {
    let mut said = Vec::new();
    for (at, (what, lines)) in regressions.iter().enumerate() {
        let named: Vec<String> = brief(lines).take(if at == 0 { names } else { 0 }).collect();
        let more = lines.len() - named.len();
        let named = match (named.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!(" ({})", named.join(", ")),
            (false, more) => format!(" ({} and {more} more)", named.join(", ")),
        };
        said.push(format!("{} {what}{named}", lines.len()));
    }
    let Some((shown, others)) = kept.and_then(|kept| counts.split_at_checked(kept)) else { return said };
    said.extend(shown.iter().map(|(verdict, count)| format!("{count} {verdict}")));
    let others: usize = others.iter().map(|(_, count)| count).sum();
    said.extend((others > 0).then(|| format!("{others} {}", if said.is_empty() { "series" } else { "more" })));
    said
}

/// Names what changed in few words: of a metric of a benchmark what changed most, which is the first.
pub(super) fn brief<'a>(lines: &'a [&Line]) -> impl Iterator<Item = String> + 'a {
    let mut known = BTreeSet::new();
    lines.iter().filter_map(move |line| {
        let name = format!("{} of {}", words::metric(line), words::benchmark(line));
        let size = words::shown(line).map(|size| {
            let colon = if size.change.is_some() { "" } else { ":" };
            format!("{colon} {}", words::amount(size, line.unit.as_deref()))
        });
        known.insert(name.clone()).then(|| format!("{name}{}", size.unwrap_or_default()))
    })
}
