//! What is still to be filled in: `<…>`, `$X`, `${X}`, `__X__` where only a value makes sense.

use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::{Node, Value};

/// Fields whose text is a program's, or data, where such words mean something.
const FREE: [&str; 11] = [
    "annotations",
    "args",
    "binaryData",
    "command",
    "data",
    "description",
    "entrypoint",
    "env",
    "script",
    "source",
    "stringData",
];

/// Reports every placeholder below `node`.
pub(in crate::workload) fn refuse(node: &Node, diagnostics: &mut Diagnostics) {
    match &node.value {
        Value::String(text) if is_placeholder(text) => diagnostics.push(finding(node, text)),
        Value::Seq(items) => items.iter().for_each(|item| refuse(item, diagnostics)),
        Value::Map(entries) => {
            for entry in entries.iter().filter(|entry| !FREE.contains(&entry.key.as_str())) {
                match &entry.value.value {
                    // No image has these characters, so even a part of one is to be filled in.
                    Value::String(text) if entry.key == "image" && has_placeholder(text) => {
                        if !text.contains("{{") && !is_of_trial(text) {
                            diagnostics.push(finding(&entry.value, text));
                        }
                    }
                    _ => refuse(&entry.value, diagnostics),
                }
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns whether a value that is an image or an amount has a placeholder in it, which is reported for itself.
pub(super) fn has_placeholder(value: &str) -> bool {
    value.contains(['$', '<', '{'])
}

fn finding(node: &Node, text: &str) -> Diagnostic {
    Diagnostic::at(&code::KB0337, node.span, format!("`{text}` is a placeholder without a value"))
        .note("the file is a template, which Kubebench does not render: the cluster would refuse it or wait forever")
        .help("write the value, or an expression: `${{ parameters.NAME }}` with `parameters: {NAME: …}` in the spec")
}

fn is_placeholder(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && !name.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let between = |open: &str, close: &str| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    between("${", "}").is_some_and(is_name)
        || text.strip_prefix('$').is_some_and(is_name)
        || between("__", "__").is_some_and(is_name)
        || between("<", ">").is_some_and(|name| !name.is_empty() && !name.contains(['<', '>', ' ', '/']))
}

/// A parameter of Katib, which is filled in for every trial.
pub(super) fn is_of_trial(text: &str) -> bool {
    text.contains("${trialParameters.") || text.contains("${trialSpec.")
}
