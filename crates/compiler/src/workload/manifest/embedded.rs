//! Objects in a text: what Argo patches pods with, and what it creates for a `resource` template.

use kubebench_syntax::diag::Severity;
use kubebench_syntax::text::{Source, SourceId, Span};
use kubebench_syntax::yaml::{Entry, Node, Value, read_manifest};

/// What Argo fills in that nobody who writes a spec decides.
const HARMLESS: [&str; 5] =
    ["pod.name", "workflow.creationTimestamp", "workflow.name", "workflow.namespace", "workflow.uid"];

/// Returns the mappings that a text holds, each with the place of the text; nothing where it holds something else, or where Argo fills in what
/// could add fields.
pub(crate) fn read(text: &Node) -> Option<Vec<Node>> {
    let source = Source::new("", filled_in(text.as_text()?)?.as_bytes());
    let read = read_manifest(SourceId(0), &source);
    let is_sound = !read.diagnostics.iter().any(|fault| fault.severity == Severity::Error);
    let are_mappings = read.documents.iter().all(|document| matches!(document.value, Value::Map(_)));
    let placed = |document| placed(document, text.span);
    (is_sound && are_mappings).then(|| read.documents.into_iter().map(placed).collect())
}

/// Returns a text with words in the place of what Argo fills in; nothing where that is more than a name.
fn filled_in(text: &str) -> Option<String> {
    let (mut read, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("{{") {
        let (inner, behind) = after.split_once("}}")?;
        if !HARMLESS.contains(&inner.trim()) {
            return None;
        }
        read.push_str(before);
        read.push_str("filled-in");
        rest = behind;
    }
    Some(read + rest)
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
