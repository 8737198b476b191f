//! The canonical layout of a spec: same values, same comments, one way to indent and space them.
//!
//! Formatting moves white space and nothing else: no key is reordered, no scalar is respelled. The result is read
//! back and compared before it is returned, so that a mistake here can never change what a spec means.

mod block;
mod comment;
mod flow;
mod page;
mod scalar;

use super::{Node, Value, read};
use crate::diag::{Diagnostic, Severity};
use crate::text::{Source, SourceId};
use page::Page;

/// How many columns a level is indented relative to the level that contains it.
const STEP: usize = 2;

/// Returns the canonical form of `source`, or every reason why it cannot be read.
///
/// The findings refer to `source` by the number `id`.
pub fn format(id: SourceId, source: &Source) -> Result<String, Vec<Diagnostic>> {
    let read = read(id, source);
    match &read.root {
        Some(root) if read.diagnostics.iter().all(|fault| fault.severity != Severity::Error) => {
            Ok(lay_out(root, source).unwrap_or_else(|| with_final_newline(&source.text)))
        }
        _ => Err(read.diagnostics),
    }
}

/// Formats `root` and proves that the result means the same; returns none if it does not.
fn lay_out(root: &Node, source: &Source) -> Option<String> {
    let comments = comment::find(&source.text)?;
    let mut page = Page::new(&source.text, &comments);
    page.document(root)?;
    let text = page.finish();
    let laid_out = Source::new(source.path.as_str(), text.as_bytes());
    let again = read(SourceId::default(), &laid_out);
    let same = again.diagnostics.is_empty()
        && again.root.is_some_and(|again| same_value(root, &again))
        && comment::texts(&source.text, &comments) == comment::texts(&text, &comment::find(&text)?);
    same.then_some(text)
}

/// The text unchanged, except for its last line break.
fn with_final_newline(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// Compares two values regardless of their places.
fn same_value(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Seq(a), Value::Seq(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key && same_value(&a.value, &b.value))
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests;
