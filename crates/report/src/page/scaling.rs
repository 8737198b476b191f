//! Does adding machines pay, which variant wins, and which cases are the best where two metrics pull apart.

use maud::{Markup, html};

use super::super::paths::{self, relative};
use super::super::plot::pareto::Pareto;
use super::super::plot::scaling::Scaling;
use super::super::site::Benchmark;
use super::parts;
use kubebench_format::result::plain;
use kubebench_results::compare::words::{self, Scaled};
use kubebench_results::scaling::model::{Estimate, Front, FrontMetric, Group, Row};

/// The maximum number of comparisons of each kind on a page.
const MOST: usize = 4;
/// The maximum number of rows of a comparison.
const MOST_ROWS: usize = 60;

/// Draws what is known of a benchmark.
pub(super) fn scaling(from: &str, benchmark: &Benchmark<'_>) -> Markup {
    html! {
        @if !benchmark.groups.is_empty() {
            section aria-labelledby="scaling" {
                h2 id="scaling" { "Scaling and variants" }
                p.more { "At the newest level: the sessions since the last change. Ratios are relative to the first \
                     row, with 95 % confidence intervals." }
                @for (axis, group) in benchmark.groups.iter().take(MOST) { (side_by_side(from, benchmark, axis, group)) }
                @if benchmark.groups.len() > MOST {
                    p { (benchmark.groups.len() - MOST) " more; the data has them, and " code { "kubebench compare --by AXIS --benchmark " (benchmark.name) } }
                }
            }
        }
        @if !benchmark.fronts.is_empty() {
            section aria-labelledby="front" {
                h2 id="front" { "Pareto fronts" }
                p.more { "Filled cases are on the Pareto front: no other is better in both metrics beyond the noise. \
                     Every other case is worse in both than some case." }
                @for front in benchmark.fronts.iter().take(MOST) { (pareto(from, benchmark, front)) }
            }
        }
    }
}

fn side_by_side(from: &str, benchmark: &Benchmark<'_>, axis: &str, group: &Group) -> Markup {
    let fixed: String = group.params.iter().map(|(name, value)| format!(", {name}={}", plain(value))).collect();
    let labels: String = group.labels.iter().map(|(name, value)| format!(", {name}={value}")).collect();
    let whole = format!("{}{labels} by {axis}{fixed}, on {}", group.metric, words::hardware(&group.environment));
    let caption = parts::cut(&whole);
    let unit = group.unit.as_deref().map(parts::cut);
    let scaled = Scaled::of_all(group.rows.iter().map(|row| row.median), unit.as_deref());
    let points: Vec<_> = group
        .rows
        .iter()
        .filter_map(|row| {
            let is_base = Some(&row.value) == group.base.as_ref();
            let own = row.speedup.or_else(|| is_base.then_some(Estimate { value: 1.0, interval: None }))?;
            Some((row.number?, own.value, own.interval))
        })
        .collect();
    let costs = group.rows.iter().find_map(|row| row.cost.as_ref());
    let cost = costs.map(|cost| format!("Cost of {} {}", words::number(cost.per), parts::cut(&cost.of)));
    let mut head = vec![axis, "Median", "Sessions", "Speed-up"];
    if group.numeric {
        head.push("Efficiency");
    }
    head.extend(cost.as_deref());
    let row = |row: &Row| {
        html! {
            tr {
                th scope="row" { a href=(relative(from, &paths::case(benchmark.name, &row.case, 1))) { (parts::cut(&row.value)) } }
                td.number { (scaled.value(row.median)) @if row.open.is_some() { " " strong.bad { "▼ open" } } }
                td.number { (row.sessions) }
                td.number { @if Some(&row.value) == group.base.as_ref() { "base" } @else { (estimate(row.speedup, "×")) } }
                @if group.numeric { td.number { (estimate(row.efficiency.map(percent), " %")) } }
                @if cost.is_some() {
                    td.number { @if let Some(cost) = &row.cost { (words::number(cost.amount)) " " (parts::cut(&cost.currency)) } @else { "–" } }
                }
            }
            @for note in row.notes.iter().take(2) { tr { td colspan=(head.len()) { small { (parts::sentence(note)) } } } }
        }
    };
    let rows: Vec<Markup> = group.rows.iter().take(MOST_ROWS).map(row).collect();
    let id = format!("by-{}", paths::slug(&whole));
    let data = |ending: &str| relative(from, &paths::sweep(benchmark.name, axis, ending));
    html! {
        section.chart id=(id) {
            h3 { (caption) }
            @if points.len() > 1 && group.rows.iter().any(|row| row.efficiency.is_some()) {
                (Scaling { id: id.clone(), title: format!("Speed-up of {caption}"), axis, points }.draw())
            }
            (parts::table(&caption, &head, &rows))
            @for note in group.notes.iter().take(4) { p.more { (parts::sentence(note)) } }
            (parts::links(&id, &caption, &[("CSV", data("csv")), ("JSON", data("json"))]))
        }
    }
}

