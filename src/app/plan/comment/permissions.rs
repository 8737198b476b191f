//! The part of a comment about permissions: one row for all who have the same one.

use std::collections::BTreeMap;

use super::section::Section;
use crate::app::plan::{Permission, Plan, SharedPermission, allowed};
use kubebench_format::plan::v1::Since;
use kubebench_results::compare::render::{code_cell, escape};
use kubebench_syntax::diag::Severity;

/// The maximum number of benchmarks or targets named with a permission.
const NAMED: usize = 4;

/// The part, and what has to be said first where it does not have all that a change adds.
pub(super) struct Part {
    pub(super) warning: String,
    pub(super) text: String,
}

/// Returns the part, whose rows have at most `room` bytes.
pub(super) fn part(plan: &Plan<'_>, folder: &str, room: usize) -> Part {
    let is_change = plan.since.is_some();
    let (rows, kept) = allowed(&plan.permissions);
    let title = if is_change { "Permissions that this change adds or removes" } else { "Permissions of benchmarks" };
    let mut section = Section::new(format!("\n#### {title}\n\n"), room);
    if rows.is_empty() {
        section.also("None.\n");
    } else {
        section.also("| | permission | value | benchmarks | place |\n|---|---|---|---|---|\n");
    }
    let mut unseen: Vec<&Permission> = Vec::new();
    for row in &rows {
        let before = section.left_out;
        section.item(&line(row, folder));
        unseen.extend((section.left_out > before && row.one.is_new()).then_some(row.one));
    }
    let Section { mut text, left_out, .. } = section;
    if left_out > 0 {
        text.push_str(&format!("\nAnd {left_out} more: `kubebench plan --since` lists them.\n"));
    }
    if kept > 0 {
        text.push_str(&format!("\nUnchanged: {kept}.\n"));
    }
    Part { warning: warning(&unseen, is_change), text }
}

fn line(row: &SharedPermission<'_>, folder: &str) -> String {
    let cells = [
        sign(row.one).to_owned(),
        row.one.what().name().to_owned(),
        code_cell(row.one.value()),
        row.who(NAMED, code_cell),
        escape(&row.place(folder)),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// Says what of the permissions is in no row.
fn warning(unseen: &[&Permission], is_change: bool) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for permission in unseen {
        *kinds.entry(permission.what().name()).or_default() += 1;
    }
    if kinds.is_empty() {
        return String::new();
    }
    let kinds: Vec<String> = kinds.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let what = if is_change { "permissions that this change adds" } else { "permissions" };
    format!(
        "\n**⚠️ Not all {what} fit into this comment; not shown: {}. Read them with `kubebench plan --since` before you \
         approve.**\n",
        kinds.join(", ")
    )
}

fn sign(permission: &Permission) -> &'static str {
    match (permission.since, permission.level()) {
        (Some(Since::Removed), _) => "➖",
        (_, Severity::Error) => "❌",
        (_, Severity::Warning) => "⚠️",
        (Some(Since::Added), Severity::Info) => "➕",
        (_, Severity::Info) => "",
    }
}
