//! The open regressions on the first page, grouped by the commit, else the day, at which they began.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::chart::{Finding, What};
use super::super::paths::{self, relative};
use super::super::site::Site;
use super::super::tally::State;
use super::by_weight;
use super::parts::{self, Said};
use kubebench_results::compare::words;

/// The maximum number of groups that are shown; the rest is folded.
const GROUPS: usize = 6;
/// The maximum number of lines of a group that are shown; the rest is folded, as far as the page stays light.
const LINES: usize = 4;
const MOST_LINES: usize = 150;
/// The maximum number of further cases named in a line.
const CASES: usize = 6;
/// The bytes that all of it may have; the rest is in the list of series.
const WEIGHT: usize = 120_000;

/// Where regressions began.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Beginning<'a> {
    /// A limit is exceeded by the newest session, whenever that began.
    Limit,
    Commit(&'a str),
    Day(&'a str),
}

fn beginning<'a>(finding: &Finding<'a>) -> Beginning<'a> {
    match (finding.what, finding.commit) {
        (What::Limit(_), _) => Beginning::Limit,
        (What::Level(..), Some(commit)) => Beginning::Commit(commit),
        (What::Level(..), None) => Beginning::Day(words::day(finding.since)),
    }
}

/// Draws them as the page at `from` shows them.
pub(super) fn open(site: &Site<'_>, from: &str, findings: &[Finding<'_>]) -> Markup {
    let mut groups: Vec<(Beginning<'_>, Vec<Finding<'_>>)> = Vec::new();
    // The findings come the largest first, and so do groups and what is in them.
    for finding in findings {
        let key = beginning(finding);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(*finding),
            None => groups.push((key, vec![*finding])),
        }
    }
    let items: Vec<Markup> = groups.iter().map(|(_, group)| html! { li { (draw(site, from, group)) } }).collect();
    let count = items.len();
    let shown = by_weight(items, count, WEIGHT).into_iter().next().unwrap_or_default();
    html! {
        ul.open { @for item in shown.iter().take(GROUPS) { (item) } }
        @if shown.len() > GROUPS {
            details {
                summary { (shown.len() - GROUPS) " more, by when they began" }
                ul.open { @for item in shown.iter().skip(GROUPS) { (item) } }
            }
        }
        @if shown.len() < count { p { (count - shown.len()) " more are in the " (list(from)) "." } }
    }
}

/// Links to the list that has all of them.
fn list(from: &str) -> Markup {
    html! { a href=(relative(from, &paths::series(&State::Worse.slug(), 1))) { "list of all open regressions" } }
}

fn draw(site: &Site<'_>, from: &str, group: &[Finding<'_>]) -> Markup {
    let [first, rest @ ..] = group else { return html! {} };
    if rest.is_empty() {
        return parts::finding(site, from, first, Said::Nothing);
    }
    let benchmarks: BTreeSet<&str> = group.iter().map(|finding| finding.chart.history.benchmark.as_str()).collect();
    let counted = match benchmarks.len() {
        1 => words::counted(group.len(), "regression"),
        many => format!("{} in {many} benchmarks", words::counted(group.len(), "regression")),
    };
    let is_one_place = group.iter().all(|finding| finding.chart.history.environment == first.chart.history.environment);
    let said = if is_one_place { Said::BeginningAndPlace } else { Said::Beginning };
    let lines: Vec<Markup> = by_metric(group).iter().map(|alike| line(site, from, alike, said)).collect();
    let (lines, folded) = lines.split_at(LINES.min(lines.len()));
    let left = folded.len().saturating_sub(MOST_LINES);
    let oldest = group.iter().min_by_key(|finding| finding.since).unwrap_or(first);
    let is_same = group.iter().all(|finding| finding.after == first.after);
    html! {
        @match beginning(first) {
            Beginning::Limit => p { strong.bad { (group.len()) " limits are exceeded" } " by the newest sessions" },
            Beginning::Commit(commit) => p {
                strong.bad { (counted) } " since " (parts::since(oldest)) ", "
                @if is_same { (parts::range(site, first.after, Some(commit))) } @else { "commit " (parts::commit(site, commit)) }
            },
            Beginning::Day(_) => p { strong.bad { (counted) } " since " (parts::since(oldest)) },
        }
        @if is_one_place { p.facts { "On " (parts::hardware(first.chart.history)) } }
        ul { @for line in lines { li { (line) } } }
        @if !folded.is_empty() {
            details {
                summary { (folded.len()) " more" }
                ul { @for line in folded.iter().take(MOST_LINES) { li { (line) } } @if left > 0 { li { (left) " are in the " (list(from)) "." } } }
            }
        }
    }
}

/// Puts together what began together in the same metric of several cases of a benchmark.
pub(super) fn by_metric<'g, 'a>(findings: &'g [Finding<'a>]) -> Vec<Vec<&'g Finding<'a>>> {
    let mut order = Vec::new();
    let mut alike: BTreeMap<(Beginning<'_>, &str, String), Vec<&Finding<'_>>> = BTreeMap::new();
    for finding in findings {
        let key = (beginning(finding), finding.chart.history.benchmark.as_str(), parts::metric(finding.chart.history));
        let known = alike.entry(key.clone()).or_default();
        if known.is_empty() {
            order.push(key);
        }
        known.push(finding);
    }
    order.iter().filter_map(|key| alike.remove(key)).collect()
}

/// Says the largest in full, and of the other cases by how much.
pub(super) fn line(site: &Site<'_>, from: &str, alike: &[&Finding<'_>], said: Said) -> Markup {
    let Some((first, others)) = alike.split_first() else { return html! {} };
    html! {
        (parts::finding(site, from, first, said))
        @if !others.is_empty() {
            " Also "
            @for (at, other) in others.iter().take(CASES).enumerate() {
                @if at > 0 { ", " }
                a href=(relative(from, &other.chart.place())) { (parts::apart(other.chart.history, first.chart.history)) } " " (parts::amount(other))
            }
            @if others.len() > CASES { " and " (others.len() - CASES) " more" }
            "."
        }
    }
}
