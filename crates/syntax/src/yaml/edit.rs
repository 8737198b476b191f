//! Changes of single values in the text of a document: comments, order and quoting of everything else stay.
//!
//! An edit counts only if the new text reads as the old document with this one value changed, so no rule of YAML can surprise it.

mod path;
#[cfg(test)]
mod tests;

use serde_json::Value as Json;

use super::{Node, Step, Value, read};
use crate::text::{Source, SourceId};

pub use path::{find, paths, spelled, split};

/// How a new value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// As a text where the old value is one.
    LikeOld,
    /// As YAML reads it.
    AsWritten,
}

/// Returns `text` with the value at `steps` replaced by `new`, which is a word or YAML in flow style; nothing where `new` cannot be
/// written there. A key is added if its mapping exists or can be created.
pub fn set(text: &str, steps: &[Step], new: &str, typing: Typing) -> Option<String> {
    let root = parsed(text)?;
    let old = root.at(steps);
    let expected = expected(old, new, typing)?;
    let mut wanted = root.to_json();
    put(&mut wanted, steps, &expected)?;
    let spellings = spellings(old.and_then(|old| text.get(old.span.range())), new, &expected);
    let edited = spellings.into_iter().flat_map(|spelling| match old {
        Some(old) => vec![replaced(text, old, &spelling)],
        None => added(text, &root, steps, &spelling),
    });
    edited.into_iter().find(|edited| parsed(edited).is_some_and(|root| root.to_json() == wanted))
}

fn parsed(text: &str) -> Option<Node> {
    let read = read(SourceId::default(), &Source::new("", text.as_bytes()));
    read.root.filter(|_| read.diagnostics.is_empty())
}

/// Returns the value that `new` means.
fn expected(old: Option<&Node>, new: &str, typing: Typing) -> Option<Json> {
    let old = old.map(|old| &old.value);
    let is_text = matches!(old, Some(Value::String(_))) && typing == Typing::LikeOld;
    if is_text {
        return Some(Json::String(new.to_owned()));
    }
    let written = parsed(&format!("x: {new}\n")).and_then(|root| root.get("x").map(Node::to_json));
    match (old, written) {
        (Some(Value::Seq(_)), Some(list @ Json::Array(_))) => Some(list),
        (Some(Value::Map(_)), Some(mapping @ Json::Object(_))) => Some(mapping),
        // A list where a word belongs is a mistake, whatever a schema says about it.
        (Some(Value::Seq(_) | Value::Map(_)), _) => None,
        (_, Some(Json::Null)) if !matches!(new, "null" | "~") => Some(Json::String(new.to_owned())),
        (_, Some(value)) => Some(value),
        (_, None) => Some(Json::String(new.to_owned())),
    }
}

/// Returns the ways to write a value, the best first: as the old one was quoted, without quotes, with them.
fn spellings(old: Option<&str>, new: &str, expected: &Json) -> Vec<String> {
    let Json::String(text) = expected else { return vec![new.to_owned()] };
    let double = Json::from(text.as_str()).to_string();
    let single = format!("'{}'", text.replace('\'', "''"));
    let mut spellings = match old.and_then(|old| old.chars().next()) {
        Some('"') => vec![double.clone()],
        Some('\'') => vec![single],
        _ => vec![text.clone()],
    };
    spellings.push(double);
    spellings
}

fn replaced(text: &str, old: &Node, spelling: &str) -> String {
    let range = old.span.range();
    let (before, within, after) = (
        text.get(..range.start).unwrap_or_default(),
        text.get(range.clone()).unwrap_or_default(),
        text.get(range.end..).unwrap_or_default(),
    );
    if range.is_empty() {
        // A value that is nothing is where its key ends.
        let (colon, rest) = after.split_at_checked(1).unwrap_or(("", after));
        return format!("{before}{colon} {spelling}{rest}");
    }
    let before = before.get(..block_header(before).unwrap_or(before.len())).unwrap_or_default();
    // A block of text has the line break that ends it, and what the next line begins with.
    let end = within.get(within.trim_end().len()..).unwrap_or_default();
    format!("{before}{spelling}{end}{after}")
}

/// Returns where the `|` or `>` is of the block of text that begins after `before`.
fn block_header(before: &str) -> Option<usize> {
    let line = before.trim_end_matches(' ').strip_suffix('\n')?;
    let start = line.rfind('\n').map_or(0, |end| end + 1);
    let header = line.get(start..)?.split(" #").next()?.trim_end();
    let mark = header.trim_end_matches(|letter: char| letter.is_ascii_digit() || "+-".contains(letter));
    mark.ends_with(['|', '>']).then(|| start + mark.len() - 1)
}

/// Returns texts with the value added in the innermost existing mapping.
fn added(text: &str, root: &Node, steps: &[Step], spelling: &str) -> Vec<String> {
    let depth = (0..steps.len()).rev().find(|depth| steps.get(..*depth).is_some_and(|above| root.at(above).is_some()));
    let Some((depth, holder)) = depth.and_then(|depth| Some((depth, root.at(steps.get(..depth)?)?))) else {
        return Vec::new();
    };
    let keys: Option<Vec<&str>> = steps
        .iter()
        .skip(depth)
        .map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
        .collect();
    let Some([key, below @ ..]) = keys.as_deref() else { return Vec::new() };
    let value = below.iter().rev().fold(spelling.to_owned(), |value, key| format!("{{{}: {value}}}", spelled_key(key)));
    let field = format!("{}: {value}", spelled_key(key));
    let range = holder.span.range();
    let within = text.get(range.clone()).unwrap_or_default();
    match holder.entries().last() {
        _ if !matches!(holder.value, Value::Map(_) | Value::Null) => Vec::new(),
        None => vec![replaced(text, holder, &format!("{{{field}}}"))],
        Some(last) if within.starts_with('{') => {
            vec![inserted(text, last.value.span.range().end, &format!(", {field}"))]
        }
        Some(last) => {
            let first = holder.entries().first().map_or(0, |entry| entry.key_span.range().start);
            let line = text.get(..first).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
            let indent = " ".repeat(text.get(line..first).map_or(0, |before| before.chars().count()));
            let end = last.value.span.range().end.max(last.key_span.range().end);
            let content = text.get(..end).unwrap_or_default().trim_end().len();
            let line_end = text.get(content..).and_then(|rest| rest.find('\n')).map(|at| content + at);
            let at = line_end.unwrap_or(text.len());
            vec![inserted(text, at, &format!("\n{indent}{field}"))]
        }
    }
}

fn inserted(text: &str, at: usize, new: &str) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    format!("{before}{new}{after}")
}

fn spelled_key(key: &str) -> String {
    let is_plain = !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || "-_./".contains(letter));
    if is_plain { key.to_owned() } else { Json::from(key).to_string() }
}

/// Puts a value in a tree, with the mappings that lead there.
fn put(tree: &mut Json, steps: &[Step], value: &Json) -> Option<()> {
    let Some((step, below)) = steps.split_first() else {
        *tree = value.clone();
        return Some(());
    };
    if tree.is_null() {
        *tree = Json::Object(serde_json::Map::new());
    }
    let child = match step {
        Step::Key(key) => tree.as_object_mut()?.entry(key.clone()).or_insert(Json::Null),
        Step::Index(index) => tree.as_array_mut()?.get_mut(*index)?,
    };
    put(child, below, value)
}
