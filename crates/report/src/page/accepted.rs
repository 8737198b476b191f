//! What was accepted: how large it is, since when, by whom and why.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::chart::distance;
use super::super::paths;
use super::super::site::Site;
use super::{chart, parts};
use kubebench_results::compare::model::{Acknowledged, SeriesHistory, Size};
use kubebench_results::compare::words;

/// The maximum number of cases that are named.
const MOST_CASES: usize = 3;

/// An acknowledgement with all that it is about.
struct Accepted<'a> {
    ack: &'a Acknowledged,
    cases: Vec<&'a str>,
    /// How large what it accepts is, of which series, and since when.
    changes: Vec<(Size, &'a SeriesHistory, &'a str)>,
}

/// Draws what was accepted: an acknowledgement of several cases once.
pub(super) fn all(site: &Site<'_>) -> Vec<Markup> {
    let mut all: BTreeMap<(&str, &str, &str), Accepted<'_>> = BTreeMap::new();
    for chart in site.charts() {
        let history = chart.history;
        for ack in chart.acks() {
            let key = (history.benchmark.as_str(), history.metric.as_str(), ack.file.as_str());
            let known = all.entry(key).or_insert(Accepted { ack, cases: Vec::new(), changes: Vec::new() });
            if !history.case_name.is_empty() && !known.cases.contains(&history.case_name.as_str()) {
                known.cases.push(&history.case_name);
            }
            known.changes.extend(change(history, ack));
        }
    }
    all.into_iter().map(|((benchmark, metric, _), accepted)| draw(benchmark, metric, accepted)).collect()
}

/// Returns the change of a series that was accepted.
fn change<'a>(history: &'a SeriesHistory, ack: &Acknowledged) -> Option<(Size, &'a SeriesHistory, &'a str)> {
    let change = history.changes.iter().find(|change| Some(&change.session) == ack.session.as_ref())?;
    Some((change.size(), history, change.since.as_str()))
}

fn draw(benchmark: &str, metric: &str, accepted: Accepted<'_>) -> Markup {
    let Accepted { ack, cases, changes } = accepted;
    let named = cases.iter().take(MOST_CASES).copied().collect::<Vec<_>>().join("; ");
    let largest = changes.iter().max_by(|(one, ..), (other, ..)| distance(*one).total_cmp(&distance(*other)));
    html! {
        a href=(paths::benchmark(benchmark)) { (benchmark) }
        @if !named.is_empty() {
            " (" (parts::cut(&named)) @if cases.len() > MOST_CASES { " and " (cases.len() - MOST_CASES) " more" } ")"
        }
        " " (parts::cut(metric)) ": "
        @if let Some((size, history, since)) = largest {
            @if changes.len() > 1 { "up to " }
            strong { (words::size(Size { interval: None, ..*size }, history.unit.as_deref())) } " since " (parts::time(since)) ". "
        }
        (chart::acknowledged(ack))
    }
}
