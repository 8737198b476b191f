//! The parts of a comment about runs: what runs and why, what is removed, and what starts nothing.

use std::collections::BTreeMap;

use super::section::Section;
use crate::app::plan::{Action, Plan, Row};
use kubebench_compiler::difference::{Cause, Change, Removed, State};
use kubebench_results::compare::render::code_span;
use kubebench_results::compare::words::counted;
use kubebench_syntax::text::{first_of, grouped};

/// So many bytes each part has.
const OF_RUNS: usize = 20_000;
const OF_REMOVED: usize = 5_000;
const OF_IDLE: usize = 8_000;
/// So many names of benchmarks with the same causes are shown.
const NAMED: usize = 10;
/// So many causes of a benchmark are shown.
const CAUSES: usize = 10;
/// So many files that changed are named.
const FILES: usize = 10;

/// Says in a heading what would run.
pub(super) fn title(plan: &Plan<'_>) -> String {
    let running = plan.running();
    if running.is_empty() {
        return "nothing would run".to_owned();
    }
    let again = running.iter().filter(|row| row.action == Action::RunsAgain).count();
    let all = counted(grouped(running.len() as u64), "benchmark");
    match again {
        0 => format!("{all} would run"),
        again if again == running.len() => format!("{all} would run again"),
        again => format!("{all} would run, {} of them again", grouped(again as u64)),
    }
}

/// Returns the parts.
pub(super) fn sections(plan: &Plan<'_>) -> String {
    let parts = [amounts(plan), running(plan), removed(plan), without_run(plan)];
    parts.concat()
}

/// Says what all runs take together.
fn amounts(plan: &Plan<'_>) -> String {
    let rows = plan.running();
    if rows.is_empty() {
        return String::new();
    }
    let of = amount(&rows);
    format!("\n{of}, if every run takes its full timeout.\n")
}

fn amount(rows: &[&Row<'_>]) -> String {
    let runs: u64 = rows.iter().map(|row| row.estimate.runs).sum();
    let gpu_hours: f64 = rows.iter().map(|row| row.estimate.gpu_hours).sum();
    let mut costs: BTreeMap<&str, f64> = BTreeMap::new();
    let mut unknown = 0;
    for row in rows {
        let currency = row.compiled.benchmark.target.prices.as_ref().map(|prices| prices.currency.as_str());
        match (row.estimate.cost, currency) {
            (Some(cost), Some(currency)) => *costs.entry(currency).or_default() += cost,
            _ => unknown += 1,
        }
    }
    let mut parts = vec![counted(grouped(runs), "run")];
    parts.extend((gpu_hours > 0.0).then(|| format!("{gpu_hours:.1} GPU-hours at most")));
    parts.extend(costs.into_iter().map(|(currency, cost)| format!("{cost:.2} {}", code_span(currency))));
    parts.extend((unknown > 0 && unknown < rows.len()).then(|| format!("the cost of {unknown} more is unknown")));
    parts.join(", ")
}

/// How much of a benchmark a cause concerns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Whole,
    AllCases,
    Cases(usize, usize),
}

/// Why a benchmark runs: the same in all cases of several benchmarks is the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Why {
    words: &'static str,
    causes: Vec<(String, Extent)>,
}

/// Benchmarks that run for the same causes.
struct Group<'p> {
    why: Why,
    rows: Vec<&'p Row<'p>>,
    /// How many cases they have together.
    cases: usize,
}

