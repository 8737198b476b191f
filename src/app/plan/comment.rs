//! What `plan --markdown` writes: what a change may newly do, in a table.

use super::permissions::Permission;
use kubebench_format::plan::v1::Since;
use kubebench_results::compare::render::{Subject, escape};
use kubebench_syntax::diag::Severity;

/// So many bytes at most the rows of a comment have; GitHub takes 65,536 letters.
const LONGEST: usize = 60_000;
/// So many rows at most are in a comment.
const MOST: usize = 200;

/// Returns the comment, of a change or of all that is there; without permissions it says that there is no answer.
pub fn comment(permissions: Option<&[Permission]>, is_change: bool, subject: &Subject) -> String {
    let mark = subject.mark("plan");
    let Some(permissions) = permissions else {
        return format!(
            "{mark}\n### ❌ Kubebench plan gives no answer\n\nThe specs or the project file have errors, which \
             `kubebench validate` lists.\n"
        );
    };
    let mut shown: Vec<&Permission> =
        permissions.iter().filter(|permission| permission.since != Some(Since::Kept)).collect();
    // However much a change brings, what fails is in the rows that are shown.
    shown.sort_by_key(|permission| permission.level());
    let title = if is_change { "permissions that this change adds or removes" } else { "permissions of benchmarks" };
    let mut text = format!("{mark}\n### Kubebench plan: {title}\n\n");
    if shown.is_empty() {
        text.push_str("None.\n");
    } else {
        text.push_str("| | permission | value | benchmark | target | place |\n|---|---|---|---|---|---|\n");
    }
    let mut rows = 0;
    for permission in shown.iter().take(MOST) {
        let cells = [
            sign(permission).to_owned(),
            permission.what().name().to_owned(),
            escape(permission.value()),
            permission.benchmark.as_deref().map_or_else(|| "all".to_owned(), escape),
            permission.target.as_deref().map_or_else(|| "all".to_owned(), escape),
            escape(&permission.place),
        ];
        let row = format!("| {} |\n", cells.join(" | "));
        // A row is whole or is not there.
        if text.len() + row.len() > LONGEST {
            break;
        }
        text.push_str(&row);
        rows += 1;
    }
    let more = shown.len() - rows;
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
mod tests {
    use super::*;
    use kubebench_syntax::diag::{Diagnostic, code};

    #[test]
    fn what_fails_comes_first_however_much_there_is() {
        let row = |number: usize| {
            let severity = if number == 300 { Severity::Error } else { Severity::Info };
            let finding = Diagnostic::in_file(&code::KB0380, "specs/a.yaml", "m").value(format!("secret-{number}"));
            let finding = Diagnostic { severity, ..finding };
            let since = Some(Since::Added);
            Permission { benchmark: None, target: None, finding, place: "specs/a.yaml:1:1".to_owned(), since }
        };
        let rows: Vec<Permission> = (1..=300).map(row).collect();
        let text = comment(Some(&rows), true, &Subject::default());
        let first = text.lines().find(|line| line.starts_with("| ❌")).unwrap();
        assert!(first.contains("secret-300"), "{first}");
        assert!(text.contains("And 100 more"), "{text}");
    }

    #[test]
    fn a_value_is_whole_or_its_row_is_counted() {
        let row = |value: String| {
            let finding = Diagnostic::in_file(&code::KB0392, "kubebench.yaml", "m").value(value);
            let place = "kubebench.yaml:1:1".to_owned();
            Permission { benchmark: None, target: None, finding, place, since: Some(Since::Added) }
        };
        let long = format!("{} end", "a".repeat(5_000));
        let text = comment(Some(&[row(long.clone())]), true, &Subject::default());
        assert!(text.contains(&long), "{text}");
        let rows: Vec<Permission> = (0..20).map(|_| row(long.clone())).collect();
        let text = comment(Some(&rows), true, &Subject::default());
        let shown = text.matches(" end |").count();
        assert!(text.len() < 65_000 && text.contains(&format!("And {} more", 20 - shown)), "{shown}");
    }
}
