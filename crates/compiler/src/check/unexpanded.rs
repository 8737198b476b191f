//! KB0429: references to variables that reach the program as they are written.

use std::collections::BTreeSet;

use crate::model::carried::{FOLDER, VARIABLE};
use crate::model::{Benchmark, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Programs that replace `$NAME` in their arguments.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "busybox", "env", "envsubst"];

/// Reports words and variables that refer to a variable of the pod which neither Kubernetes nor a shell replaces.
pub(super) fn meant(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let mut reported = BTreeSet::new();
    for role in benchmark.roles().filter(|role| !role.expand_variables) {
        let has_shell = calls_a_shell(role);
        for (text, span) in role.texts() {
            let stays = |(written, name): &(&str, &str)| {
                let is_for_kubernetes = written.starts_with("$(");
                let is_replaced = if is_for_kubernetes { has_shell && is_program(name) } else { has_shell };
                is_set(name, role) && !is_replaced && (is_for_kubernetes || !role.command.is_empty())
            };
            let Some((written, name)) = references(text).find(stays) else { continue };
            if !reported.insert(span) {
                continue;
            }
            let fault = Diagnostic::at(&code::KB0429, span, format!("the program gets the literal text `{written}`"))
                .note(format!("no shell starts the program, so nothing expands `{name}`"));
            diagnostics.push(fault.help(if name == VARIABLE {
                format!("write the path itself: `{FOLDER}/…`")
            } else if written.starts_with("$(") {
                format!("add `expandVariables: true` to `{}`", role.name)
            } else {
                format!("write `$({name})` and add `expandVariables: true` to `{}`", role.name)
            }));
        }
    }
}

fn calls_a_shell(role: &Role) -> bool {
    let base = |word: &String| word.rsplit('/').next().is_some_and(|name| SHELLS.contains(&name));
    role.command.iter().chain(&role.args).any(base)
}

fn is_set(name: &str, role: &Role) -> bool {
    name.starts_with("KUBEBENCH_") || role.env.contains_key(name)
}

/// Returns true for a name that a program may have: to a shell, `$(name)` is what that prints.
fn is_program(name: &str) -> bool {
    name.contains(|c: char| c.is_ascii_lowercase())
}

/// Iterates over `$NAME`, `${NAME}` and `$(NAME)` in `text`, each with the name.
fn references(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('$').filter_map(|(at, _)| {
        let rest = text.get(at + 1..)?;
        let bracket = usize::from(rest.starts_with(['(', '{']));
        let name = rest.get(bracket..)?;
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let is_closed = bracket == 0 || name.get(end..)?.starts_with([')', '}']);
        (is_closed && end > 0).then_some(())?;
        Some((text.get(at..=at + bracket + end + bracket)?, name.get(..end)?))
    })
}
