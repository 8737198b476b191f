//! A spark line for a table: where a series stood, and where it stands.

use maud::{Markup, html};

use super::n;
use super::trend::line;
use kubebench_syntax::invariant::Invariant as _;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 24.0;
/// So many of the newest values.
const MOST: usize = 60;

/// Draws the newest values; the row of the table says in words what matters of them.
pub(crate) fn spark(values: &[f64]) -> Markup {
    let values = values.get(values.len().saturating_sub(MOST)..).expected("the newest of these values");
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
    let place = |(at, value): (usize, &f64)| {
        let share = if high > low { (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) } else { 0.5 };
        let x = 3.0 + (WIDTH - 6.0) * at as f64 / values.len().saturating_sub(1).max(1) as f64;
        (x, 3.0 + (HEIGHT - 6.0) * (1.0 - share))
    };
    let last = values.iter().enumerate().next_back().map(place);
    html! {
        svg.spark viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
            path d=(line(values.iter().enumerate().map(place))) {}
            @if let Some((x, y)) = last { circle cx=(n(x)) cy=(n(y)) r="2.5" {} }
        }
    }
}
