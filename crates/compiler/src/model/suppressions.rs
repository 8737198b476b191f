//! The lints that one spec or target does without, each with its reason.

use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node};

/// The lints that one spec or target does without.
#[derive(Clone, Debug, Default)]
pub struct Suppressions(pub Vec<Suppression>);

/// A lint whose warnings are not reported.
#[derive(Clone, Debug)]
pub struct Suppression {
    /// The code.
    pub code: String,
    /// Where the code is.
    pub span: Span,
    /// Why, in the author's words.
    pub reason: String,
}

impl Suppressions {
    /// Reads the `lints` of `node`, which its schema accepts.
    pub(crate) fn of(node: Option<&Node>) -> Self {
        let read = |entry: &Entry| Suppression {
            code: entry.key.clone(),
            span: entry.key_span,
            reason: entry.value.get("reason").and_then(Node::as_text).unwrap_or_default().trim().to_owned(),
        };
        Self(node.map(|node| node.entries_of("lints")).unwrap_or_default().iter().map(read).collect())
    }
}
