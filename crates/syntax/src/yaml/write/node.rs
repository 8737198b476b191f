//! Writes a tree for people: in the order of its source, with numbers as written there.

use super::write_string_scalar;
use crate::text::{SourceId, Span};
use crate::yaml::{Node, Value};

/// Returns `root` as YAML in block style, with a comment at each part that is from another source than its surroundings; `comment`
/// says of a place which that is.
pub fn write_node(root: &Node, source: SourceId, comment: &dyn Fn(Span) -> String) -> String {
    Writer { comment }.lines(root, source).iter().map(|line| format!("{line}\n")).collect()
}

struct Writer<'a> {
    comment: &'a dyn Fn(Span) -> String,
}

impl Writer<'_> {
    /// Returns the lines of a node that is part of something from `around`.
    fn lines(&self, node: &Node, around: SourceId) -> Vec<String> {
        match &node.value {
            Value::Map(entries) if !entries.is_empty() => {
                let entry = |entry: &crate::yaml::Entry| {
                    let key = format!("{}:", write_string_scalar(&entry.key));
                    let (value, comment) = self.part(&entry.value, around);
                    if is_leaf(&entry.value) {
                        vec![format!("{key} {}{comment}", value.join(" "))]
                    } else {
                        let indented = value.iter().map(|line| format!("  {line}"));
                        std::iter::once(format!("{key}{comment}")).chain(indented).collect()
                    }
                };
                entries.iter().flat_map(entry).collect()
            }
            Value::Seq(items) if !items.is_empty() => {
                let item = |item: &Node| {
                    let (value, comment) = self.part(item, around);
                    let first = value.iter().take(1).map(move |line| format!("- {line}{comment}"));
                    first.chain(value.iter().skip(1).map(|line| format!("  {line}"))).collect::<Vec<_>>()
                };
                items.iter().flat_map(item).collect()
            }
            _ => vec![leaf(node)],
        }
    }

    /// Returns the lines of a part, and the comment about it.
    fn part(&self, node: &Node, around: SourceId) -> (Vec<String>, String) {
        match origin(node) {
            Some(span) if span.source != around => {
                (self.lines(node, span.source), format!("  # {}", (self.comment)(span)))
            }
            _ => (self.lines(node, around), String::new()),
        }
    }
}

/// Returns the first place below a node, if all of them are in one source.
fn origin(node: &Node) -> Option<Span> {
    let below: Vec<&Node> = match &node.value {
        Value::Seq(items) => items.iter().collect(),
        Value::Map(entries) => entries.iter().map(|entry| &entry.value).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let Some((first, rest)) = below.split_first() else { return Some(node.span) };
    let first = origin(first)?;
    rest.iter().all(|node| origin(node).is_some_and(|span| span.source == first.source)).then_some(first)
}

fn is_leaf(node: &Node) -> bool {
    node.entries().is_empty() && node.items().is_empty()
}

fn leaf(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(text) => text.clone(),
        Value::String(text) => write_string_scalar(text),
        Value::Seq(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
    }
}
