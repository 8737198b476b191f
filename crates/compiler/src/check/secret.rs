//! KB0407: values that look like passwords, tokens or keys. A message names the place, never the value.

mod format;
mod name;

use super::pods;
use crate::model::{Benchmark, Env, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Node, Value};

/// Reports literal secrets in everything that manifests repeat.
pub(super) fn absent(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let mut known = Vec::new();
    for literal in &benchmark.literals {
        if let Some(noun) = format::find(&literal.text) {
            known.push(literal.text.as_str());
            diagnostics.push(holding(literal.span, &literal.name, noun));
        }
    }
    for (name, node) in &benchmark.target.values {
        if let Some((text, noun)) = node.as_text().and_then(|text| Some((text, format::find(text)?))) {
            known.push(text);
            diagnostics.push(holding(node.span, &format!("the value `{name}` of `{}`", benchmark.target.name), noun));
        }
    }
    for (_, file) in benchmark.files.iter() {
        for (line, number) in file.text().unwrap_or_default().lines().zip(1..) {
            let Some(noun) = format::find(line) else { continue };
            let fault = holding(file.span, &format!("line {number} of the carried file `{}`", file.path), noun);
            diagnostics.push(fault.related(Place::Line(file.path.clone(), number), "the line"));
        }
    }
    let mut found = Vec::new();
    for role in benchmark.roles() {
        for (variable, (value, span)) in &role.env {
            let Env::Text(value) = value else { continue };
            found.extend(suspicion(variable, value, &known).map(|what| in_variable(variable, *span, &what)));
        }
        let [command, args] = &role.word_spans;
        in_words(role, "command", &role.command, command, &known, &mut found);
        in_words(role, "args", &role.args, args, &known, &mut found);
    }
    diagnostics.extend(found);
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        for role in workload.pods() {
            let patches = pods::patches(workload, role);
            patches.pod.iter().chain(&patches.main).for_each(|patch| in_patch(patch, &known, diagnostics));
        }
    }
}

/// Says what `text` holds, unless that is one of the `known` texts, which are reported where they are written.
fn credential(text: &str, known: &[&str]) -> Option<&'static str> {
    format::find(text).filter(|_| !known.iter().any(|known| text.contains(known)))
}

/// Says what `value` is, as the end of a sentence that starts with the variable's name.
fn suspicion(variable: &str, value: &str, known: &[&str]) -> Option<String> {
    match credential(value, known) {
        Some(noun) => Some(format!("holds {noun}")),
        None if name::is_secret(variable) && !name::is_harmless(value) && !known.contains(&value) => {
            Some("has the name of a secret, and its value is in plain text".to_owned())
        }
        None => None,
    }
}

fn finding(span: Span, message: String) -> Diagnostic {
    Diagnostic::at(&code::KB0407, span, message)
        .note("git keeps a pushed credential forever: replace this one if it was pushed")
}

fn holding(span: Span, name: &str, noun: &str) -> Diagnostic {
    finding(span, format!("{name} holds {noun}")).help(READ_A_VARIABLE)
}

const READ_A_VARIABLE: &str = "put the value into a Secret of the target's namespace and let the program read a variable: \
                               `env: {NAME: {secret: {name: …, key: …}}}`";

fn in_variable(variable: &str, span: Span, what: &str) -> Diagnostic {
    finding(span, format!("`{variable}` {what}")).help(format!(
        "put the value into a Secret of the target's namespace and write \
         `{variable}: {{secret: {{name: …, key: …}}}}`"
    ))
}

fn in_words(
    role: &Role,
    field: &str,
    words: &[String],
    spans: &[Span],
    known: &[&str],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut flag = "";
    for (index, word) in words.iter().enumerate() {
        if let Some(what) = in_word(word, &mut flag, known) {
            let message = format!("word {} of `{field}` of `{}` {what}", index + 1, role.name);
            let span = spans.get(index).copied().unwrap_or(role.span);
            diagnostics.push(finding(span, message).help(READ_A_VARIABLE));
        }
    }
}

/// Looks at one word, which may be a whole shell script; `flag` is the option that waits for its value.
fn in_word<'w>(word: &'w str, flag: &mut &'w str, known: &[&str]) -> Option<String> {
    if known.iter().any(|known| word.contains(known)) {
        *flag = "";
        return None;
    }
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

fn in_patch(node: &Node, known: &[&str], diagnostics: &mut Diagnostics) {
    match &node.value {
        Value::String(text) => {
            let Some(noun) = credential(text, known) else { return };
            diagnostics.push(
                finding(node.span, format!("this patch holds {noun}"))
                    .help("put the value into a Secret of the target's namespace and refer to the Secret here"),
            );
        }
        Value::Seq(items) => items.iter().for_each(|item| in_patch(item, known, diagnostics)),
        Value::Map(_) => {
            if let (Some(variable), Some(value)) = (node.get("name").and_then(Node::as_text), node.get("value"))
                && let Some(what) = value.as_text().and_then(|text| suspicion(variable, text, known))
            {
                diagnostics.push(in_variable(variable, value.span, &what));
                return;
            }
            for entry in node.entries() {
                in_patch(&entry.value, known, diagnostics);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
