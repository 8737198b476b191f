//! Why benchmarks run, and what changed without that, as people read it.

use std::collections::BTreeMap;

use crate::app::plan::{Plan, Row};
use crate::cli::changes::said;
use kubebench_compiler::difference::{Cause, Removed, State};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_syntax::text::{first_of, plain};
use kubebench_syntax::words::counted;

/// So many causes of a benchmark are shown.
const CAUSES: usize = 8;
/// So many files that changed are named.
const FILES: usize = 8;
/// So many changes without a run are shown.
const SHOWN: usize = 20;
/// So many names of benchmarks with the same change are shown.
const NAMED: usize = 4;

/// Says why a benchmark runs, a cause in a line.
pub(super) fn causes(row: &Row<'_>) -> Vec<String> {
    let Some(change) = &row.change else { return Vec::new() };
    if let State::New { formerly: Some(name) } = &change.state {
        return vec![format!("was {name}: a new name begins a new history")];
    }
    if let State::Unknown { files } = &change.state {
        let mut lines = vec!["the base does not compile, so what changed in it is unknown".to_owned()];
        lines.extend(row.fault.as_ref().map(|fault| plain(&fault.reason())));
        lines.extend((!files.is_empty()).then(|| format!("files that changed: {}", plain(&first_of(files, FILES)))));
        return lines;
    }
    let mut lines: Vec<String> = change.causes.iter().take(CAUSES).map(|cause| of(cause, row)).collect();
    let more = change.causes.len().saturating_sub(CAUSES);
    lines.extend((more > 0).then(|| format!("and {}", counted(more, "more cause"))));
    if change.state == State::Changed && change.causes.is_empty() {
        lines.push("the cause is unknown".to_owned());
    }
    lines
}

fn of(Cause { change, cases, certainty }: &Cause, row: &Row<'_>) -> String {
    let cases = cases.filter(|(_, all)| *all > 1);
    let cases = cases.map_or_else(String::new, |(count, all)| format!(" in {count} of {all} cases"));
    let file = if change.file == row.compiled.benchmark.path { "" } else { &change.file };
    let doubt = certainty.doubt();
    format!("{}{cases}{doubt}", said(change, file))
}

/// Says what changed and starts nothing; the same change of several benchmarks once.
pub(super) fn without_run(plan: &Plan<'_>) -> String {
    let mut changes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &plan.rows {
        for change in row.change.iter().flat_map(|change| &change.idle) {
            let names = changes.entry(said(change, "")).or_default();
            let name = &row.compiled.benchmark.name;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    for change in plan.since.iter().flat_map(|since| &since.difference.idle) {
        let file = if change.path.is_empty() { PROJECT_FILE } else { "" };
        changes.entry(said(change, file)).or_default().push(plain(&change.file));
    }
    if changes.is_empty() {
        return String::new();
    }
    let lines = changes.iter().take(SHOWN);
    let lines: String = lines.map(|(change, names)| format!("  {}: {change}\n", first_of(names, NAMED))).collect();
    let more = changes.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("changed without a new run:\n{lines}{more}")
}

/// Says what is no longer there.
pub(super) fn removed(Removed { key: (target, name), renamed }: &Removed) -> String {
    let renamed = renamed.as_ref().map_or_else(String::new, |renamed| format!(", now called {renamed}"));
    format!("removed: {name} on {target}{renamed}; its claim and results are kept\n")
}
