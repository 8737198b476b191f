//! The metrics of a case: all of them, on as many pages as it takes.

use maud::{Markup, html};

use super::super::chart::{Chart, DRAWN, page};
use super::super::paths::{self, relative};
use super::super::site::{Benchmark, Case, Site};
use super::chart::{self, Runs};
use super::latency::latency;
use super::parts::Said;
use super::{File, Page, news, overview, parts};

/// Draws the pages of a case.
pub(super) fn pages(site: &Site<'_>, benchmark: &Benchmark<'_>, case: &Case<'_>, runs: &Runs) -> Vec<File> {
    let count = page(case.charts.len().saturating_sub(1));
    let name = if case.name.is_empty() { "the only case".to_owned() } else { parts::cut(case.name) };
    let name = format!("{}: {name}", benchmark.name);
    let above = [(benchmark.name, paths::benchmark(benchmark.name))];
    let draw = |at: usize| {
        let path = paths::case(benchmark.name, case.id, at + 1);
        let own = || case.charts.iter().enumerate().filter(move |(_, chart)| chart.page == at + 1);
        let charts: Vec<Markup> = own()
            .filter(|(place, _)| *place < DRAWN)
            .map(|(_, chart)| chart::draw(site, &path, &chart.anchor, chart, runs))
            .collect();
        let rows: Vec<Markup> = own().filter(|(place, _)| *place >= DRAWN).map(|(_, chart)| row(chart)).collect();
        let body = html! {
            @if at == 0 {
                section.news aria-labelledby="news" {
                    (news::news(site, &path, std::slice::from_ref(case), Said::Case))
                    @for trouble in &case.troubles { p.open { (overview::history(trouble)) "." } }
                }
                @if !case.params.is_empty() {
                    dl.facts { @for (name, value) in &case.params { dt { (parts::cut(name)) } dd { (parts::cut(value)) } } }
                }
            }
            h2 { "Metrics" }
            @if case.charts.is_empty() { p { "No run of this case has a value that counts." } }
            @if !charts.is_empty() { (chart::legend()) }
            @for chart in &charts { (chart) }
            @if !rows.is_empty() { (parts::table("More metrics; the data has all of their sessions", &["Metric", "Level", "Sessions"], &rows)) }
            @if at == 0 { (latency(site, &path, benchmark, case)) }
            @if count > 1 {
                p { "Page " (at + 1) " of " (count) " of the metrics: "
                    @for page in 1..=count { a href=(relative(&path, &paths::case(benchmark.name, case.id, page))) { (page) } " " } }
            }
        };
        let title = if at == 0 { name.clone() } else { format!("{name}, page {}", at + 1) };
        Page { path: &path, title: &title, above: &above, body }.draw(site)
    };
    (0..count).map(draw).collect()
}

/// Draws a metric that has no plot of its own.
fn row(chart: &Chart<'_>) -> Markup {
    html! {
        tr id=(chart.anchor) {
            th scope="row" { (parts::metric(chart.history)) }
            td.drawn { (parts::level(chart)) }
            td.number { (chart.history.sessions.len()) }
        }
    }
}
