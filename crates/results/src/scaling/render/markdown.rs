//! Answers as a comment of a pull request: a sentence for each group, the tables folded away.

use super::{Table, better, facts, percent, table_of_front, table_of_group, times, title_of_front};
use crate::compare::render::{Subject, escape, grid};
use crate::compare::words;
use crate::scaling::group::text as pairs;
use crate::scaling::model::{Front, Group, Row, ScalingReport};
use kubebench_format::result::labelled;

/// The maximum number of groups in a comment; hosts refuse long ones.
const MOST: usize = 50;
/// The maximum number of rows of one group.
const ROWS: usize = 50;

/// Returns what `compare --by --markdown` writes.
pub fn markdown(answer: &ScalingReport, subject: &Subject) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    let axis: String = answer.axis.chars().filter(is_plain).collect();
    let mark = subject.mark(&format!("compare by {axis}"));
    let mut text = format!("{mark}\n### Kubebench by {}\n\n", escape(&answer.axis));
    if answer.groups.is_empty() {
        text.push_str("Nothing can be compared.\n");
    }
    text.extend(answer.groups.iter().take(MOST).map(|group| format!("- {}\n", sentence(group, &answer.axis))));
    for one in answer.groups.iter().take(MOST) {
        group(&mut text, one, &answer.axis);
    }
    if answer.groups.len() > MOST {
        text.push_str(&format!("\n{} more are in the report.\n", answer.groups.len() - MOST));
    }
    answer.fronts.iter().take(MOST).for_each(|one| front(&mut text, one));
    text.extend(answer.notes.iter().map(|note| format!("\n{}\n", escape(note))));
    match answer.left_out.len() {
        0 => {}
        1 => text.push_str("\n1 result file was left out.\n"),
        count => text.push_str(&format!("\n{count} result files were left out.\n")),
    }
    text
}

/// Says of a group what a colleague would: what is best, and by how much.
fn sentence(group: &Group, axis: &str) -> String {
    let params = pairs(&group.params);
    let params = if params.is_empty() { String::new() } else { format!(" ({})", escape(&params)) };
    let name = labelled(&group.metric, &group.labels);
    let of = format!("{} of **{}**{params}", escape(&name), escape(&group.benchmark));
    let gain = |row: &&Row| row.speedup.map_or(1.0, |speedup| speedup.value);
    let best =
        group.rows.iter().filter(|row| row.speedup.is_some()).max_by(|one, other| gain(one).total_cmp(&gain(other)));
    let axis = escape(axis);
    let (Some(best), Some(base)) = (best, &group.base) else {
        return format!("{of}: {} values of {axis}, none of which can be compared with another.", group.rows.len());
    };
    let (Some(speedup), base) = (best.speedup, escape(base)) else { return of };
    let share = best.efficiency.map_or_else(String::new, |share| format!(", {} of perfect scaling", percent(share)));
    let ratio = times(speedup);
    let value = escape(&best.value);
    match speedup.interval {
        Some((low, _)) if low > 1.0 => {
            format!("{of}: {axis}={value} has the best median, {ratio} as good as {axis}={base}{share}.")
        }
        Some((_, high)) if high < 1.0 => {
            format!("{of}: {axis}={base} has the best median; next is {axis}={value}, {ratio}.")
        }
        Some(_) => format!("{of}: nothing is better than {axis}={base} beyond the noise ({axis}={value}: {ratio})."),
        None => format!("{of}: {axis}={value} has {ratio} of {axis}={base}, from too few sessions to be sure."),
    }
}

fn group(text: &mut String, group: &Group, axis: &str) {
    let params = pairs(&group.params);
    let params = if params.is_empty() { String::new() } else { format!(" ({})", escape(&params)) };
    let (benchmark, metric) = (escape(&group.benchmark), escape(&labelled(&group.metric, &group.labels)));
    let title = format!("{benchmark}{params}, {metric}{}", better(group));
    text.push_str(&format!("\n<details><summary>{title}</summary>\n\n"));
    let rows = table_of_group(group, axis);
    table(text, &rows, &"|--:".repeat(rows.headings.len() - 1), "rows");
    text.push_str(&format!("\nOn {}; intervals of 95 %.\n\n", escape(&facts(&group.environment))));
    let of_rows = group.rows.iter().flat_map(|row| row.notes.iter().map(move |note| format!("{}: {note}", row.value)));
    notes(text, of_rows.chain(group.notes.iter().cloned()), group.synthetic);
}

fn front(text: &mut String, front: &Front) {
    text.push_str(&format!("\n<details><summary>{}</summary>\n\n", escape(&title_of_front(front))));
    table(text, &table_of_front(front), "|--:|--:|---", "cases");
    text.push('\n');
    notes(text, front.notes.iter().cloned(), front.synthetic);
}

fn table(text: &mut String, table: &Table, rules: &str, what: &str) {
    let escaped = |cells: &Vec<String>| cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>();
    let head = format!("| {} |\n|---{rules}|\n", escaped(&table.headings).join(" | "));
    grid(text, &head, &table.rows.iter().map(escaped).collect::<Vec<_>>(), ROWS, what);
}

fn notes(text: &mut String, notes: impl Iterator<Item = String>, synthetic: bool) {
    text.extend(notes.map(|note| format!("- {}\n", escape(&note))));
    if synthetic {
        text.push_str(&format!("- {}\n", words::SYNTHETIC));
    }
    text.push_str("\n</details>\n");
}
