//! Why benchmarks run, and what changed without that, as people read it.

use std::collections::BTreeMap;

use crate::app::plan::{Group, Plan, SharedCause, Why};
use crate::cli::changes::said;
use kubebench_compiler::difference::Removed;
use kubebench_syntax::text::{first_of, plain};
use kubebench_syntax::words::counted;

/// The maximum number of causes of a benchmark.
const CAUSES: usize = 8;
/// The maximum number of changed files that are named.
const FILES: usize = 8;
/// The maximum number of changes without a run.
const SHOWN: usize = 20;
/// The maximum number of names of benchmarks with the same change.
const NAMED: usize = 4;

/// Says why the benchmarks of a group run, a cause in a line.
pub(super) fn causes(group: &Group<'_>) -> Vec<String> {
    match &group.why {
        Why::Asked | Why::New => Vec::new(),
        Why::Renamed(name) => vec![format!("was {name}: a new name begins a new history")],
        Why::Unknown(files, fault) => {
            let mut lines = vec!["the base does not compile, so what changed in it is unknown".to_owned()];
            lines.extend(fault.as_ref().map(|fault| plain(&fault.reason())));
            let named = || format!("files that changed: {}", plain(&first_of(files, FILES)));
            lines.extend((!files.is_empty()).then(named));
            lines
        }
        Why::Changed(causes) if causes.is_empty() => vec!["the cause is unknown".to_owned()],
        Why::Changed(causes) => {
            let mut lines: Vec<String> = causes.iter().take(CAUSES).map(|cause| of(cause, group)).collect();
            let more = causes.len().saturating_sub(CAUSES);
            lines.extend((more > 0).then(|| format!("and {}", counted(more, "more cause"))));
            lines
        }
    }
}

fn of(SharedCause { change, certainty, cases }: &SharedCause, group: &Group<'_>) -> String {
    let cases = cases.filter(|(_, all)| *all > group.rows.len());
    let cases = cases.map_or_else(String::new, |(count, all)| format!(" in {count} of {all} cases"));
    let doubt = certainty.doubt();
    format!("{}{cases}{doubt}", said(change, &change.file))
}

/// Says what changed and starts nothing; the same change of several benchmarks once.
pub(super) fn without_run(plan: &Plan<'_>) -> String {
    let mut changes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &plan.rows {
        let benchmark = &row.compiled.benchmark;
        for change in row.change.iter().flat_map(|change| &change.idle) {
            let file = if change.file == benchmark.path { "" } else { &change.file };
            let names = changes.entry(said(change, file)).or_default();
            if !names.contains(&benchmark.name) {
                names.push(benchmark.name.clone());
            }
        }
    }
    for change in plan.since.iter().flat_map(|since| &since.difference.idle) {
        changes.entry(said(change, &change.file)).or_default();
    }
    if changes.is_empty() {
        return String::new();
    }
    let line = |(change, names): (&String, &Vec<String>)| match names.as_slice() {
        [] => format!("  {change}\n"),
        [one] => format!("  {one}: {change}\n"),
        several => format!("  {change} ({} benchmarks: {})\n", several.len(), first_of(several, NAMED)),
    };
    let lines: String = changes.iter().take(SHOWN).map(line).collect();
    let more = changes.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("changed without a new run:\n{lines}{more}")
}

/// Says what is no longer there.
pub(super) fn removed(Removed { key: (target, name), renamed }: &Removed) -> String {
    let renamed = renamed.as_ref().map_or_else(String::new, |renamed| format!(", now called {renamed}"));
    format!("removed: {name} on {target}{renamed}; its claim and results are kept\n")
}
