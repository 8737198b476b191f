//! What the counters of the first page count: for each state the series that are in it, the largest change first.

use maud::{Markup, html};

use super::super::chart::{Chart, What};
use super::super::paths::{self, relative};
use super::super::site::Site;
use super::super::tally::State;
use super::{File, Page, by_weight, parts};
use kubebench_results::compare::model::Verdict;
use kubebench_results::compare::words;

/// The maximum number of series on a page.
const MOST: usize = 500;
/// The bytes that they may have.
const WEIGHT: usize = 220_000;

/// Draws the pages of all states that a series is in.
pub(crate) fn pages(site: &Site<'_>) -> Vec<File> {
    State::ALL.into_iter().flat_map(|state| of_state(site, state)).collect()
}

fn of_state(site: &Site<'_>, state: State) -> Vec<File> {
    let mut charts: Vec<&Chart<'_>> =
        site.charts().filter(|chart| chart.counts() && State::of(chart) == state).collect();
    if charts.is_empty() {
        return Vec::new();
    }
    // The sort is stable: by benchmark and case otherwise.
    charts.sort_by(|one, other| other.size().total_cmp(&one.size()));
    let count = charts.len();
    let from = paths::series(&state.slug(), 1);
    let parts = by_weight(charts.into_iter().map(|chart| row(&from, chart)).collect(), MOST, WEIGHT);
    let pages = parts.len();
    let draw = |(at, rows): (usize, Vec<Markup>)| {
        let path = paths::series(&state.slug(), at + 1);
        let title = format!("{count} series: {}", state.words());
        let body = html! {
            (parts::table("Series with their change and level, the largest change first", &HEAD, &rows))
            p.more {
                (parts::SPARK)
                @if state == State::Improved && at == 0 {
                    " Earlier improvements are among the " a href=(relative(&path, paths::CHANGES)) { "changes" } "."
                }
            }
            @if pages > 1 {
                p { "Page " (at + 1) " of " (pages) ": "
                    @for page in 1..=pages { a href=(relative(&path, &paths::series(&state.slug(), page))) { (page) } " " } }
            }
        };
        let title = if at == 0 { title } else { format!("{title}, page {}", at + 1) };
        Page { path: &path, title: &title, above: &[("Overview", paths::OVERVIEW.to_owned())], body }.draw(site)
    };
    parts.into_iter().enumerate().map(draw).collect()
}

const HEAD: [&str; 5] = ["Benchmark", "Metric", "Change", "Level", "Sessions"];

fn row(from: &str, chart: &Chart<'_>) -> Markup {
    let history = chart.history;
    html! {
        tr {
            th scope="row" {
                a href=(relative(from, &paths::benchmark(&history.benchmark))) { (history.benchmark) }
                @if !history.case_name.is_empty() { br; small { (parts::cut(&history.case_name)) } }
            }
            td { a href=(relative(from, &chart.place())) { (parts::metric(history)) } br; small { (parts::hardware(history)) } }
            td {
                (change(chart)) (parts::toward(history))
                // What such a change lacks is different from series to series.
                @if let Some(line) = chart.line().filter(|line| line.verdict == Verdict::Inconclusive) { br; small { (parts::sentence(&line.message)) } }
            }
            td.drawn { (parts::level(chart)) }
            td.number { (history.sessions.len()) }
        }
    }
}

fn change(chart: &Chart<'_>) -> String {
    match (chart.finding().map(|finding| finding.what), chart.line()) {
        (Some(What::Level(size)), _) => words::size(size, chart.history.unit.as_deref()),
        (Some(What::Limit(message)), _) => parts::sentence(message),
        (None, line) => {
            let size = line.and_then(words::shown);
            size.map_or_else(|| "–".to_owned(), |size| words::size(size, chart.history.unit.as_deref()))
        }
    }
}
