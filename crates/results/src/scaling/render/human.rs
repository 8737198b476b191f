//! Answers on a terminal.

use std::collections::BTreeMap;

use super::{Table, better, facts, table_of_front, table_of_group, title_of_front};
use crate::compare::render::{leftovers, plain};
use crate::compare::words;
use crate::scaling::group::text as pairs;
use crate::scaling::model::{Front, Group, ScalingReport};
use kubebench_format::result::labelled;
use kubebench_syntax::text::columns;

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
    let title = format!("{}{params} {}{}", group.benchmark, labelled(&group.metric, &group.labels), better(group));
    text.push_str(&format!("{}\n", plain(&title)));
    on(text, &group.environment, group.synthetic);
    table(text, table_of_group(group, axis));
    for row in &group.rows {
        text.extend(row.notes.iter().map(|note| plain(&format!("  {axis}={}: {note}", row.value)) + "\n"));
    }
    text.extend(group.notes.iter().map(|note| plain(&format!("  note: {note}")) + "\n"));
}

fn on(text: &mut String, environment: &BTreeMap<String, String>, synthetic: bool) {
    if !environment.is_empty() {
        text.push_str(&format!("  on {}\n", plain(&facts(environment))));
    }
    if synthetic {
        text.push_str(&format!("  {}\n", words::SYNTHETIC));
    }
}

fn front(text: &mut String, front: &Front) {
    text.push_str(&format!("{}\n", plain(&title_of_front(front))));
    on(text, &front.environment, front.synthetic);
    table(text, table_of_front(front));
    text.extend(front.notes.iter().map(|note| plain(&format!("  note: {note}")) + "\n"));
}

fn table(text: &mut String, Table { headings, rows }: Table) {
    let headings = headings.iter().map(|heading| heading.to_uppercase()).collect();
    let rows = [headings].into_iter().chain(rows).map(|row| row.iter().map(|cell| plain(cell)).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    text.extend(columns(&rows).into_iter().map(|line| format!("  {line}\n")));
}
