//! Texts that hold objects: what Argo patches pods with, and what it creates for a `resource` template.

use super::Field;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::{Source, SourceId, Span};
use kubebench_syntax::yaml::{self, Entry, Node, Value};

/// Returns what the text of a field holds; nothing where it is no such field. What cannot be read is reported.
pub(super) fn read(field: Field<'_>, diagnostics: &mut Diagnostics) -> Option<Vec<Node>> {
    let Field { entry: Entry { key, key_span, value }, of, .. } = field;
    if of == "resource" && key == "manifestFrom" {
        diagnostics.push(unseen(*key_span, "this object is read only when it runs").help("write it as `manifest`"));
        return Some(Vec::new());
    }
    let holds = key == "podSpecPatch" || of == "resource" && key == "manifest";
    // What Argo fills in is read as a word: what is around it is what the review can see.
    let text = filled_in_later(value.as_text().filter(|_| holds)?);
    let yaml::Manifest { documents, diagnostics: found, .. } =
        yaml::read_manifest(SourceId(0), &Source::new("", text.as_bytes()));
    let is_read = documents.iter().all(|document| matches!(document.value, Value::Map(_)));
    if !is_read || found.iter().any(|fault| fault.severity == Severity::Error) {
        let fault = unseen(value.span, &format!("the text of `{key}` is no YAML before it runs"));
        diagnostics.push(
            fault.help("write it as YAML in which parameters are values: `memory: \"{{inputs.parameters.memory}}\"`"),
        );
    }
    Some(documents.into_iter().map(|document| placed(document, value.span)).collect())
}

fn unseen(span: Span, message: &str) -> Diagnostic {
    Diagnostic::at(&code::KB0376, span, message).note("what a pod may do has to be seen in the review")
}

/// Returns a text in which `{{…}}` is `<<…>>`, which YAML takes for a word.
fn filled_in_later(text: &str) -> String {
    let (mut read, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("{{") {
        read.push_str(before);
        match after.split_once("}}").filter(|(inner, _)| !inner.contains(['{', '}', '\n'])) {
            Some((inner, behind)) => {
                read.push_str(&format!("<<{inner}>>"));
                rest = behind;
            }
            None => {
                read.push_str("{{");
                rest = after;
            }
        }
    }
    read + rest
}

/// Returns a node with this place for all of it.
fn placed(node: Node, span: Span) -> Node {
    let value = match node.value {
        Value::Seq(items) => Value::Seq(items.into_iter().map(|item| placed(item, span)).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|Entry { key, value, .. }| Entry { key, key_span: span, value: placed(value, span) })
                .collect(),
        ),
        scalar => scalar,
    };
    Node { span, value }
}
