//! Answers on a terminal.

use super::{cost, faster, has, percent, place, speedup, value, way};
use crate::compare::render::{leftovers, plain};
use crate::scaling::group::text as pairs;
use crate::scaling::model::{Direction, Estimate, Front, Group, ScalingReport};
use kubebench_format::result::labelled;

/// Returns what `compare --by` prints.
pub fn human(answer: &ScalingReport) -> String {
    let mut text = String::new();
    for one in &answer.groups {
        group(&mut text, one, &answer.axis);
        text.push('\n');
    }
    if answer.groups.is_empty() {
        text.push_str(&format!("nothing can be compared by {}\n", plain(&answer.axis)));
    }
    for one in &answer.fronts {
        front(&mut text, one);
        text.push('\n');
    }
    leftovers(&mut text, &answer.notes.iter().map(|note| plain(note)).collect::<Vec<_>>(), &answer.left_out);
    text
}

fn group(text: &mut String, group: &Group, axis: &str) {
    let params = pairs(&group.params);
    let params = if params.is_empty() { String::new() } else { format!(" [{params}]") };
    let better = match group.direction {
        Direction::Higher => ", higher is better",
        Direction::Lower => ", lower is better",
        Direction::None => "",
    };
    let title = format!("{}{params} {}{better}", group.benchmark, labelled(&group.metric, &group.labels));
    text.push_str(&format!("{}\n", plain(&title)));
    on(text, &group.environment, group.synthetic);
    let (has_efficiency, has_cost) = has(group);
    let mut header =
        vec![axis.to_uppercase(), "SESSIONS".to_owned(), "MEDIAN".to_owned(), faster(group).to_uppercase()];
    header.extend(has_efficiency.then(|| "EFFICIENCY".to_owned()));
    header.extend(has_cost.then(|| "COST".to_owned()));
    let mut rows = vec![header];
    for row in &group.rows {
        let median = Estimate { value: row.median, interval: row.interval };
        let dash = || "–".to_owned();
        let mut cells = vec![
            row.value.clone(),
            row.sessions.to_string(),
            value(median, group.unit.as_deref()),
            speedup(row, group),
        ];
        cells.extend(has_efficiency.then(|| row.efficiency.map_or_else(dash, percent)));
        cells.extend(has_cost.then(|| row.cost.as_ref().map_or_else(dash, cost)));
        rows.push(cells);
    }
    table(text, &rows);
    for row in &group.rows {
        text.extend(row.notes.iter().map(|note| plain(&format!("  {axis}={}: {note}", row.value)) + "\n"));
    }
    text.extend(group.notes.iter().map(|note| plain(&format!("  note: {note}")) + "\n"));
}

fn on(text: &mut String, environment: &std::collections::BTreeMap<String, String>, synthetic: bool) {
    let facts: Vec<String> = environment.iter().map(|(fact, said)| format!("{fact} {said}")).collect();
    if !facts.is_empty() {
        text.push_str(&format!("  on {}\n", plain(&facts.join(", "))));
    }
    if synthetic {
        text.push_str("  synthetic: made by `kubebench mock`, nothing ran\n");
    }
}

fn front(text: &mut String, front: &Front) {
    let (first, second) = &front.metrics;
    let title = format!("{}: {} against {}", front.benchmark, way(first), way(second));
    text.push_str(&format!("{}\n", plain(&title)));
    on(text, &front.environment, front.synthetic);
    let mut rows =
        vec![vec!["CASE".to_owned(), first.name.to_uppercase(), second.name.to_uppercase(), "FRONT".to_owned()]];
    for point in &front.points {
        rows.push(vec![
            point.case_name.clone(),
            value(point.values.0, first.unit.as_deref()),
            value(point.values.1, second.unit.as_deref()),
            place(point, front),
        ]);
    }
    table(text, &rows);
    text.extend(front.notes.iter().map(|note| plain(&format!("  note: {note}")) + "\n"));
}

fn table(text: &mut String, rows: &[Vec<String>]) {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(&format!("  {}\n", cells.join("  ").trim_end()));
    }
}
