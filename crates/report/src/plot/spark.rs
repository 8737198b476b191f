//! A spark line for a table: a whole series, its levels, and where they changed.

use maud::{Markup, html};

use super::super::chart::Chart;
use super::n;
use super::trend::line;
use kubebench_stats as stats;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 24.0;
/// The maximum number of points; more sessions share one, at their median.
const MOST: usize = 60;
/// The maximum number of marked changes, the newest ones.
const MARKS: usize = 12;

/// Draws all sessions of a series; the row of the table says in words what matters of them.
pub(crate) fn spark(chart: &Chart<'_>) -> Markup {
    let history = chart.history;
    let values: Vec<f64> = history.sessions.iter().map(|session| session.value).collect();
    let by = values.len().div_ceil(MOST).max(1);
    let points: Vec<(f64, f64)> = values
        .chunks(by)
        .enumerate()
        .map(|(at, own)| ((at * by) as f64 + (own.len() - 1) as f64 / 2.0, stats::quantile(own.iter().copied(), 0.5)))
        .collect();
    let levels = chart.levels();
    let drawn = points.iter().map(|(_, value)| *value).chain(levels.iter().map(|(_, _, level)| *level));
    let (low, high) =
        drawn.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let x = |session: f64| 3.0 + (WIDTH - 6.0) * (session + 0.5) / values.len().max(1) as f64;
    let y = |value: f64| {
        let share = if high > low { (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) } else { 0.5 };
        3.0 + (HEIGHT - 6.0) * (1.0 - share)
    };
    let skipped = history.changes.len().saturating_sub(MARKS);
    let marks = history.changes.iter().skip(skipped).filter_map(|change| {
        let at = history.sessions.iter().position(|session| session.session == change.session)?;
        Some((at, if chart.is_open(change) { "mark open" } else { "mark" }))
    });
    html! {
        svg.spark viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
            @for (at, class) in marks { path class=(class) d={ "M" (n(x(at as f64 - 0.5))) " 0V" (n(HEIGHT)) } {} }
            path d=(line(points.iter().map(|(at, value)| (x(*at), y(*value))))) {}
            @for (from, to, level) in &levels {
                path.level d={ "M" (n(x(*from as f64 - 0.5))) " " (n(y(*level))) "H" (n(x(*to as f64 + 0.5))) } {}
            }
        }
    }
}
