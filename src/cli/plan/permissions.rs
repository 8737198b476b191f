//! What benchmarks may do that a plain one may not, as people read it.

use std::collections::BTreeMap;

use crate::app::plan::Permission;
use kubebench_format::plan::v1::Since;
use kubebench_syntax::diag::Severity;
use kubebench_syntax::text::{columns, plain};

/// Returns a table of permissions: of a change, of what it brings and takes away.
pub(super) fn table(permissions: &[Permission]) -> String {
    let is_change = permissions.iter().any(|permission| permission.since.is_some());
    // What all targets of a spec have is one row.
    let mut rows: BTreeMap<[String; 4], BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for permission in permissions.iter().filter(|permission| permission.since != Some(Since::Kept)) {
        let Permission { place, benchmark, target, .. } = permission;
        let what = format!("{}{}", level(permission.level()), permission.what().name());
        let row = [sign(permission.since).to_owned(), what, plain(place), plain(permission.value())];
        let of = rows.entry(row).or_default().entry(benchmark.as_deref().unwrap_or_default()).or_default();
        of.extend(target.as_deref());
    }
    let kept = permissions.iter().filter(|permission| permission.since == Some(Since::Kept)).count();
    if rows.is_empty() {
        let kept = if kept > 0 { format!("; {kept} unchanged from the base") } else { String::new() };
        return if is_change { format!("permissions: none added, none removed{kept}\n") } else { String::new() };
    }
    let kept = if kept > 0 { format!("  {kept} more, unchanged from the base\n") } else { String::new() };
    let title = if is_change {
        "permissions that this change adds (+) and removes (-):"
    } else {
        "permissions beyond those of a plain benchmark:"
    };
    let first = usize::from(!is_change);
    let line = |([sign, what, place, value], of): ([String; 4], BTreeMap<&str, Vec<&str>>)| -> Vec<String> {
        [sign, what, who(&of), place, value].into_iter().skip(first).collect()
    };
    let lines: Vec<Vec<String>> = rows.into_iter().map(line).collect();
    let table: String = columns(&lines).iter().map(|line| format!("  {line}\n")).collect();
    format!("{title}\n{table}{kept}")
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

/// Says who has a permission.
fn who(of: &BTreeMap<&str, Vec<&str>>) -> String {
    let said = |(benchmark, targets): (&&str, &Vec<&str>)| match (benchmark.is_empty(), targets.is_empty()) {
        (true, true) => "all benchmarks".to_owned(),
        (true, false) => format!("all on {}", targets.join(", ")),
        (false, true) => (*benchmark).to_owned(),
        (false, false) => format!("{benchmark} on {}", targets.join(", ")),
    };
    of.iter().map(said).collect::<Vec<_>>().join("; ")
}
