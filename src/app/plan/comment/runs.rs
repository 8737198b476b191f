//! The parts of a comment about runs: what runs and why, what is removed, and what starts nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::section::{Section, finished};
use crate::app::plan::words::causes;
use crate::app::plan::{Action, Amount, Group, Markup, Plan, Role, Row, group, groups, hours, size, words};
use kubebench_compiler::difference::{Change, Removed};
use kubebench_results::compare::render::code_span;
use kubebench_results::compare::words::counted;
use kubebench_syntax::text::{first_of, grouped};

/// The maximum number of names of benchmarks with the same causes.
const NAMED: usize = 10;
/// The maximum number of names with the same change that starts nothing.
const NAMED_IDLE: usize = 4;

/// Says in a heading what would run.
pub(super) fn title(plan: &Plan<'_>) -> String {
    format!("{}{}", runs(plan), losses(plan))
}

/// Says what is lost: benchmarks without a new name, and rules of the base that are weaker.
fn losses(plan: &Plan<'_>) -> String {
    let gone: BTreeSet<&str> =
        plan.removed().filter(|gone| gone.renamed.is_none()).map(|gone| gone.key.1.as_str()).collect();
    let weaker = plan.permissions.iter().filter(|one| one.role == Role::Weakens).count();
    let mut losses = String::new();
    if !gone.is_empty() {
        losses.push_str(&format!(", {} would be removed", counted(grouped(gone.len() as u64), "benchmark")));
    }
    if weaker > 0 {
        losses.push_str(&format!(", {} would be weaker", counted(grouped(weaker as u64), "rule")));
    }
    losses
}

fn runs(plan: &Plan<'_>) -> String {
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
        let causes: String =
            causes(&group, Markup::Comment(folder)).iter().map(|cause| format!("  - {cause}\n")).collect();
        let before = section.left_out;
        section.item(&format!("- {}{}{}\n{causes}", who(&group.rows), does(&group), amount(&group.rows)));
        left_out += if section.left_out > before { group.rows.len() } else { 0 };
    }
    let mut text = finished(section, left_out, "benchmark");
    if supersedes {
        text.push_str(
            "\nIf a benchmark that runs again is running at the merge, its Workflow is stopped and unfinished runs are lost.\n",
        );
    }
    text
}

/// Names benchmarks and their targets.
fn who(rows: &[&Row<'_>]) -> String {
    format!("{} on {}", named(&group::names(rows)), first(&group::targets(rows)))
}

/// Names benchmarks.
fn named(names: &[&str]) -> String {
    match names {
        [name] => code_span(name),
        names => format!("{} benchmarks ({})", grouped(names.len() as u64), first(names)),
    }
}

/// Returns the first of some names, and how many there are more.
fn first(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED).map(|name| code_span(name)).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMED);
    if more > 0 { format!("{shown} and {} more", grouped(more as u64)) } else { shown }
}

/// Says what the benchmarks of a group do, up to what that takes.
fn does(group: &Group<'_>) -> String {
    match group.rows.first().map(|row| row.action) {
        Some(Action::Runs) => ": ".to_owned(),
        Some(Action::RunsAgain) if group::names(&group.rows).len() == 1 => " runs again; ".to_owned(),
        Some(Action::RunsAgain) => " run again; ".to_owned(),
        _ => format!(": {}; ", group.words),
    }
}

/// Lists what is removed: benchmarks of the same targets are one item, except renamed ones.
fn removed(plan: &Plan<'_>, room: usize) -> String {
    let mut targets: BTreeMap<(&str, Option<&str>), BTreeSet<&str>> = BTreeMap::new();
    for Removed { key: (target, name), renamed } in plan.removed() {
        targets.entry((name, renamed.as_deref())).or_default().insert(target);
    }
    let mut names: BTreeMap<(Option<&str>, BTreeSet<&str>), Vec<&str>> = BTreeMap::new();
    for ((name, renamed), targets) in targets {
        names.entry((renamed, targets)).or_default().push(name);
    }
    let mut section = Section::new("\n#### Removed\n\n".to_owned(), room);
    let mut left_out = 0;
    for ((renamed, targets), names) in &names {
        let targets: Vec<&str> = targets.iter().copied().collect();
        let (who, targets) = (named(names), first(&targets));
        let before = section.left_out;
        section.item(&format!("- {}\n", words::removed(&who, names.len(), *renamed, &targets, Markup::Comment(""))));
        left_out += if section.left_out > before { names.len() } else { 0 };
    }
    if names.is_empty() { String::new() } else { finished(section, left_out, "benchmark") }
}

/// Lists what changed and starts nothing; the same change of several benchmarks is one item.
fn without_run(plan: &Plan<'_>, folder: &str, room: usize) -> String {
    let changes = words::without_run(plan, Markup::Comment(folder), |change| !is_weakening(change, plan));
    let mut section = Section::new("\n#### Changed without a new run\n\n".to_owned(), room);
    let count = changes.len();
    for (change, names) in changes {
        let of = match names.as_slice() {
            [] => String::new(),
            [one] => format!(" ({})", code_span(one)),
            several => {
                let shown: Vec<String> = several.iter().map(|name| code_span(name)).collect();
                format!(" ({} benchmarks: {})", several.len(), first_of(&shown, NAMED_IDLE))
            }
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
