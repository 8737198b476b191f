//! The parts of a comment about runs: what runs and why, what is removed, and what starts nothing.

use std::collections::BTreeMap;

use super::section::{Section, finished};
use crate::app::plan::{Action, Amount, Group, Plan, Role, Row, SharedCause, Why, group, groups, hours, size};
use kubebench_compiler::difference::{Change, Removed};
use kubebench_results::compare::render::code_span;
use kubebench_results::compare::words::counted;
use kubebench_syntax::text::{first_of, grouped};

/// The maximum number of names of benchmarks with the same causes.
const NAMED: usize = 10;
/// The maximum number of names with the same change that starts nothing.
const NAMED_IDLE: usize = 4;
/// The maximum number of causes of a benchmark.
const CAUSES: usize = 10;
/// The maximum number of changed files that are named.
const FILES: usize = 10;

/// Says in a heading what would run.
pub(super) fn title(plan: &Plan<'_>) -> String {
    let running = plan.running();
    if running.is_empty() {
        return "nothing would run".to_owned();
    }
    let again: Vec<&Row<'_>> = running.iter().copied().filter(|row| row.action == Action::RunsAgain).collect();
    let (names, targets) = size(&running);
    let all = counted(grouped(names as u64), "benchmark");
    let on = if targets > 1 { format!(" on {targets} targets") } else { String::new() };
    match (again.len(), size(&again).0) {
        (0, _) => format!("{all}{on} would run"),
        (count, _) if count == running.len() => format!("{all}{on} would run again"),
        (_, again) => format!("{all}{on} would run, {} of them again", grouped(again as u64)),
    }
}

/// Returns the parts, of files below `folder`, which have at most `room` bytes.
pub(super) fn sections(plan: &Plan<'_>, folder: &str, room: usize) -> String {
    let parts = [
        amounts(plan),
        running(plan, folder, room * 3 / 5),
        removed(plan, room / 10),
        without_run(plan, folder, room / 5),
    ];
    parts.concat()
}

/// Says what all runs take together.
fn amounts(plan: &Plan<'_>) -> String {
    let rows = plan.running();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n{} if every run takes its full timeout.\n", amount(&rows))
}

