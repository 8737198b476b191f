//! The matrix of a benchmark as a heat map: two parameters across, the level of a primary metric in each cell, and a color where
//! levels can be distinguished.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::chart::Chart;
use super::super::paths::{self, relative};
use super::super::site::{Benchmark, Case};
use super::parts;
use kubebench_results::compare::model::{Direction, Kind};
use kubebench_results::compare::words::Scaled;
use kubebench_results::order::{AxisOrder, sort_by_case};
use kubebench_results::verdict::{DEFAULT_THRESHOLD, Scale, measure};
use kubebench_stats as stats;

/// The maximum number of maps on a page.
const MOST: usize = 6;
/// With more cells than this, no map is drawn.
const MOST_CELLS: usize = 400;
/// The shades besides that of the worst.
const SHADES: usize = 5;
/// Levels are distinguished where a difference is at most this likely by chance: there are many in a map.
const APART: f64 = 0.01;

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
        for chart in case.charts.iter().filter(|chart| chart.history.kind == Kind::Primary && !chart.is_stale) {
            let target = chart.history.environment.get("target").map_or("", String::as_str);
            let unit = chart.history.unit.as_deref().unwrap_or("no unit");
            let kind = paths::environment_id(&chart.history.environment);
            let metric = format!("{} in {} on {target}", parts::metric(chart.history), parts::cut(unit));
            let key = (metric, kind, fixed.clone());
            maps.entry(key).or_default().insert((param(down), across.map_or("", param)), (case, chart));
        }
    }
    let fit = maps.iter().filter(|(_, map)| map.len() > 1 && map.len() <= MOST_CELLS);
    let mut fit: Vec<(String, &Map<'_>)> = fit.map(|((metric, _, fixed), map)| (caption(metric, fixed), map)).collect();
    let mut captions: BTreeMap<String, usize> = BTreeMap::new();
    for (caption, _) in &fit {
        *captions.entry(caption.clone()).or_default() += 1;
    }
    // A target may have machines of several kinds.
    for (caption, map) in fit.iter_mut().filter(|(caption, _)| captions.get(caption).is_some_and(|count| *count > 1)) {
        let hardware = map.values().next().map(|(_, chart)| parts::hardware(chart.history)).unwrap_or_default();
        caption.push_str(&format!(", {hardware}"));
    }
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
    let shades = shades(map);
    // All of a map have one unit.
    let unit = map.values().next().and_then(|(_, chart)| chart.history.unit.as_deref()).map(parts::cut);
    let scaled = Scaled::of_all(map.values().filter_map(|(_, chart)| chart.level()), unit.as_deref());
    let has_direction = map.values().any(|(_, chart)| chart.history.direction != Direction::None);
    let legend = match (shades.values().any(|shade| *shade > 0), has_direction) {
        (true, _) => "a stronger color is better; cells of one color do not differ beyond noise and threshold",
        (false, true) => "no cell differs beyond noise and threshold",
        (false, false) => "without colors, because the metric has no direction",
    };
    let cell = |row: &str, column: &str| {
        let Some((case, chart)) = map.get(&(row, column)) else { return html! { td { "–" } } };
        let Some(level) = chart.level() else { return html! { td { "–" } } };
        let shown = scaled.value(level);
        html! {
            td class={ "heat h" (shades.get(&(row, column)).copied().unwrap_or_default()) } {
                a href=(relative(from, &paths::case(benchmark.name, case.id, 1))) { (shown) }
                @if chart.finding().is_some() { " " strong.bad title="got worse" { "▼" } }
            }
        }
    };
    html! {
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table.heat {
                caption { "Newest level of " (caption) ": " (legend) }
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

/// Returns the shade of each cell: 0 is the worst, and cells whose levels cannot be distinguished have the same one. There are as
/// many as there are levels that can be, so that a small difference is no dark color.
fn shades<'a>(map: &Map<'a>) -> BTreeMap<(&'a str, &'a str), usize> {
    let mut cells: Vec<Cell<'a>> = Vec::new();
    for (place, (_, chart)) in map {
        let values = chart.history.level().iter().map(|session| session.value).collect();
        if let Some(level) = chart.level().filter(|_| chart.history.direction != Direction::None) {
            cells.push(Cell { place: *place, direction: chart.history.direction, values, level });
        }
    }
    cells.sort_by(|one, other| one.level.total_cmp(&other.level));
    let threshold = map.values().next().map_or(DEFAULT_THRESHOLD, |(_, chart)| chart.history.threshold);
    // The places at which a level begins that is not that of the cells before.
    let mut begins: Vec<usize> = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        let before = begins.last().and_then(|begin| cells.get(*begin));
        let is_apart = before.is_none_or(|before| {
            let scale = Scale::of(&before.values, &cell.values);
            let effect = scale.and_then(|scale| measure(scale, &before.values, &[], &cell.values));
            effect.is_some_and(|effect| {
                effect.p <= APART && effect.change().is_none_or(|change| change.abs() >= threshold)
            })
        });
        if is_apart {
            begins.push(at);
        }
    }
    let levels: Vec<f64> = begins.iter().filter_map(|begin| cells.get(*begin)).map(|cell| cell.level).collect();
    let most = levels.len().saturating_sub(1).min(SHADES);
    let shade = |at: usize, direction: Direction| {
        let own = begins.partition_point(|begin| *begin <= at).saturating_sub(1);
        let share = share(&levels, own);
        step(if direction == Direction::Lower { 1.0 - share } else { share }, most)
    };
    cells.iter().enumerate().map(|(at, cell)| (cell.place, shade(at, cell.direction))).collect()
}

/// What of a cell decides on its color.
struct Cell<'a> {
    place: (&'a str, &'a str),
    direction: Direction,
    /// The sessions of the level.
    values: Vec<f64>,
    level: f64,
}

/// Returns how far a level is between the lowest and the highest.
fn share(levels: &[f64], at: usize) -> f64 {
    let (Some(low), Some(high), Some(level)) = (levels.first(), levels.last(), levels.get(at)) else { return 0.0 };
    if high <= low {
        return 0.0;
    }
    if *low > 0.0 {
        stats::ln(level / low) / stats::ln(high / low)
    } else {
        (level / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a few shades")]
fn step(share: f64, most: usize) -> usize {
    (share.clamp(0.0, 1.0) * most as f64).round() as usize
}
