//! What `plan --markdown` writes: what a change runs and why, what it takes, and what it may newly do.

mod runs;
mod section;

use super::Plan;
use super::permissions::Permission;
use kubebench_format::plan::v1::Since;
use kubebench_results::compare::render::{Subject, code_cell, escape};
use kubebench_syntax::diag::Severity;
use section::Section;

/// So many bytes at most a comment has; GitHub takes 65,536 letters.
const LONGEST: usize = 60_000;
/// So many of them are kept for what ends it.
const END: usize = 400;
/// So many rows at most are in the table of permissions.
const MOST: usize = 200;

/// Returns the comment, of a change or of all that is there; without a plan it says that there is no answer.
pub fn comment(plan: Option<&Plan<'_>>, subject: &Subject) -> String {
    let mark = subject.mark("plan");
    let Some(plan) = plan else {
        return format!(
            "{mark}\n### ❌ Kubebench plan gives no answer\n\nThe specs or the project file have errors, which \
             `kubebench validate` lists.\n"
        );
    };
    let mut text = format!("{mark}\n### Kubebench plan: {}\n", runs::title(plan));
    text.push_str(&runs::sections(plan));
    let room = LONGEST.saturating_sub(text.len() + END);
    text.push_str(&permissions(&plan.permissions, plan.since.is_some(), room));
    text
}

fn permissions(permissions: &[Permission], is_change: bool, room: usize) -> String {
    let mut shown: Vec<&Permission> =
        permissions.iter().filter(|permission| permission.since != Some(Since::Kept)).collect();
    // However much a change brings, what fails is in the rows that are shown.
    shown.sort_by_key(|permission| permission.level());
    let title = if is_change { "Permissions that this change adds or removes" } else { "Permissions of benchmarks" };
    let mut section = Section::new(format!("\n#### {title}\n\n"), room);
    if shown.is_empty() {
        section.also("None.\n");
    } else {
        section.also("| | permission | value | benchmark | target | place |\n|---|---|---|---|---|---|\n");
    }
    let code = |name: Option<&str>| name.map_or_else(|| "all".to_owned(), code_cell);
    for permission in shown.iter().take(MOST) {
        let cells = [
            sign(permission).to_owned(),
            permission.what().name().to_owned(),
            code_cell(permission.value()),
            code(permission.benchmark.as_deref()),
            code(permission.target.as_deref()),
            escape(&permission.place),
        ];
        section.item(&format!("| {} |\n", cells.join(" | ")));
    }
    let more = section.left_out + shown.len().saturating_sub(MOST);
    let mut text = section.text;
    if more > 0 {
        text.push_str(&format!("\nAnd {more} more: `kubebench plan --since` lists them.\n"));
    }
    let kept = permissions.len() - shown.len();
    if kept > 0 {
        text.push_str(&format!("\n{kept} more, unchanged from the base.\n"));
    }
    text
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

#[cfg(test)]
mod tests;
