//! Nodes and places as text: exactly, for the compiler, and for people.

use std::fmt::Write as _;

use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::yaml::{Node, Value};

use super::fields::Step;

/// Returns a document that reads as `node`: numbers keep their spelling, and texts are quoted.
pub(super) fn exact(node: &Node) -> String {
    flow(node, quoted)
}

/// Returns a value as people would write it in one line.
pub(super) fn short(node: &Node) -> String {
    flow(node, |text| if is_plain(text) { text.to_owned() } else { quoted(text) })
}

/// Returns a place as `explain` names fields.
pub(super) fn place(path: &[Step]) -> String {
    let mut shown = String::new();
    for step in path {
        match step {
            Step::Key(key) | Step::Named(_, key) => {
                if !shown.is_empty() {
                    shown.push('.');
                }
                let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
                let is_word = !key.is_empty() && key.chars().all(is_word);
                shown.push_str(&if is_word { key.clone() } else { quoted(key) });
            }
            Step::Item(item) => write!(shown, "[{}]", item.shown()).expected("a text takes all"),
        }
    }
    shown
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expected("a text is JSON")
}

fn flow(node: &Node, text: fn(&str) -> String) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.clone(),
        Value::String(string) => text(string),
        Value::Seq(items) => {
            format!("[{}]", items.iter().map(|item| flow(item, text)).collect::<Vec<_>>().join(", "))
        }
        Value::Map(entries) => {
            let fields = entries.iter().map(|entry| format!("{}: {}", text(&entry.key), flow(&entry.value, text)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns whether a text needs no quotes to be distinguishable from its surroundings.
fn is_plain(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@+*%=$".contains(letter);
    !text.is_empty() && text.chars().all(is_plain)
}
