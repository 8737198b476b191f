//! All changes of level and of surroundings, the newest first.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::chart::{Chart, LATELY};
use super::super::paths::{self, relative};
use super::super::site::Site;
use super::{File, Page, by_weight, parts};
use kubebench_results::compare::model::LevelChange;
use kubebench_results::compare::words;

/// So many stand on the first page of the site.
const SHOWN: usize = 20;
/// So many stand on a page.
const MOST: usize = 400;
const WEIGHT: usize = 250_000;

/// Something that changed, with what it is sorted by.
struct Entry<'a> {
    since: &'a str,
    is_lately: bool,
    what: What<'a>,
}

enum What<'a> {
    Level(&'a Chart<'a>, &'a LevelChange),
    /// A fact of a benchmark: before, after.
    Fact {
        benchmark: &'a str,
        fact: &'a str,
        before: &'a str,
        after: &'a str,
    },
}

/// Draws the pages of changes.
pub(crate) fn pages(site: &Site<'_>) -> Vec<File> {
    let all: Vec<Markup> = entries(site).iter().map(|entry| shown(site, paths::CHANGES, entry)).collect();
    let parts = by_weight(all, MOST, WEIGHT);
    let count = parts.len();
    let path = |page: usize| if page == 1 { paths::CHANGES.to_owned() } else { format!("changes-{page}.html") };
    let draw = |(at, items): (usize, Vec<Markup>)| {
        let body = html! {
            @if items.is_empty() { p { "No metric and no surroundings have changed." } }
            ul.events { @for item in items { (item) } }
            @if count > 1 {
                p { "Page " (at + 1) " of " (count) ": " @for page in 1..=count { a href=(path(page)) { (page) } " " } }
            }
        };
        Page { path: &path(at + 1), title: "Changes", above: &[], body }.draw(site)
    };
    parts.into_iter().enumerate().map(draw).collect()
}

/// Draws what changed in the last sessions of its series.
pub(super) fn lately(site: &Site<'_>, from: &str) -> Markup {
    let all = entries(site);
    let lately: Vec<&Entry<'_>> = all.iter().filter(|entry| entry.is_lately).collect();
    html! {
        @if lately.is_empty() {
            p { "No level changed in the last " (LATELY) " sessions of any series. "
                @if !all.is_empty() { "Earlier: " a href=(relative(from, paths::CHANGES)) { "all " (all.len()) } "." } }
        } @else {
            ul.events { @for entry in lately.iter().take(SHOWN) { (shown(site, from, entry)) } }
            p { a href=(relative(from, paths::CHANGES)) { "All changes" } " (" (all.len()) ")" }
        }
    }
}

fn shown(site: &Site<'_>, from: &str, entry: &Entry<'_>) -> Markup {
    html! {
        li {
            (parts::time(entry.since)) " "
            @match &entry.what {
                What::Level(chart, change) => {
                    @let told = chart.told;
                    @let (class, turned) = parts::turn(change, chart);
                    a href=(relative(from, &chart.place())) { (told.benchmark) }
                    @if !told.case_name.is_empty() { " (" (parts::cut(&told.case_name)) ")" }
                    ", " (parts::metric(told)) ": " strong class=(class) { (turned) } " "
                    @let size = told.size(change);
                    (words::change(size.change, size.interval))
                    @if let Some(interval) = size.interval { " " (words::interval(interval)) }
                    @if change.commit.is_some() { "; " (parts::range(site, change.after.as_deref(), change.commit.as_deref())) }
                }
                What::Fact { benchmark, fact, before, after } => {
                    a href=(relative(from, &paths::benchmark(benchmark))) { (benchmark) }
                    ", " (fact) ": " (parts::cut(before)) " → " (parts::cut(after))
                }
            }
        }
    }
}

fn entries<'a>(site: &'a Site<'_>) -> Vec<Entry<'a>> {
    let mut all = Vec::new();
    // The cases of a benchmark see the same change one after another, on the same day.
    let mut facts: BTreeMap<[&str; 5], (&str, bool)> = BTreeMap::new();
    for chart in site.charts() {
        let told = chart.told;
        let late: BTreeSet<&str> =
            told.sessions.iter().skip(chart.lately()).map(|session| session.session.as_str()).collect();
        if chart.is_watched() {
            all.extend(told.changes.iter().map(|change| Entry {
                since: &change.since,
                is_lately: late.contains(change.session.as_str()),
                what: What::Level(chart, change),
            }));
        }
        for change in &told.environment_changes {
            let day = words::day(&change.since);
            let key = [told.benchmark.as_str(), &change.fact, &change.before, &change.after, day];
            let is_late = late.contains(change.session.as_str());
            let known = facts.entry(key).or_insert((&change.since, is_late));
            *known = (known.0.min(&change.since), known.1 || is_late);
        }
    }
    all.extend(facts.into_iter().map(|([benchmark, fact, before, after, _], (since, is_lately))| Entry {
        since,
        is_lately,
        what: What::Fact { benchmark, fact, before, after },
    }));
    // The sort is stable: by benchmark and case otherwise.
    all.sort_by_key(|entry| std::cmp::Reverse(entry.since));
    all
}