fn amount(rows: &[&Row<'_>]) -> String {
    let Amount { runs, hours: most, gpu_hours, costs, unpriced } = Amount::of(rows);
    let mut parts = vec![counted(grouped(runs), "run"), hours(most)];
    parts.extend((gpu_hours > 0.0).then(|| format!("{gpu_hours:.1} GPU-hours")));
    parts.extend(costs.into_iter().map(|(currency, cost)| format!("{cost:.2} {}", code_span(currency))));
    let unknown = if unpriced > 0 && unpriced < rows.len() {
        format!(" (the cost of {unpriced} more is unknown)")
    } else {
        String::new()
    };
    format!("{}{unknown} at most", parts.join(", "))
}

/// Lists what runs and why; benchmarks with the same causes are one item.
fn running(plan: &Plan<'_>, folder: &str, room: usize) -> String {
    let rows = plan.running();
    if rows.is_empty() {
        return String::new();
    }
    let mut groups = groups(&rows);
    // A few causes of many benchmarks come before many causes of one each.
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
    let supersedes = rows.iter().any(|row| row.action == Action::RunsAgain);
    let mut section = Section::new("\n#### What runs, and why\n\n".to_owned(), room);
    let mut left_out = 0;
    for group in groups {
        let causes: String = causes(&group, folder).iter().map(|cause| format!("  - {cause}\n")).collect();
        let before = section.left_out;
        let words = if group.words == "runs" { String::new() } else { format!("{}; ", group.words) };
        section.item(&format!("- {}: {words}{}\n{causes}", who(&group.rows), amount(&group.rows)));
        left_out += if section.left_out > before { group.rows.len() } else { 0 };
    }
    let mut text = finished(section, left_out, "benchmark");
    if supersedes {
        text.push_str(
            "\nThe merge replaces running Workflows of benchmarks that run again, and their unfinished runs are lost.\n",
        );
    }
    text
}

/// Names benchmarks and their targets.
fn who(rows: &[&Row<'_>]) -> String {
    let first = |names: &[&str]| {
        let shown = names.iter().take(NAMED).map(|name| code_span(name)).collect::<Vec<_>>().join(", ");
        let more = names.len().saturating_sub(NAMED);
        if more > 0 { format!("{shown} and {} more", grouped(more as u64)) } else { shown }
    };
    let (names, targets) = (group::names(rows), group::targets(rows));
    if let [name] = names.as_slice() {
        return format!("{} on {}", code_span(name), first(&targets));
    }
    let count = grouped(names.len() as u64);
    format!("{count} benchmarks on {}: {}", first(&targets), first(&names))
}

/// Says why the benchmarks of a group run.
fn causes(group: &Group<'_>, folder: &str) -> Vec<String> {
    match &group.why {
        Why::Asked => Vec::new(),
        Why::New => vec!["new".to_owned()],
        Why::Renamed(name) => vec![format!("was {}: a new name begins a new history", code_span(name))],
        Why::Unknown(files, fault) => {
            let mut lines = vec!["the base does not compile, so what changed in it is unknown".to_owned()];
            lines.extend(fault.as_ref().map(|fault| code_span(&format!("{folder}{}", fault.reason()))));
            let named: Vec<String> = files.iter().map(|file| code_span(&format!("{folder}{file}"))).collect();
            lines.extend((!named.is_empty()).then(|| format!("files that changed: {}", first_of(&named, FILES))));
            lines
        }
        Why::Changed(causes) => {
            let of_cause = |SharedCause { change, certainty, cases }: &SharedCause| {
                let cases = cases.filter(|(_, all)| *all > group.rows.len());
                let cases = cases.map_or_else(String::new, |(count, all)| format!(" in {count} of {all} cases"));
                let doubt = certainty.doubt();
                format!("{}{cases}{doubt}", of_change(change, folder))
            };
            let mut shown: Vec<String> = causes.iter().take(CAUSES).map(of_cause).collect();
            let more = causes.len().saturating_sub(CAUSES);
            shown.extend((more > 0).then(|| format!("and {}", counted(more, "more cause"))));
            shown
        }
    }
}

/// Says what changed, with its file, which is below `folder`, where it has one.
fn of_change(change: &Change, folder: &str) -> String {
    let (field, file) = (change.field(), code_span(&format!("{folder}{}", change.file)));
    if field.is_empty() {
        return format!("{file} {}", change.fate());
    }
    let place = if change.file.is_empty() { code_span(field) } else { format!("{} in {file}", code_span(field)) };
    match change.values() {
        _ if change.fields > 1 => format!("{place}: {}", counted(change.fields, "field")),
        Some([old, new]) => format!("{place}: {} → {}", code_span(&old), code_span(&new)),
        None => format!("{place} changed"),
    }
}

fn removed(plan: &Plan<'_>, room: usize) -> String {
    let mut all: BTreeMap<(&str, Option<&str>), Vec<String>> = BTreeMap::new();
    for Removed { key: (target, name), renamed } in plan.removed() {
        all.entry((name, renamed.as_deref())).or_default().push(code_span(target));
    }
    let mut section = Section::new("\n#### Removed\n\n".to_owned(), room);
    for ((name, renamed), targets) in &all {
        let renamed = renamed.map_or_else(String::new, |name| format!(", now called {}", code_span(name)));
        let (name, targets) = (code_span(name), first_of(targets, NAMED));
        section.item(&format!("- {name} on {targets}{renamed}; its claim and results are kept\n"));
    }
    let left_out = section.left_out;
    if all.is_empty() { String::new() } else { finished(section, left_out, "benchmark") }
}

/// Lists what changed and starts nothing; the same change of several benchmarks is one item.
fn without_run(plan: &Plan<'_>, folder: &str, room: usize) -> String {
    let mut changes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &plan.rows {
        let spec = &row.compiled.benchmark.path;
        for change in row.change.iter().flat_map(|change| &change.idle).filter(|change| !is_weakening(change, plan)) {
            let file = if change.file == *spec { String::new() } else { change.file.clone() };
            let names = changes.entry(of_change(&Change { file, ..change.clone() }, folder)).or_default();
            let name = code_span(&row.compiled.benchmark.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    for change in plan.since.iter().flat_map(|since| &since.difference.idle) {
        changes.entry(of_change(change, folder)).or_default();
    }
    let mut section = Section::new("\n#### Changed without a new run\n\n".to_owned(), room);
    let count = changes.len();
    for (change, names) in changes {
        let of = match names.as_slice() {
            [] => String::new(),
            [one] => format!(" ({one})"),
            several => format!(" ({} benchmarks: {})", several.len(), first_of(several, NAMED_IDLE)),
        };
        section.item(&format!("- {change}{of}\n"));
    }
    let left_out = section.left_out;
    if count == 0 { String::new() } else { finished(section, left_out, "change") }
}

/// Returns whether what is said of weaker gates says this too.
fn is_weakening(change: &Change, plan: &Plan<'_>) -> bool {
    let Some(metric) = change.field().strip_prefix("gates.").and_then(|rest| rest.split('.').next()) else {
        return false;
    };
    let quoted = format!("`{metric}`");
    plan.permissions.iter().any(|one| {
        let is_there = one.places.first().is_some_and(|place| place.starts_with(&format!("{}:", change.file)));
        one.role == Role::Weakens && is_there && one.finding.message.contains(&quoted)
    })
}
