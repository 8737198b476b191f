//! The matrix of a benchmark as a heat map: two parameters across, the newest level of a primary metric in each cell.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::chart::Chart;
use super::super::paths::{self, relative};
use super::super::site::{Benchmark, Case};
use super::parts;
use kubebench_results::compare::model::{Direction, Kind};
use kubebench_results::compare::words;
use kubebench_results::order::{AxisOrder, sort_by_case};

/// So many maps stand on a page.
const MOST: usize = 6;
/// More cells than this are no map any more.
const MOST_CELLS: usize = 400;
/// The steps of the scale.
const STEPS: f64 = 6.0;

/// Draws the maps: for each primary metric and target, and for each value of the parameters that are neither row nor column.
pub(super) fn maps(from: &str, benchmark: &Benchmark<'_>) -> Markup {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in benchmark.cases.iter().flat_map(|case| &case.params) {
        values.entry(name).or_default().insert(value);
    }
    let mut varying: Vec<&str> = values.iter().filter(|(_, own)| own.len() > 1).map(|(name, _)| *name).collect();
    // The longer side goes down: pages are as long as they need.
    varying.sort_by_key(|name| std::cmp::Reverse(values.get(name).map_or(0, BTreeSet::len)));
    let Some((down, rest)) = varying.split_first() else { return html! {} };
    // A single parameter that counts something is shown as what it is: scaling.
    if rest.is_empty() && benchmark.groups.iter().any(|(axis, _)| axis == down) {
        return html! {};
    }
    let (across, rest) = rest.split_first().map_or((None, rest), |(across, rest)| (Some(*across), rest));
    let mut maps: BTreeMap<Of<'_>, Map<'_>> = BTreeMap::new();
    for case in &benchmark.cases {
        let param = |name: &str| case.params.get(name).map_or("–", String::as_str);
        let fixed: Vec<(&str, &str)> = rest.iter().map(|name| (*name, param(name))).collect();
        for chart in case.charts.iter().filter(|chart| chart.told.kind == Kind::Primary && !chart.is_stale) {
            let target = chart.told.environment.get("target").map_or("", String::as_str);
            let unit = chart.told.unit.as_deref().unwrap_or("no unit");
            let kind = paths::environment_id(&chart.told.environment);
            let metric = format!("{} in {} on {target}", parts::metric(chart.told), parts::cut(unit));
            let key = (metric, kind, fixed.clone());
            maps.entry(key).or_default().insert((param(down), across.map_or("", param)), (case, chart));
        }
    }
    let fit = maps.iter().filter(|(_, map)| map.len() > 1 && map.len() <= MOST_CELLS);
    let mut fit: Vec<(String, &Map<'_>)> = fit.map(|((metric, _, fixed), map)| (caption(metric, fixed), map)).collect();
    sort_by_case(&mut fit, |(caption, _)| ("", caption));
    html! {
        @if !fit.is_empty() {
            section aria-labelledby="matrix" {
                h2 id="matrix" { "Matrix" }
                @for (caption, map) in fit.iter().take(MOST) {
                    (draw(from, benchmark, caption, (down, across), map))
                }
                @if fit.len() > MOST { p { (fit.len() - MOST) " more maps are not shown." } }
            }
        }
    }
}

/// What a map is of: the metric with its unit and target, the hardware, and the parameters that are the same in it.
type Of<'a> = (String, String, Vec<(&'a str, &'a str)>);
type Map<'a> = BTreeMap<(&'a str, &'a str), (&'a Case<'a>, &'a Chart<'a>)>;

fn caption(metric: &str, fixed: &[(&str, &str)]) -> String {
    let fixed: String = fixed.iter().map(|(name, value)| format!(", {name}={value}")).collect();
    parts::cut(&format!("{metric}{fixed}"))
}

fn draw(from: &str, benchmark: &Benchmark<'_>, caption: &str, axes: (&str, Option<&str>), map: &Map<'_>) -> Markup {
    let (down, across) = axes;
    let rows: BTreeSet<&str> = map.keys().map(|(row, _)| *row).collect();
    let columns: BTreeSet<&str> = map.keys().map(|(_, column)| *column).collect();
    let [rows, columns] = [rows, columns].map(AxisOrder::sorted);
    let levels: Vec<f64> = map.values().filter_map(|(_, chart)| newest(chart)).collect();
    let (low, high) = levels
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
    let cell = |row: &str, column: &str| {
        let Some((case, chart)) = map.get(&(row, column)) else { return html! { td { "–" } } };
        let Some(level) = newest(chart) else { return html! { td { "–" } } };
        let shown = words::value(level, chart.told.unit.as_deref().map(parts::cut).as_deref());
        html! {
            td class={ "heat h" (step(level, low, high, chart.told.direction)) } {
                a href=(relative(from, &paths::case(benchmark.name, case.id, 1))) { (shown) }
                @if chart.finding().is_some() { " " strong.bad title="got worse" { "▼" } }
            }
        }
    };
    html! {
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table.heat {
                caption { (caption) ", the newest session of the level that is there now; a stronger color is better" }
                thead {
                    tr {
                        th scope="col" { (parts::cut(down)) @if let Some(across) = across { " \\ " (parts::cut(across)) } }
                        @for column in &columns { th scope="col" { @if across.is_some() { (parts::cut(column)) } @else { "level" } } }
                    }
                }
                tbody {
                    @for row in &rows {
                        tr { th scope="row" { (parts::cut(row)) } @for column in &columns { (cell(row, column)) } }
                    }
                }
            }
        }
    }
}

fn newest(chart: &Chart<'_>) -> Option<f64> {
    chart.told.level().last().map(|session| session.value)
}

/// Returns how good a level is among those of its map: 0 is the worst, or all are alike.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a few steps")]
fn step(level: f64, low: f64, high: f64, direction: Direction) -> u8 {
    if high <= low || direction == Direction::None {
        return 0;
    }
    let share = if low > 0.0 {
        (level / low).ln() / (high / low).ln()
    } else {
        (level / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
    };
    let good = if direction == Direction::Lower { 1.0 - share } else { share };
    (good * (STEPS - 1.0)).round().clamp(0.0, STEPS - 1.0) as u8
}
