//! `kubebench diff`: which fields a change gives other values, in how many cases.

use anyhow::Result;

use super::ExitStatus;
use super::args::{DiffArgs, Global};
use super::changes::answer;
use super::findings::{Output, tell};
use super::project;
use crate::app::plan::words::{said, valued};
use crate::app::plan::{Fault, Markup};
use crate::app::project::Pods;
use kubebench_compiler::difference::{CaseChange, Fields, Key, OfSpec, What};
use kubebench_format::diff::v1;
use kubebench_format::plan::v1::NotCompared;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;
use kubebench_syntax::text::plain;

/// Prints what differs.
pub(super) fn run(global: &Global, args: &DiffArgs) -> Result<ExitStatus> {
    let base = global.base(Some(&args.since))?;
    let project = project::open_held_to(base.as_ref(), global, &args.select, Pods::Kept)?;
    let diagnostics = project.diagnostics();
    let Some(base) = base.filter(|_| !diagnostics.has_errors()) else {
        return project::report_beside(global, &project, Output::Data, diagnostics);
    };
    let what = if args.rendered { What::Rendered } else { What::Resolved };
    let fields = project.sides(&base).fields(what, |compiled| project.selection.has(compiled));
    let faults = Fault::of(&project, &base);
    terminal::print(&match global.output_format {
        Format::Json => format!("{:#}\n", serde_json::to_value(of(&fields, &faults))?),
        _ => text(&fields, what),
    })?;
    for fault in &faults {
        tell(global, &fault.note(&base.revision));
    }
    project::report_beside(global, &project, Output::Data, diagnostics)
}

/// Returns it for people; benchmarks that differ in the same are one group.
fn text(Fields { benchmarks, added, removed, shared }: &Fields, what: What) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for of in benchmarks {
        let (name, lines) = (named(&of.key), lines(of, what));
        match groups.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, names)) => names.push(name),
            None => groups.push((lines, vec![name])),
        }
    }
    let mut text: String = groups.iter().map(|(lines, names)| format!("{}\n{lines}", names.join(", "))).collect();
    let mut file = "";
    for change in shared {
        if change.file != file {
            file = &change.file;
            text.push_str(&format!("{}\n", plain(file)));
        }
        text.push_str(&format!("  {}\n", said(change, "", Markup::Screen)));
    }
    text.extend(added.iter().map(|key| format!("new: {}\n", named(key))));
    text.extend(removed.iter().map(|key| format!("removed: {}\n", named(key))));
    if text.is_empty() { "no differences\n".to_owned() } else { text }
}

fn lines(OfSpec { key: _, cases, changes, added, removed }: &OfSpec, what: What) -> String {
    let mut text = String::new();
    for CaseChange { change, cases: count } in changes {
        let of = count.filter(|_| *cases > 1).map_or_else(String::new, |count| format!("  {count} of {cases} cases"));
        // Of a manifest the whole path is shown: not all of it is below `spec`.
        let change = match what {
            What::Resolved => said(change, &change.file, Markup::Screen),
            What::Rendered => {
                valued(&plain(format!("{} {}", change.file, change.path).trim_end()), change, Markup::Screen)
            }
        };
        text.push_str(&format!("  {change}{of}\n"));
    }
    text.extend(added.iter().map(|case| format!("  new case: {}\n", plain(case))));
    text.extend(removed.iter().map(|case| format!("  removed case: {}\n", plain(case))));
    text
}

fn named((target, name): &Key) -> String {
    format!("{name} on {target}")
}

fn of(Fields { benchmarks, added, removed, shared }: &Fields, faults: &[Fault]) -> v1::Diff {
    let named = |(target, name): &Key| v1::Named { name: name.clone(), target: target.clone() };
    let not_compared = |Fault { path, code, message }: &Fault| NotCompared {
        spec: path.clone(),
        code: (*code).to_owned(),
        message: message.clone(),
    };
    v1::Diff {
        schema_version: v1::SCHEMA_VERSION,
        benchmarks: benchmarks.iter().map(benchmark).collect(),
        added: added.iter().map(named).collect(),
        removed: removed.iter().map(named).collect(),
        shared: shared.iter().map(answer).collect(),
        not_compared: faults.iter().map(not_compared).collect(),
    }
}

fn benchmark(OfSpec { key: (target, name), cases, changes, added, removed }: &OfSpec) -> v1::Benchmark {
    let change = |CaseChange { change, cases }: &CaseChange| v1::Change {
        change: answer(change),
        cases: cases.map(|count| count as u64),
    };
    v1::Benchmark {
        name: name.clone(),
        target: target.clone(),
        cases: *cases as u64,
        changes: changes.iter().map(change).collect(),
        added_cases: added.clone(),
        removed_cases: removed.clone(),
    }
}
