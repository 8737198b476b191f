//! KB0407: values that look like passwords, tokens or keys. A message names the place, never the value.

mod format;
mod name;

use super::pods;
use crate::diag::{Diagnostic, Diagnostics, code};
use crate::model::{Benchmark, Env, Role};
use crate::text::Span;
use crate::yaml::{Node, Value};

/// Reports literal secrets in variables, commands, arguments and patches.
pub(super) fn absent(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        for (variable, (value, span)) in &role.env {
            let Env::Text(value) = value else { continue };
            diagnostics.extend(suspicion(variable, value).map(|what| in_variable(variable, *span, &what)));
        }
        in_words(role, "command", &role.command, diagnostics);
        in_words(role, "args", &role.args, diagnostics);
    }
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        for role in &workload.roles {
            let patches = pods::patches(workload, role);
            patches.pod.iter().chain(&patches.main).for_each(|patch| in_patch(patch, diagnostics));
        }
    }
}

/// Says what `value` is, as the end of a sentence that starts with the variable's name.
fn suspicion(variable: &str, value: &str) -> Option<String> {
    match format::find(value) {
        Some(noun) => Some(format!("holds {noun}")),
        None if name::is_secret(variable) && !name::is_harmless(value) => {
            Some("is a secret by its name, and its value stands in plain text".to_owned())
        }
        None => None,
    }
}

fn finding(span: Span, message: String) -> Diagnostic {
    Diagnostic::at(&code::KB0407, span, message)
        .note("what was pushed once can be read in git for ever: replace the credential if this one was")
}

fn in_variable(variable: &str, span: Span, what: &str) -> Diagnostic {
    finding(span, format!("`{variable}` {what}")).help(format!(
        "put the value into a Secret of the target's namespace and write \
         `{variable}: {{secret: {{name: …, key: …}}}}`"
    ))
}

fn in_words(role: &Role, field: &str, words: &[String], diagnostics: &mut Diagnostics) {
    let mut flag = "";
    for (index, word) in words.iter().enumerate() {
        if let Some(what) = in_word(word, &mut flag) {
            let message = format!("word {} of `{field}` of `{}` {what}", index + 1, role.name);
            diagnostics.push(finding(role.span, message).help(
                "put the value into a Secret of the target's namespace and let the program read a variable: \
                 `env: {NAME: {secret: {name: …, key: …}}}`",
            ));
        }
    }
}

/// Looks at one word, which may be a whole shell script; `flag` is the option that waits for its value.
fn in_word<'w>(word: &'w str, flag: &mut &'w str) -> Option<String> {
    if let Some(noun) = format::find(word) {
        *flag = "";
        return Some(format!("holds {noun}"));
    }
    for piece in word.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|')) {
        let waiting = std::mem::take(flag);
        let (option, value) = match piece.split_once('=') {
            Some((option, value)) if is_option(option) || is_variable(option) => (option, value),
            Some(_) => continue,
            None if is_option(piece) => {
                *flag = piece;
                continue;
            }
            None => (waiting, piece),
        };
        let option = option.trim_start_matches('-');
        if name::is_secret(option) && !name::is_harmless(value.trim_matches(['"', '\''])) {
            return Some(format!("gives a value for `{option}` in plain text"));
        }
    }
    None
}

fn is_option(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    })
}

fn is_variable(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn in_patch(node: &Node, diagnostics: &mut Diagnostics) {
    match &node.value {
        Value::String(text) => {
            let Some(noun) = format::find(text) else { return };
            diagnostics.push(
                finding(node.span, format!("this patch holds {noun}"))
                    .help("put the value into a Secret of the target's namespace and name that here"),
            );
        }
        Value::Seq(items) => items.iter().for_each(|item| in_patch(item, diagnostics)),
        Value::Map(_) => {
            if let (Some(variable), Some(value)) = (node.get("name").and_then(Node::as_text), node.get("value"))
                && let Some(what) = value.as_text().and_then(|text| suspicion(variable, text))
            {
                diagnostics.push(in_variable(variable, value.span, &what));
                return;
            }
            for entry in node.entries() {
                in_patch(&entry.value, diagnostics);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