fn percent(of: Estimate) -> Estimate {
    let scaled = |value: f64| value * 100.0;
    Estimate { value: scaled(of.value), interval: of.interval.map(|(low, high)| (scaled(low), scaled(high))) }
}

fn estimate(of: Option<Estimate>, unit: &str) -> Markup {
    let short = |value: f64| format!("{value:.*}", if value.abs() < 10.0 { 2 } else { 0 });
    html! {
        @if let Some(of) = of {
            (short(of.value)) (unit)
            @if let Some((low, high)) = of.interval { " " small { "[" (short(low)) ", " (short(high)) "]" } }
        } @else { "–" }
    }
}

fn pareto(from: &str, benchmark: &Benchmark<'_>, front: &Front) -> Markup {
    let named = |metric: &FrontMetric| match &metric.unit {
        Some(unit) => parts::cut(&format!("{} in {unit}", metric.name)),
        None => parts::cut(&metric.name),
    };
    let (one, other) = (named(&front.metrics.0), named(&front.metrics.1));
    let whole = format!("{one} against {other}, on {}", words::hardware(&front.environment));
    let (id, title) = (format!("front-{}", paths::slug(&whole)), parts::cut(&whole));
    let points = front.points.iter().take(MOST_ROWS);
    let drawn = points.clone().map(|point| {
        (parts::cut(&point.case_name), point.values.0.value, point.values.1.value, point.dominated_by.is_empty())
    });
    let plot =
        Pareto { id: id.clone(), title: title.clone(), axes: (one.clone(), other.clone()), points: drawn.collect() };
    let name =
        |id: &String| front.points.iter().find(|point| point.case == *id).map_or("", |point| point.case_name.as_str());
    let row = |point: &kubebench_results::scaling::model::FrontPoint| {
        let by: Vec<&str> = point.dominated_by.iter().take(3).map(name).collect();
        let maybe: Vec<&str> = point.perhaps_by.iter().take(3).map(name).collect();
        html! {
            tr {
                th scope="row" { a href=(relative(from, &paths::case(benchmark.name, &point.case, 1))) { (parts::cut(&point.case_name)) } }
                td.number { (words::number(point.values.0.value)) } td.number { (words::number(point.values.1.value)) }
                td { @if by.is_empty() && point.perhaps_by.is_empty() { "on the front" }
                    @else if by.is_empty() { "on the front, perhaps behind " (parts::cut(&maybe.join("; "))) } @else { "worse in both than " (parts::cut(&by.join("; "))) } }
            }
        }
    };
    html! {
        section.chart id=(id) {
            h3 { (title) }
            (plot.draw())
            (parts::table(&title, &["Case", &one, &other, "Standing"], &points.map(row).collect::<Vec<_>>()))
            (parts::links(&id, &title, &[("CSV", relative(from, &paths::fronts(benchmark.name)))]))
        }
    }
}
