//! All changes of level and of surroundings, the newest first.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::chart::{Chart, Hit, LATELY};
use super::super::paths::{self, relative};
use super::super::site::Site;
use super::{File, Page, by_weight, parts};
use kubebench_results::compare::model::{LevelChange, SeriesHistory, Size, Turn, Verdict};
use kubebench_results::compare::words;

/// The maximum number of changes on the first page of the site.
const SHOWN: usize = 20;
/// The maximum number of changes on a page.
const MOST: usize = 400;
const WEIGHT: usize = 250_000;

/// Something that changed, with what it is sorted by.
struct Entry<'a> {
    since: &'a str,
    is_lately: bool,
    what: What<'a>,
}

enum What<'a> {
    /// A change of a series, which is that of the chart or one that it replaced.
    Level(&'a Chart<'a>, &'a SeriesHistory, &'a LevelChange),
    /// What the newest session of a series alone shows.
    Hit(&'a Chart<'a>, Hit<'a>),
    Fact(Fact<'a>),
}

/// A fact of a benchmark that changed on a day.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Fact<'a> {
    benchmark: &'a str,
    name: &'a str,
    before: String,
    after: String,
    day: &'a str,
}

impl Entry<'_> {
    fn is_better(&self) -> bool {
        match &self.what {
            What::Level(_, _, change) => matches!(change.turn, Turn::Better | Turn::Back),
            What::Hit(_, hit) => hit.verdict == Verdict::Improved,
            What::Fact(_) => false,
        }
    }

    /// Returns whether it is among the open regressions.
    fn is_open(&self) -> bool {
        match &self.what {
            What::Level(chart, _, change) => chart.is_open(change),
            What::Hit(_, hit) => hit.verdict == Verdict::Regressed,
            What::Fact(_) => false,
        }
    }
}

/// Draws the pages of changes, and those of the improvements among them.
pub(crate) fn pages(site: &Site<'_>) -> Vec<File> {
    let all = entries(site);
    let better: Vec<&Entry<'_>> = all.iter().filter(|entry| entry.is_better()).collect();
    let mut files = list(site, paths::CHANGES, "Changes", &all.iter().collect::<Vec<_>>());
    if !better.is_empty() {
        files.extend(list(site, paths::IMPROVEMENTS, "Improvements", &better));
    }
    files
}

fn list(site: &Site<'_>, first: &str, title: &str, entries: &[&Entry<'_>]) -> Vec<File> {
    let all: Vec<Markup> = entries.iter().map(|entry| shown(site, first, entry)).collect();
    let parts = by_weight(all, MOST, WEIGHT);
    let count = parts.len();
    let path = |page: usize| match page {
        1 => first.to_owned(),
        page => format!("{}-{page}.html", first.trim_end_matches(".html")),
    };
    let draw = |(at, items): (usize, Vec<Markup>)| {
        let body = html! {
            @if items.is_empty() { p { "No metric and no environment has changed." } }
            ul.events { @for item in items { (item) } }
            @if count > 1 {
                p { "Page " (at + 1) " of " (count) ": " @for page in 1..=count { a href=(path(page)) { (page) } " " } }
            }
        };
        let title = if at == 0 { title.to_owned() } else { format!("{title}, page {}", at + 1) };
        Page { path: &path(at + 1), title: &title, above: &[], body }.draw(site)
    };
    parts.into_iter().enumerate().map(draw).collect()
}

/// Draws what changed in the last sessions of its series.
pub(super) fn lately(site: &Site<'_>, from: &str) -> Markup {
    let all = entries(site);
    // What is open is above.
    let lately: Vec<&Entry<'_>> = all.iter().filter(|entry| entry.is_lately && !entry.is_open()).collect();
    html! {
        @if lately.is_empty() {
            p { "Nothing else changed in the last " (LATELY) " sessions of any series. "
                @if !all.is_empty() { a href=(relative(from, paths::CHANGES)) { "All changes" } " (" (all.len()) ")" } }
        } @else {
            ul.events { @for entry in lately.iter().take(SHOWN) { (shown(site, from, entry)) } }
            @if lately.len() > SHOWN { p { "And " (lately.len() - SHOWN) " more." } }
            p { a href=(relative(from, paths::CHANGES)) { "All changes" } " (" (all.len()) ")" }
        }
        @let better = all.iter().filter(|entry| entry.is_better()).count();
        @if better > 0 { p { a href=(relative(from, paths::IMPROVEMENTS)) { "All improvements" } " (" (better) ")" } }
    }
}

