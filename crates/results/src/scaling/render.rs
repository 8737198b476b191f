//! Answers as people read them. Leaves: they get an answer and return text.

mod human;
mod markdown;

pub use human::human;
pub use markdown::markdown;

use std::collections::BTreeMap;

use super::model::{Direction, Estimate, Front, FrontMetric, FrontPoint, Group, Row, UnitCost};
use crate::compare::words::{self, Scaled};
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
fn value(estimate: Estimate, scaled: &Scaled) -> String {
    let number = |value: f64| words::number(scaled.convert(value));
    let interval =
        estimate.interval.map_or_else(String::new, |(low, high)| format!(" [{}, {}]", number(low), number(high)));
    format!("{}{interval}", scaled.value(estimate.value))
}

/// Returns what a unit of work costs: `3.1 EUR for 10⁶ images`.
fn cost(cost: &UnitCost) -> String {
    let per = if cost.per <= 1.0 { "one".to_owned() } else { "10⁶".to_owned() };
    format!("{} {} for {per} {}", words::number(cost.amount), cost.currency, cost.of)
}

/// Returns the base, or how many times better than it a row is.
fn speedup(row: &Row, group: &Group) -> String {
    let ratio = if group.direction == Direction::None { row.ratio } else { row.speedup };
    match (ratio, &group.base) {
        (Some(estimate), _) => times(estimate),
        (None, Some(base)) if *base == row.value => "base".to_owned(),
        (None, _) => "–".to_owned(),
    }
}

/// Returns the heading of the column of ratios: only what has a direction is faster.
fn faster(group: &Group) -> &'static str {
    if group.direction == Direction::None { "ratio" } else { "speed-up" }
}

/// Headings, and the rows below them.
struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Returns the rows of a group; efficiency and cost where any has them.
fn table_of_group(group: &Group, axis: &str) -> Table {
    let has_efficiency = group.rows.iter().any(|row| row.efficiency.is_some());
    let has_cost = group.rows.iter().any(|row| row.cost.is_some());
    let dash = || "–".to_owned();
    let mut headings = [axis, "sessions", "median", faster(group)].map(str::to_owned).to_vec();
    headings.extend(has_efficiency.then(|| "efficiency".to_owned()));
    headings.extend(has_cost.then(|| "cost".to_owned()));
    let scaled = Scaled::of_all(group.rows.iter().map(|row| row.median), group.unit.as_deref());
    let rows = group.rows.iter().map(|row| {
        let median = value(Estimate { value: row.median, interval: row.interval }, &scaled);
        let mut cells = vec![row.value.clone(), row.sessions.to_string(), median, speedup(row, group)];
        cells.extend(has_efficiency.then(|| row.efficiency.map_or_else(dash, percent)));
        cells.extend(has_cost.then(|| row.cost.as_ref().map_or_else(dash, cost)));
        cells
    });
    Table { rows: rows.collect(), headings }
}

/// Returns the cases of a front.
fn table_of_front(front: &Front) -> Table {
    let (first, second) = &front.metrics;
    let of_all = |metric: &FrontMetric, of: fn(&FrontPoint) -> f64| {
        Scaled::of_all(front.points.iter().map(of), metric.unit.as_deref())
    };
    let scaled = (of_all(first, |point| point.values.0.value), of_all(second, |point| point.values.1.value));
    let rows = front.points.iter().map(|point| {
        let [one, other] = [(point.values.0, &scaled.0), (point.values.1, &scaled.1)];
        vec![point.case_name.clone(), value(one.0, one.1), value(other.0, other.1), place(point, front)]
    });
    Table { rows: rows.collect(), headings: ["case", &first.name, &second.name, "front"].map(str::to_owned).to_vec() }
}

/// Says which way is better, where there is one.
fn better(group: &Group) -> String {
    if group.direction == Direction::None { String::new() } else { format!(", {}", way(group.direction)) }
}

/// Returns the heading of a front.
fn title_of_front(front: &Front) -> String {
    let metric = |metric: &FrontMetric| format!("{} ({})", metric.name, way(metric.direction));
    format!("{}: {} against {}", front.benchmark, metric(&front.metrics.0), metric(&front.metrics.1))
}

/// Returns facts of an environment as one text.
fn facts(environment: &BTreeMap<String, String>) -> String {
    environment.iter().map(|(fact, said)| format!("{fact} {said}")).collect::<Vec<_>>().join(", ")
}

/// Describes a case relative to the front.
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

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => "higher is better",
        Direction::Lower => "lower is better",
        Direction::None => "no direction",
    }
}
