//! The first page: what got worse, how the rest stands, and what changed lately.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::chart::{Chart, Finding};
use super::super::paths;
use super::super::plot::spark::spark;
use super::super::site::{Benchmark, Obstacle, Site, Trouble};
use super::super::tally::Tally;
use super::changes::lately;
use super::{File, Page, accepted, by_weight, parts};
use kubebench_results::compare::model::Verdict;
use kubebench_results::compare::words;

/// So many findings stand open; the rest is folded.
const SHOWN: usize = 5;
/// So many stand on the page at all.
const MOST: usize = 60;
/// So many benchmarks stand on a page.
const MOST_BENCHMARKS: usize = 200;
/// The bytes that the benchmarks of a page may have.
const WEIGHT: usize = 150_000;

/// Draws the first page, and those with the benchmarks that have no room on it.
pub(crate) fn pages(site: &Site<'_>) -> Vec<File> {
    let mut sorted: Vec<&Benchmark<'_>> = site.benchmarks.iter().collect();
    // What needs somebody comes first, what never ran last; the sort is stable: by name otherwise.
    sorted.sort_by_key(|benchmark| {
        (benchmark.rows.is_empty(), benchmark.worst().and_then(Chart::verdict).unwrap_or(Verdict::Unchanged))
    });
    let rows = sorted.into_iter().map(row).collect();
    let parts = by_weight(rows, MOST_BENCHMARKS, WEIGHT);
    let count = parts.len();
    let draw = |(at, rows): (usize, Vec<Markup>)| {
        let path = paths::overview(at + 1);
        let body = html! {
            @if at == 0 { (head(site)) }
            section aria-labelledby="benchmarks" {
                h2 id="benchmarks" { "Benchmarks" }
                (parts::table("Benchmarks, with the metric that needs somebody most", &HEAD, &rows))
                @if count > 1 {
                    p { "Page " (at + 1) " of " (count) ": "
                        @for page in 1..=count { a href=(paths::overview(page)) { (page) } " " } }
                }
            }
            @if at == 0 { (rest(site)) }
        };
        let title = if at == 0 { site.request.title.to_owned() } else { format!("Benchmarks, page {}", at + 1) };
        Page { path: &path, title: &title, above: &[], body }.draw(site)
    };
    parts.into_iter().enumerate().map(draw).collect()
}

/// Says what matters.
fn head(site: &Site<'_>) -> Markup {
    let findings = site.findings();
    let tally = Tally::of(site.cases(), site.request.left_out.len());
    html! {
        section.news aria-labelledby="news" {
            @if findings.is_empty() {
                h2 id="news" { (tally.heading()) }
                p { (tally.sentence()) }
            } @else {
                h2.bad id="news" { (headline(&findings)) }
                ul.open {
                    @for finding in findings.iter().take(SHOWN) { li { (parts::finding(site, paths::OVERVIEW, finding)) } }
                }
                @if findings.len() > SHOWN {
                    details {
                        summary { (findings.len() - SHOWN) " more" }
                        ul.open {
                            @for finding in findings.iter().take(MOST).skip(SHOWN) {
                                li { (parts::finding(site, paths::OVERVIEW, finding)) }
                            }
                        }
                        @if findings.len() > MOST { p { "The rest is on the page of " a href=(paths::CHANGES) { "changes" } "." } }
                    }
                }
            }
        }
        @let pending = site.pending();
        @if !pending.is_empty() {
            section aria-labelledby="pending" {
                h2 id="pending" { "Waits for a second session" }
                ul.pending { @for finding in pending.iter().take(SHOWN) { li { (parts::finding(site, paths::OVERVIEW, finding)) } } }
                @if pending.len() > SHOWN { p { "And " (pending.len() - SHOWN) " more; each is on the page of its benchmark." } }
            }
        }
        (tiles(&tally))
        @let others = site.others();
        @if others > 0 {
            p.more { (words::counted(others, "more change")) " for the worse " (if others == 1 { "is" } else { "are" })
                " open in metrics that are neither primary nor gated: on the pages of their benchmarks." }
        }
    }
}

