//! Answers as people read them. Leaves: they get an answer and return text.

mod human;
mod markdown;

pub use human::human;
pub use markdown::markdown;

use super::model::{Estimate, Front, FrontMetric, FrontPoint, Group, Row, UnitCost};
use crate::compare::words;
use kubebench_syntax::invariant::Invariant as _;

/// Returns a multiple, to the digits that its interval supports: `1.93 × [1.91, 1.95]`.
pub(super) fn times(estimate: Estimate) -> String {
    let digits = match estimate.interval.map(|(low, high)| high - low) {
        Some(width) if width < 0.02 => 3,
        Some(width) if width >= 0.5 => 1,
        _ => 2,
    };
    let shown = |value: f64| match value {
        // What two digits would round away.
        value if !(0.1..1e4).contains(&value) => words::number(value),
        value => format!("{value:.digits$}"),
    };
    let interval =
        estimate.interval.map_or_else(String::new, |(low, high)| format!(" [{}, {}]", shown(low), shown(high)));
    format!("{} ×{interval}", shown(estimate.value))
}

/// Returns a share as a percentage, to the digits that its interval supports: `96 % [95, 98]`.
pub(super) fn percent(estimate: Estimate) -> String {
    let digits = usize::from(estimate.interval.is_some_and(|(low, high)| high - low < 0.02));
    let shown = |share: f64| format!("{:.digits$}", share * 100.0);
    let interval =
        estimate.interval.map_or_else(String::new, |(low, high)| format!(" [{}, {}]", shown(low), shown(high)));
    format!("{} %{interval}", shown(estimate.value))
}

/// Returns a value with its interval and unit: `1447 images/s [1440, 1455]`.
fn value(estimate: Estimate, unit: Option<&str>) -> String {
    let number = words::number;
    let interval =
        estimate.interval.map_or_else(String::new, |(low, high)| format!(" [{}, {}]", number(low), number(high)));
    format!("{}{interval}", words::value(estimate.value, unit))
}

/// Returns what a unit of work costs: `3.1 EUR for 10⁶ images`.
fn cost(cost: &UnitCost) -> String {
    let per = if cost.per <= 1.0 { "one".to_owned() } else { "10⁶".to_owned() };
    format!("{} {} for {per} {}", words::number(cost.amount), cost.currency, cost.of)
}

/// Returns the base, or how many times better than it a row is.
fn speedup(row: &Row, group: &Group) -> String {
    let told = if group.direction == super::model::Direction::None { row.ratio } else { row.speedup };
    match (told, &group.base) {
        (Some(estimate), _) => times(estimate),
        (None, Some(base)) if *base == row.value => "base".to_owned(),
        (None, _) => "–".to_owned(),
    }
}

/// Returns the heading of the column of ratios: only what has a direction is faster.
fn faster(group: &Group) -> &'static str {
    if group.direction == super::model::Direction::None { "ratio" } else { "speed-up" }
}

/// Returns whether a group has an efficiency, and a cost.
fn has(group: &Group) -> (bool, bool) {
    (group.rows.iter().any(|row| row.efficiency.is_some()), group.rows.iter().any(|row| row.cost.is_some()))
}

/// Says where a case stands.
fn place(point: &FrontPoint, front: &Front) -> String {
    let name = |case: &String| {
        let other = front.points.iter().find(|other| other.case == *case);
        other.map_or_else(|| case.clone(), |other| other.case_name.clone())
    };
    let names = |cases: &[String]| {
        let first = cases.first().map(name).expected("a case that is better");
        if cases.len() > 1 { format!("{first} and {} more", cases.len() - 1) } else { first }
    };
    match (point.dominated_by.is_empty(), point.perhaps_by.is_empty()) {
        (false, _) => format!("dominated by {}", names(&point.dominated_by)),
        (true, false) => format!("front, or behind {} by noise", names(&point.perhaps_by)),
        (true, true) => "front".to_owned(),
    }
}

/// Returns a metric of a front with which way is better.
fn way(metric: &FrontMetric) -> String {
    let way = match metric.direction {
        super::model::Direction::Higher => "higher is better",
        super::model::Direction::Lower => "lower is better",
        super::model::Direction::None => "no direction",
    };
    format!("{} ({way})", metric.name)
}