/// Lists what runs and why; benchmarks with the same causes are one item.
fn running(plan: &Plan<'_>) -> String {
    let rows = plan.running();
    if rows.is_empty() {
        return String::new();
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: BTreeMap<Why, usize> = BTreeMap::new();
    for row in rows {
        let why = Why { words: row.words(), causes: causes(row) };
        let place = *known.entry(why.clone()).or_insert_with(|| {
            groups.push(Group { why, rows: Vec::new(), cases: 0 });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            group.rows.push(row);
            group.cases += row.compiled.benchmark.cases.len();
        }
    }
    // A few causes of many benchmarks come before many causes of one each.
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
    let supersedes = groups.iter().flat_map(|group| &group.rows).any(|row| row.action == Action::RunsAgain);
    let mut section = Section::new("\n#### What runs, and why\n\n".to_owned(), OF_RUNS);
    let mut left_out = 0;
    for Group { why: Why { words, causes }, rows, cases } in groups {
        let extent = |extent: &Extent| match extent {
            Extent::AllCases if cases > rows.len() => format!(" in {cases} of {cases} cases"),
            Extent::Cases(count, all) => format!(" in {count} of {all} cases"),
            Extent::Whole | Extent::AllCases => String::new(),
        };
        let causes: String = causes.iter().map(|(cause, of)| format!("  - {cause}{}\n", extent(of))).collect();
        let before = section.left_out;
        section.item(&format!("- {}: {words}; {}\n{causes}", names(&rows), amount(&rows)));
        left_out += if section.left_out > before { rows.len() } else { 0 };
    }
    let mut text = finished(section, left_out, "benchmark");
    if supersedes {
        text.push_str(
            "\nThe merge replaces running Workflows of benchmarks that run again, and their unfinished runs are lost.\n",
        );
    }
    text
}

fn names(rows: &[&Row<'_>]) -> String {
    let name = |row: &&Row<'_>| {
        let benchmark = &row.compiled.benchmark;
        format!("{} on {}", code_span(&benchmark.name), code_span(&benchmark.target.name))
    };
    let shown = rows.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    let more = rows.len().saturating_sub(NAMED);
    if more > 0 { format!("{shown} and {} more", grouped(more as u64)) } else { shown }
}

/// Says why a benchmark runs.
fn causes(row: &Row<'_>) -> Vec<(String, Extent)> {
    let Some(change) = &row.change else { return Vec::new() };
    let alone = |text: String| vec![(text, Extent::Whole)];
    match &change.state {
        State::New { formerly: Some(name) } => {
            return alone(format!("was {}: a new name begins a new history", code_span(name)));
        }
        State::New { formerly: None } => return alone("new".to_owned()),
        State::Unknown { files } => {
            let mut lines = alone("the base does not compile, so what changed in it is unknown".to_owned());
            let reason = row.fault.as_ref().map(|fault| code_span(&fault.reason()));
            let named: Vec<String> = files.iter().map(|file| code_span(file)).collect();
            let named = (!named.is_empty()).then(|| format!("files that changed: {}", first_of(&named, FILES)));
            lines.extend(reason.into_iter().chain(named).map(|line| (line, Extent::Whole)));
            return lines;
        }
        State::Changed | State::Unchanged => {}
    }
    let spec = &row.compiled.benchmark.path;
    let mut shown: Vec<_> = change.causes.iter().take(CAUSES).map(|cause| of_cause(cause, spec)).collect();
    let more = change.causes.len().saturating_sub(CAUSES);
    shown.extend((more > 0).then(|| (format!("and {}", counted(more, "more cause")), Extent::Whole)));
    shown
}

fn of_cause(Cause { change, cases, certainty }: &Cause, spec: &str) -> (String, Extent) {
    let extent = match *cases {
        None => Extent::Whole,
        Some((count, all)) if count == all => Extent::AllCases,
        Some((count, all)) => Extent::Cases(count, all),
    };
    let doubt = certainty.doubt();
    let file = Some(change.file.as_str()).filter(|file| *file != spec);
    (format!("{}{doubt}", of_change(change, file)), extent)
}

/// Says what changed, with its file where that is given.
fn of_change(change: &Change, file: Option<&str>) -> String {
    let field = change.field();
    let place = match file {
        Some(file) if field.is_empty() => code_span(file),
        Some(file) => format!("{} in {}", code_span(field), code_span(file)),
        None => code_span(field),
    };
    match change.values() {
        _ if change.fields > 1 => format!("{place}: {}", counted(change.fields, "field")),
        Some([old, new]) => format!("{place}: {} → {}", code_span(&old), code_span(&new)),
        None => format!("{place} changed"),
    }
}

fn removed(plan: &Plan<'_>) -> String {
    let mut section = Section::new("\n#### Removed\n\n".to_owned(), OF_REMOVED);
    let mut count = 0;
    for Removed { key: (target, name), renamed } in plan.removed() {
        let renamed = renamed.as_ref().map_or_else(String::new, |name| format!(", now called {}", code_span(name)));
        let (name, target) = (code_span(name), code_span(target));
        section.item(&format!("- {name} on {target}{renamed}; its claim and results are kept\n"));
        count += 1;
    }
    let left_out = section.left_out;
    if count == 0 { String::new() } else { finished(section, left_out, "benchmark") }
}

/// Lists what changed and starts nothing; the same change of several benchmarks is one item.
fn without_run(plan: &Plan<'_>) -> String {
    let mut changes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &plan.rows {
        for change in row.change.iter().flat_map(|change| &change.idle) {
            let names = changes.entry(of_change(change, None)).or_default();
            let name = code_span(&row.compiled.benchmark.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    for change in plan.since.iter().flat_map(|since| &since.difference.idle) {
        changes.entry(of_change(change, Some(&change.file))).or_default();
    }
    let mut section = Section::new("\n#### Changed without a new run\n\n".to_owned(), OF_IDLE);
    let count = changes.len();
    for (change, names) in changes {
        let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        let of = if names.is_empty() { String::new() } else { format!(" ({shown}{more})") };
        section.item(&format!("- {change}{of}\n"));
    }
    let left_out = section.left_out;
    if count == 0 { String::new() } else { finished(section, left_out, "change") }
}

/// Ends a part with the number of what had no room.
fn finished(section: Section, left_out: usize, noun: &str) -> String {
    let mut text = section.text;
    if left_out > 0 {
        text.push_str(&format!(
            "- and {} more: `kubebench plan --since` lists all\n",
            counted(grouped(left_out as u64), noun)
        ));
    }
    text
}
