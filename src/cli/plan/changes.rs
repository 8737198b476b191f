//! Why benchmarks run, and what changed without that, on a screen.

use crate::app::plan::{Group, Markup, Plan, Why, words};
use kubebench_compiler::difference::Removed;
use kubebench_syntax::text::{first_of, plain};

/// The maximum number of changes without a run.
const SHOWN: usize = 20;
/// The maximum number of names of benchmarks with the same change.
const NAMED: usize = 4;

/// Says why the benchmarks of a group run, a cause in a line.
pub(super) fn causes(group: &Group<'_>) -> Vec<String> {
    // The column of actions says that a benchmark is new.
    if group.why == Why::New { Vec::new() } else { words::causes(group, Markup::Screen) }
}

/// Says what changed and starts nothing; the same change of several benchmarks once.
pub(super) fn without_run(plan: &Plan<'_>) -> String {
    let changes = words::without_run(plan, Markup::Screen, |_| true);
    if changes.is_empty() {
        return String::new();
    }
    let line = |(change, names): (&String, &Vec<&str>)| match names.as_slice() {
        [] => format!("  {change}\n"),
        [one] => format!("  {}: {change}\n", plain(one)),
        several => format!("  {change} ({} benchmarks: {})\n", several.len(), plain(&first_of(several, NAMED))),
    };
    let lines: String = changes.iter().take(SHOWN).map(line).collect();
    let more = changes.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("changed without a new run:\n{lines}{more}")
}

/// Says what is no longer there.
pub(super) fn removed(Removed { key: (target, name), renamed }: &Removed) -> String {
    let said = words::removed(&plain(name), 1, renamed.as_deref(), &plain(target), Markup::Screen);
    format!("removed: {said}\n")
}
