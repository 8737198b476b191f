//! What benchmarks may do that a plain one may not, as people read it.

use std::collections::BTreeSet;

use crate::app::plan::{Permission, Role, allowed};
use kubebench_format::plan::v1::Since;
use kubebench_syntax::diag::Severity;
use kubebench_syntax::text::{columns, plain};

/// The maximum number of benchmarks or targets named with a permission.
const NAMED: usize = 4;

/// Returns a table of permissions: of a change, of what it adds and removes, and what it does to gates.
pub(super) fn table(permissions: &[Permission]) -> String {
    let is_change = permissions.iter().any(|permission| permission.since.is_some());
    let (rows, kept) = allowed(permissions);
    let gates = gates(permissions, "what this change weakens", Role::Weakens)
        + &gates(permissions, "gates that this change removes", Role::Removes);
    if rows.is_empty() {
        let kept = if kept > 0 { format!("; {kept} kept") } else { String::new() };
        let none = if is_change { format!("permissions: none added or removed{kept}\n") } else { String::new() };
        return format!("{gates}{none}");
    }
    let kept = if kept > 0 { format!("  unchanged: {kept}\n") } else { String::new() };
    let title = if is_change {
        "permissions that this change adds (+) and removes (-):"
    } else {
        "permissions beyond those of a plain benchmark:"
    };
    let first = usize::from(!is_change);
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let what = format!("{}{}", level(row.one.level()), row.one.what().name());
            let (place, value) = (plain(&row.place("")), plain(row.one.value()));
            let who = row.who(NAMED, str::to_owned);
            [sign(row.one.since).to_owned(), what, who, place, value].into_iter().skip(first).collect()
        })
        .collect();
    let table: String = columns(&lines).iter().map(|line| format!("  {line}\n")).collect();
    format!("{gates}{title}\n{table}{kept}")
}

fn gates(permissions: &[Permission], title: &str, role: Role) -> String {
    let own = permissions.iter().filter(|permission| permission.role == role);
    let lines: BTreeSet<String> = own
        .map(|gate| {
            let place = gate.places.first().map(String::as_str).unwrap_or_default();
            format!("  {}{}: {}\n", level(gate.level()), plain(place), plain(&gate.finding.message))
        })
        .collect();
    if lines.is_empty() { String::new() } else { format!("{title}:\n{}", lines.into_iter().collect::<String>()) }
}

fn sign(since: Option<Since>) -> &'static str {
    match since {
        None | Some(Since::Kept) => "",
        Some(Since::Added) => "+",
        Some(Since::Removed) => "-",
    }
}

fn level(level: Severity) -> &'static str {
    match level {
        Severity::Error => "error: ",
        Severity::Warning => "warning: ",
        Severity::Info => "",
    }
}
