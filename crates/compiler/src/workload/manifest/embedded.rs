//! Objects in a text: what Argo patches pods with, and what it creates for a `resource` template.

use kubebench_syntax::diag::Severity;
use kubebench_syntax::text::{Source, SourceId, Span};
use kubebench_syntax::yaml::{Entry, Node, Value, read_manifest};

/// Values that Argo fills in and that authors of a spec do not choose.
const HARMLESS: [&str; 5] =
    ["pod.name", "workflow.creationTimestamp", "workflow.name", "workflow.namespace", "workflow.uid"];

/// A text, as far as it is known before Argo fills it in.
pub(crate) struct Embedded {
    /// The mappings that it holds, each with the place of the text.
    pub(crate) documents: Vec<Node>,
    /// Whether what is filled in could add fields to them.
    pub(crate) is_open: bool,
}

/// Reads a text; nothing where it holds something else before it runs.
pub(crate) fn read(text: &Node) -> Option<Embedded> {
    let (filled, is_open) = filled_in(text.as_text()?);
    let read = read_manifest(SourceId(0), &Source::new("", filled.as_bytes()));
    let is_sound = !read.diagnostics.iter().any(|fault| fault.severity == Severity::Error);
    let are_mappings = read.documents.iter().all(|document| matches!(document.value, Value::Map(_)));
    let placed = |document| placed(document, text.span);
    (is_sound && are_mappings)
        .then(|| Embedded { documents: read.documents.into_iter().map(placed).collect(), is_open })
}

/// Returns a text with `<<…>>`, which YAML reads as a word, instead of what Argo fills in, and whether that is more than a name.
fn filled_in(text: &str) -> (String, bool) {
    let (mut read, mut rest, mut is_open) = (String::with_capacity(text.len()), text, false);
    while let Some((before, after)) = rest.split_once("{{") {
        read.push_str(before);
        let inner = after.split_once("}}").filter(|(inner, _)| !inner.contains(['{', '}', '\n']));
        if let Some((inner, behind)) = inner {
            is_open |= !HARMLESS.contains(&inner.trim());
            read.push_str(&format!("<<{}>>", inner.replace(['"', '\'', ':', '#'], "")));
            rest = behind;
        } else {
            read.push_str("{{");
            rest = after;
        }
    }
    (read + rest, is_open)
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
