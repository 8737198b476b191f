//! Values of a change as people read them: without secrets, and short.

use kubebench_syntax::redact::Redactor;
use kubebench_syntax::yaml::{Entry, Node, Value as Yaml};

use super::Change;
use super::fields::{FieldChange, Step};
use super::written::{place, short};

/// So many characters of a value are shown at most.
const LONGEST: usize = 60;
/// So many characters before the first difference are shown of a long value.
const BEFORE: usize = 20;
/// So many characters of a value are kept.
const KEPT: usize = 2_000;

/// A value in one line, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(String);

impl Value {
    /// Takes a text of which nothing is secret.
    pub fn of(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Change {
    /// Returns a change of a field of `file`.
    pub(super) fn of_field(file: &str, change: &FieldChange) -> Self {
        let FieldChange { path, old, new, fields, before } = change;
        let context = context(path, before);
        let text = |node: &Option<Node>| node.as_ref().map(|node| short(&without_secrets(node, &context)));
        let [old, new] = kept([text(old), text(new)]).map(|text| text.map(Value));
        Self { file: file.to_owned(), path: place(path), old, new, fields: *fields }
    }

    /// Returns a change of a whole file.
    pub(super) fn of_file(file: &str) -> Self {
        Self { file: file.to_owned(), path: String::new(), old: None, new: None, fields: 1 }
    }

    /// Returns the field without what all fields of a spec begin with.
    pub fn field(&self) -> &str {
        self.path.strip_prefix("spec.").unwrap_or(&self.path)
    }

    /// Returns the values as they fit into a line: of long ones, where they begin to differ.
    pub fn values(&self) -> Option<[String; 2]> {
        let none = || Value("none".to_owned());
        if self.old.is_none() && self.new.is_none() {
            return None;
        }
        let [old, new] = [&self.old, &self.new].map(|value| value.clone().unwrap_or_else(none).0);
        Some(around([&old, &new], BEFORE, LONGEST))
    }
}

/// Returns two texts from a little before they begin to differ, where one of them is longer than `longest`.
fn around(texts: [&str; 2], before: usize, longest: usize) -> [String; 2] {
    let [old, new] = texts;
    let shared = old.chars().zip(new.chars()).take_while(|(one, other)| one == other).count();
    let is_long = texts.iter().any(|text| text.chars().nth(longest).is_some());
    let skipped = if is_long { shared.saturating_sub(before) } else { 0 };
    texts.map(|text| {
        let mut rest = text.chars().skip(skipped);
        let shown: String = rest.by_ref().take(longest).collect();
        let start = if skipped > 0 { "…" } else { "" };
        let end = if rest.next().is_some() { "…" } else { "" };
        format!("{start}{shown}{end}")
    })
}

/// Returns values as programs get them: of very long ones, what is around the first difference.
fn kept(values: [Option<String>; 2]) -> [Option<String>; 2] {
    match values {
        [Some(old), Some(new)] => around([&old, &new], KEPT / 4, KEPT).map(Some),
        one => one.map(|text| {
            let [_, shown] = around(["", &text?], 0, KEPT);
            Some(shown)
        }),
    }
}

/// Returns what may be before a value and say that it is secret: the names of fields and variables, and the option of a command.
fn context(path: &[Step], before: &[String]) -> Vec<String> {
    match path {
        [.., Step::Named(_, name), Step::Key(key)] if key == "value" => vec![format!("{name}: ")],
        [.., Step::Key(key) | Step::Named(_, key)] => vec![format!("{key}: ")],
        [.., Step::Item(_)] => before.iter().map(|before| format!("{before} ")).collect(),
        [] => Vec::new(),
    }
}

/// Returns a value without secrets, which is behind each `context`.
fn without_secrets(node: &Node, context: &[String]) -> Node {
    let value = match &node.value {
        Yaml::String(text) => Yaml::String(redacted(text, context)),
        Yaml::Seq(items) => {
            let befores = std::iter::once(None).chain(items.iter().map(Node::as_text));
            let item = |(item, before): (&Node, Option<&str>)| {
                let before: Vec<String> = before.iter().map(|before| format!("{before} ")).collect();
                without_secrets(item, &before)
            };
            Yaml::Seq(items.iter().zip(befores).map(item).collect())
        }
        Yaml::Map(entries) => {
            let name = node.get("name").and_then(Node::as_text);
            let field = |entry: &Entry| {
                let named = name.filter(|_| entry.key == "value").map(|name| format!("{name}: "));
                let context: Vec<String> = std::iter::once(format!("{}: ", entry.key)).chain(named).collect();
                Entry { value: without_secrets(&entry.value, &context), ..entry.clone() }
            };
            Yaml::Map(entries.iter().map(field).collect())
        }
        other => other.clone(),
    };
    Node { span: node.span, value }
}

/// Returns a text without secrets, as it would be behind each `context`.
fn redacted(text: &str, context: &[String]) -> String {
    let redactor = Redactor::default();
    let behind = context.iter().find_map(|before| {
        let whole = format!("{before}{text}");
        let clean = redactor.text(&whole);
        clean.strip_prefix(before.as_str()).filter(|clean| *clean != text).map(str::to_owned)
    });
    behind.unwrap_or_else(|| redactor.text(text).into_owned())
}
