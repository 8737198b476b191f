//! Objects in a text: what Argo patches pods with, and what it creates for a `resource` template.

use kubebench_syntax::diag::Severity;
use kubebench_syntax::text::{Source, SourceId, Span};
use kubebench_syntax::yaml::{Entry, Node, Value, read_manifest};

/// Returns the mappings that a text holds, each with the place of the text; nothing where it holds something else before it runs.
pub(crate) fn read(text: &Node) -> Option<Vec<Node>> {
    // What Argo fills in is read as a word: what is around it is what a review can see.
    let source = Source::new("", filled_in_later(text.as_text()?).as_bytes());
    let read = read_manifest(SourceId(0), &source);
    let is_sound = !read.diagnostics.iter().any(|fault| fault.severity == Severity::Error);
    let are_mappings = read.documents.iter().all(|document| matches!(document.value, Value::Map(_)));
    let placed = |document| placed(document, text.span);
    (is_sound && are_mappings).then(|| read.documents.into_iter().map(placed).collect())
}

/// Returns a text in which `{{…}}` is `<<…>>`, which YAML takes for a word.
fn filled_in_later(text: &str) -> String {
    let (mut read, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("{{") {
        read.push_str(before);
        let inner = after.split_once("}}").filter(|(inner, _)| !inner.contains(['{', '}', '\n']));
        if let Some((inner, behind)) = inner {
            read.push_str(&format!("<<{inner}>>"));
            rest = behind;
        } else {
            read.push_str("{{");
            rest = after;
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
