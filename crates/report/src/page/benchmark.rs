//! A benchmark: its state, its cases side by side, what its metrics did, and its runs.

use maud::{Markup, html};

use super::super::chart::Chart;
use super::super::paths::{self, relative};
use super::super::site::{Benchmark, Case, Site};
use super::chart::{self, Runs};
use super::parts::Said;
use super::{File, Page, case, matrix, news, overview, parts, runs, scaling};
use kubebench_results::compare::model::Kind;

/// The bytes that plots, maps and tables may have on this page in addition to the runs; the rest is on the pages of the cases.
const WEIGHT: usize = 170_000;
/// The maximum number of cases that are named.
const MOST_CASES: usize = 300;
/// The maximum number of cases named that fail or never ran.
const MOST: usize = 20;

/// Draws all pages of a benchmark.
pub(crate) fn pages(site: &Site<'_>, benchmark: &Benchmark<'_>) -> Vec<File> {
    let values = Runs::of(site, benchmark);
    let all_runs = runs::pages(site, benchmark);
    let path = paths::benchmark(benchmark.name);
    let fit = |markup: Markup, room: usize| {
        if markup.0.len() > room {
            html! {}
        } else {
            markup
        }
    };
    let scaling = fit(scaling::scaling(&path, benchmark), WEIGHT / 2);
    let maps = fit(matrix::maps(&path, benchmark), WEIGHT / 2);
    let room = WEIGHT - scaling.0.len() - maps.0.len();
    let body = html! {
        @if let Some(description) = benchmark.asked.and_then(|asked| asked.description.as_deref()) { p { (description) } }
        (facts(site, benchmark))
        section.news aria-labelledby="news" {
            (news::news(site, &path, &benchmark.cases, Said::Benchmark))
            @for case in benchmark.cases.iter().filter(|case| !case.troubles.is_empty()).take(MOST) {
                @for trouble in &case.troubles { p { (parts::cut(case.name)) " " (overview::history(trouble)) "." } }
            }
        }
        (maps)
        (scaling)
        section aria-labelledby="trends" {
            h2 id="trends" { "Trends" }
            (trends(site, &path, benchmark, &values, room))
        }
        section aria-labelledby="runs" {
            h2 id="runs" { "Runs" }
            @if benchmark.rows.is_empty() { p { "It has not run yet." } }
            @else { (all_runs.newest(site, &path, benchmark)) }
        }
    };
    let page = Page { path: &path, title: benchmark.name, above: &[("Overview", paths::OVERVIEW.to_owned())], body };
    let mut files = vec![page.draw(site)];
    files.extend(benchmark.cases.iter().flat_map(|of| case::pages(site, benchmark, of, &values)));
    files.extend(all_runs.files);
    files
}

fn facts(site: &Site<'_>, benchmark: &Benchmark<'_>) -> Markup {
    let newest = benchmark.rows.first();
    let labels = newest.map(|row| &site.request.dataset.subject(row).labels);
    html! {
        p.facts {
            @match benchmark.asked {
                Some(asked) => {
                    @if let Some(link) = site.request.links.spec(None, &asked.path) { a href=(link) { (asked.path) } }
                    @else { (asked.path) }
                }
                None => strong.warn { "no longer in any spec" }
            }
            " · " (benchmark.rows.len()) " runs"
            @if let Some(row) = newest { " · newest " (parts::time(&row.started_at)) }
            @for (name, value) in labels.into_iter().flatten().take(8) { " · " (parts::cut(name)) "=" (parts::cut(value)) }
        }
    }
}

/// Draws the primary metrics, what needs attention first, as far as the page stays light; and names the rest.
fn trends(site: &Site<'_>, from: &str, benchmark: &Benchmark<'_>, runs: &Runs, room: usize) -> Markup {
    let mut wanted: Vec<(&Case<'_>, &Chart<'_>)> = benchmark
        .cases
        .iter()
        .flat_map(|case| case.charts.iter().map(move |chart| (case, chart)))
        .filter(|(_, chart)| !chart.is_stale && (chart.history.kind == Kind::Primary || chart.finding().is_some()))
        .collect();
    // The sort is stable: by case otherwise.
    wanted.sort_by(|(_, one), (_, other)| {
        let is_quiet = |chart: &Chart<'_>| chart.finding().is_none_or(|finding| finding.is_pending());
        is_quiet(one).cmp(&is_quiet(other)).then(other.size().total_cmp(&one.size()))
    });
    let mut filled = 0;
    let mut drawn = Vec::new();
    for (case, chart) in wanted {
        // Several cases have the same metrics.
        let anchor = format!("{}-{}", case.id, chart.anchor);
        let markup = named(from, benchmark, case, &chart::draw(site, from, &anchor, chart, runs));
        filled += markup.0.len();
        if filled > room && !drawn.is_empty() {
            break;
        }
        drawn.push(markup);
    }
    html! {
        @if !drawn.is_empty() { (chart::legend()) }
        @for chart in &drawn { (chart) }
        p { "All metrics of the cases:" }
        ul.cases {
            @for case in benchmark.cases.iter().take(MOST_CASES) {
                li { a href=(relative(from, &paths::case(benchmark.name, case.id, 1))) { (name(case)) } " (" (case.charts.len()) ")" }
            }
        }
        @if benchmark.cases.len() > MOST_CASES { p { "And " (benchmark.cases.len() - MOST_CASES) " more cases, which the runs link to." } }
    }
}

/// Puts the name of the case above a chart.
fn named(from: &str, benchmark: &Benchmark<'_>, case: &Case<'_>, chart: &Markup) -> Markup {
    html! {
        @if !case.name.is_empty() {
            p.case { a href=(relative(from, &paths::case(benchmark.name, case.id, 1))) { (name(case)) } }
        }
        (chart)
    }
}

fn name(case: &Case<'_>) -> String {
    if case.name.is_empty() { "the only case".to_owned() } else { parts::cut(case.name) }
}