fn shown(site: &Site<'_>, from: &str, entry: &Entry<'_>) -> Markup {
    html! {
        li {
            (parts::time(entry.since)) " "
            @match &entry.what {
                What::Level(chart, history, change) => {
                    (turned(from, chart, parts::turn(change, history, chart), change.size()))
                    @if !std::ptr::eq(*history, chart.history) { " on " (parts::hardware(history)) }
                    @if change.commit.is_some() { "; " (parts::range(site, change.after.as_deref(), change.commit.as_deref())) }
                }
                What::Hit(chart, hit) => {
                    (turned(from, chart, parts::newest(hit), hit.size))
                    @if chart.history.aside.contains(&hit.session.session) { ", not of the default branch" }
                    @if hit.session.commit.is_some() { "; " (parts::range(site, hit.after, hit.session.commit.as_deref())) }
                }
                What::Fact(Fact { benchmark, name, before, after, .. }) => {
                    a href=(relative(from, &paths::benchmark(benchmark))) { (benchmark) }
                    ", " (name) ": " (parts::cut(before)) " → " (parts::cut(after))
                }
            }
        }
    }
}

/// Says how a series changed.
fn turned(from: &str, chart: &Chart<'_>, (class, word): (&str, &str), size: Size) -> Markup {
    let history = chart.history;
    html! {
        a href=(relative(from, &chart.place())) { (history.benchmark) }
        @if !history.case_name.is_empty() { " (" (parts::cut(&history.case_name)) ")" }
        ", " (parts::metric(history)) ": " strong class=(class) { (word) } " "
        (words::size(size, history.unit.as_deref()))
    }
}

fn entries<'a>(site: &'a Site<'_>) -> Vec<Entry<'a>> {
    let mut all = Vec::new();
    // The cases of a benchmark see the same change one after another, on the same day.
    let mut facts: BTreeMap<Fact<'_>, (&str, bool)> = BTreeMap::new();
    for chart in site.charts() {
        let late: BTreeSet<&str> =
            chart.history.sessions.iter().skip(chart.lately()).map(|session| session.session.as_str()).collect();
        let series = || chart.replaced.iter().copied().chain([chart.history]);
        let mut note = |history: &'a SeriesHistory,
                        name: &'a str,
                        sides: (String, String),
                        since: &'a str,
                        session: &str| {
            let key =
                Fact { benchmark: &history.benchmark, name, before: sides.0, after: sides.1, day: words::day(since) };
            let known = facts.entry(key).or_insert((since, late.contains(session)));
            *known = (known.0.min(since), known.1 || late.contains(session));
        };
        for history in series() {
            all.extend(history.changes.iter().map(|change| Entry {
                since: &change.since,
                is_lately: late.contains(change.session.as_str()),
                what: What::Level(chart, history, change),
            }));
            for change in &history.environment_changes {
                let sides = (change.before.clone(), change.after.clone());
                note(history, &change.fact, sides, &change.since, &change.session);
            }
        }
        all.extend(chart.hit().map(|hit| Entry {
            since: &hit.session.started_at,
            is_lately: true,
            what: What::Hit(chart, hit),
        }));
        for (before, history) in series().zip(series().skip(1)) {
            let sides = (parts::hardware(before), parts::hardware(history));
            let Some(first) = history.sessions.first().filter(|_| sides.0 != sides.1) else { continue };
            note(history, "hardware", sides, &first.started_at, &first.session);
        }
    }
    let facts = facts.into_iter();
    all.extend(facts.map(|(fact, (since, is_lately))| Entry { since, is_lately, what: What::Fact(fact) }));
    // The sort is stable: by benchmark and case otherwise.
    all.sort_by_key(|entry| std::cmp::Reverse(entry.since));
    all
}
