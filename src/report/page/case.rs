//! The metrics of a case: all of them, on as many pages as it takes.

use maud::{Markup, html};

use super::super::place::{self, relative};
use super::super::site::{Benchmark, Case, Site};
use super::chart::{self, Runs};
use super::latency::latency;
use super::{File, Page, by_weight, overview, parts};

/// So many charts stand on a page.
const MOST: usize = 40;
const WEIGHT: usize = 240_000;

/// Draws the pages of a case.
pub(super) fn pages(site: &Site<'_>, benchmark: &Benchmark<'_>, case: &Case<'_>, runs: &Runs) -> Vec<File> {
    let first = place::case(benchmark.name, case.id, 1);
    let charts: Vec<Markup> =
        case.charts.iter().map(|chart| chart::draw(site, &first, &chart.anchor, chart, runs)).collect();
    let parts = by_weight(charts, MOST, WEIGHT);
    let count = parts.len();
    let name = if case.name.is_empty() { "the only case".to_owned() } else { parts::cut(case.name) };
    let name = format!("{}: {name}", benchmark.name);
    let above = [(benchmark.name, place::benchmark(benchmark.name))];
    let draw = |(at, charts): (usize, Vec<Markup>)| {
        let path = place::case(benchmark.name, case.id, at + 1);
        let body = html! {
            @if at == 0 {
                @for trouble in &case.troubles { p.open { (overview::told(trouble)) "." } }
                @if !case.params.is_empty() {
                    dl.facts { @for (name, value) in &case.params { dt { (parts::cut(name)) } dd { (parts::cut(value)) } } }
                }
            }
            @if charts.is_empty() { p { "No run of this case has a value that counts." } } @else {
                h2 { "Metrics" }
                (chart::legend())
            }
            @for chart in &charts { (chart) }
            @if at == 0 { (latency(site, case)) }
            @if count > 1 {
                p { "Page " (at + 1) " of " (count) " of the metrics: "
                    @for page in 1..=count { a href=(relative(&path, &place::case(benchmark.name, case.id, page))) { (page) } " " } }
            }
        };
        let title = if at == 0 { name.clone() } else { format!("{name}, page {}", at + 1) };
        Page { path: &path, title: &title, above: &above, body }.draw(site)
    };
    parts.into_iter().enumerate().map(draw).collect()
}
