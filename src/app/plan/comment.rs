//! What `plan --markdown` writes: what a change may newly do, in a table.

use super::permissions::Permission;
use kubebench_format::plan::v1::Since;
use kubebench_results::compare::render::{Subject, escape};
use kubebench_syntax::diag::Severity;

/// So many rows at most are in a comment.
const MOST: usize = 200;

/// Returns the comment.
pub fn comment(permissions: &[Permission], subject: &Subject) -> String {
    let is_change = permissions.iter().any(|permission| permission.since.is_some());
    let shown: Vec<&Permission> =
        permissions.iter().filter(|permission| permission.since != Some(Since::Kept)).collect();
    let title = if is_change { "permissions that this change adds or removes" } else { "permissions of benchmarks" };
    let mut text = format!("{}\n### Kubebench plan: {title}\n\n", subject.mark("plan"));
    if shown.is_empty() {
        text.push_str("None.\n");
    } else {
        text.push_str("| | permission | value | benchmark | target | place |\n|---|---|---|---|---|---|\n");
    }
    for permission in shown.iter().take(MOST) {
        let cells = [
            mark(permission).to_owned(),
            permission.what().name().to_owned(),
            escape(permission.value()),
            permission.benchmark.as_deref().map_or_else(|| "all".to_owned(), escape),
            permission.target.as_deref().map_or_else(|| "all".to_owned(), escape),
            escape(&permission.place),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let more = shown.len().saturating_sub(MOST);
    if more > 0 {
        text.push_str(&format!("\nAnd {more} more: `kubebench plan --since` lists them.\n"));
    }
    let kept = permissions.len() - shown.len();
    if kept > 0 {
        text.push_str(&format!("\n{kept} more as at the base.\n"));
    }
    text
}

fn mark(permission: &Permission) -> &'static str {
    match (permission.since, permission.level()) {
        (Some(Since::Removed), _) => "➖",
        (_, Severity::Error) => "❌",
        (_, Severity::Warning) => "⚠️",
        (Some(Since::Added), Severity::Info) => "➕",
        (_, Severity::Info) => "",
    }
}