fn headline(findings: &[Finding<'_>]) -> String {
    match findings.len() {
        1 => "1 regression is open".to_owned(),
        count => format!("{count} regressions are open"),
    }
}

fn tiles(tally: &Tally) -> Markup {
    /// Those that are there where they count something.
    const RARE: [&str; 3] = ["pending", "accepted", "within limits"];
    let tiles = [
        ("bad", tally.worse, "worse", "#news"),
        ("warn", tally.pending, "pending", "#pending"),
        ("good", tally.improved, "improved", "#benchmarks"),
        ("calm", tally.quiet, "no change", "#benchmarks"),
        ("calm", tally.accepted, "accepted", "#acks"),
        ("calm", tally.limited, "within limits", "#benchmarks"),
        ("warn", tally.undecided, "undecided", "#benchmarks"),
        ("bad", tally.failing, "failing", "#troubles"),
        ("bad", tally.missing, "missing", "#troubles"),
    ];
    html! {
        ul.tiles aria-label="Series by verdict" {
            @for (class, count, name, target) in tiles.into_iter().filter(|(_, count, name, _)| *count > 0 || !RARE.contains(name)) {
                li class=(if count > 0 { class } else { "none" }) {
                    @if count > 0 { a href=(target) { b { (count) } " " (name) } } @else { b { "0" } " " (name) }
                }
            }
        }
    }
}

const HEAD: [&str; 6] = ["Benchmark", "Verdict", "Metric", "Newest session", "Sessions", "Newest"];

fn row(benchmark: &Benchmark<'_>) -> Markup {
    let worst = benchmark.worst();
    let newest = benchmark.rows.first().map(|row| row.started_at.as_str());
    html! {
        tr {
            th scope="row" {
                a href=(paths::benchmark(benchmark.name)) { (benchmark.name) }
                " " small { (benchmark.cases.len()) @if benchmark.cases.len() == 1 { " case" } @else { " cases" } }
            }
            td { @if let Some(verdict) = worst.and_then(parts::verdict_of) { (verdict) } @else { "–" } }
            @if let Some(chart) = worst {
                @let values: Vec<f64> = chart.told.sessions.iter().map(|session| session.value).collect();
                td { (parts::metric(chart.told)) @if !chart.told.case_name.is_empty() { br; small { (parts::cut(&chart.told.case_name)) } } }
                td.number { (spark(&values)) " "
                    @if let Some(last) = values.last() { (words::value(*last, chart.told.unit.as_deref().map(parts::cut).as_deref())) } }
                td.number { (values.len()) }
            } @else { td { "no value" } td { "–" } td.number { "0" } }
            td { @if let Some(newest) = newest { (parts::time(newest)) } @else { "never" } }
        }
    }
}

/// Shows what is not about a single benchmark.
fn rest(site: &Site<'_>) -> Markup {
    let troubles = troubles(site);
    let accepted = accepted::all(site);
    html! {
        section aria-labelledby="lately" {
            h2 id="lately" { "What changed lately" }
            (lately(site, paths::OVERVIEW))
        }
        @if !troubles.is_empty() {
            section aria-labelledby="troubles" {
                h2 id="troubles" { "Failing and missing" }
                ul { @for trouble in troubles.iter().take(MOST) { li { (trouble) } } }
                @if troubles.len() > MOST { p { "And " (troubles.len() - MOST) " more; each is on the page of its benchmark." } }
            }
        }
        @if !accepted.is_empty() {
            section aria-labelledby="acks" {
                h2 id="acks" { "Accepted changes" }
                ul { @for one in accepted.iter().take(MOST) { li { (one) } } }
            }
        }
        @if !site.request.notes.is_empty() {
            section aria-labelledby="notes" {
                h2 id="notes" { "Notes" }
                ul { @for note in site.request.notes.iter().take(MOST) { li { (parts::cut(note)) } } }
                @if site.request.notes.len() > MOST { p { "And " (site.request.notes.len() - MOST) " more." } }
            }
        }
    }
}

/// Tells each case whose newest session failed, and of each benchmark and target how many cases never ran.
fn troubles(site: &Site<'_>) -> Vec<Markup> {
    let (mut failing, mut missing) = (Vec::new(), Vec::new());
    for benchmark in &site.benchmarks {
        let mut never: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (case, trouble) in benchmark.cases.iter().flat_map(|case| case.troubles.iter().map(move |of| (case, of))) {
            if trouble.what == Obstacle::NeverRan {
                never.entry(trouble.target).or_default().push(case.name);
                continue;
            }
            failing.push(html! {
                a href=(paths::benchmark(benchmark.name)) { (benchmark.name) }
                @if !case.name.is_empty() { " (" (parts::cut(case.name)) ")" } ": " (told(trouble))
            });
        }
        missing.extend(never.into_iter().map(|(target, cases)| {
            html! {
                a href=(paths::benchmark(benchmark.name)) { (benchmark.name) } ": " strong.bad { "missing" } ": "
                @match cases.as_slice() {
                    [_] if benchmark.cases.len() == 1 => "no result",
                    [only] => { "no result of " (parts::cut(only)) },
                    _ => { "no result of " (cases.len()) " of " (benchmark.cases.len()) " cases" },
                }
                " on " (parts::cut(target))
            }
        }));
    }
    failing.extend(missing);
    failing
}

/// Says what keeps a case from being judged.
pub(super) fn told(trouble: &Trouble<'_>) -> Markup {
    html! {
        @match trouble.what {
            Obstacle::Failed { since, failed, all, reason } => {
                strong.bad { (failed) " of " (all) " runs failed" } " in the session of " (parts::time(since)) " on " (parts::cut(trouble.target))
                @if let Some(reason) = reason { ": " (parts::cut(reason)) }
            }
            Obstacle::NeverRan => {
                strong.bad { "missing" } ": its spec asks for it, and there is no result from " (parts::cut(trouble.target))
            }
            Obstacle::NoValue { metric, message } => {
                strong.bad { "no value of " (parts::cut(metric)) } " on " (parts::cut(trouble.target)) ": " (parts::cut(message))
            }
        }
    }
}
