//! Values of a change as people read them: without secrets, and short.

use kubebench_syntax::redact::Redactor;
use kubebench_syntax::yaml::{Entry, Node, Value as Yaml};

use super::Change;
use super::fields::{FieldChange, Step};
use super::written::{place, short};

/// The maximum number of characters shown of a value.
const LONGEST: usize = 60;
/// The maximum where more of it differs.
const MOST: usize = 240;
/// How many characters are shown of a value that is added or removed as a whole.
const MOST_OF_ONE: usize = 120;
/// How many characters before the first difference are shown of a long value.
const BEFORE: usize = 20;
/// The maximum number of characters kept of a value.
const KEPT: usize = 2_000;

/// A value in one line, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(String);

impl Value {
    /// Makes one from a text without secrets.
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

    /// Returns a change of a whole file, which is or is not there at the base and now.
    pub(super) fn of_file(file: &str, is_there: [bool; 2]) -> Self {
        let [old, new] = match is_there {
            [true, true] => [None, None],
            one_side => one_side.map(|is_there| is_there.then(|| Value("file".to_owned()))),
        };
        Self { file: file.to_owned(), path: String::new(), old, new, fields: 1 }
    }

    /// Returns the field without what all fields of a spec begin with.
    pub fn field(&self) -> &str {
        self.path.strip_prefix("spec.").unwrap_or(&self.path)
    }

    /// Says what became of a whole file.
    pub fn fate(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, Some(_)) => "is new",
            (Some(_), None) => "is gone",
            _ => "changed",
        }
    }

    /// Returns the values shortened to fit on a line; long ones from where they begin to differ.
    pub fn values(&self) -> Option<[String; 2]> {
        let none = || Value("none".to_owned());
        if self.old.is_none() && self.new.is_none() {
            return None;
        }
        let [old, new] = [&self.old, &self.new].map(|value| value.clone().unwrap_or_else(none).0);
        let most = if self.old.is_some() && self.new.is_some() { MOST } else { MOST_OF_ONE };
        Some(around([&old, &new], BEFORE, LONGEST, most))
    }
}

/// Returns two texts from a little before they begin to differ to where they no longer do, where one of them is longer than `longest`: at
/// most `most` characters.
fn around(texts: [&str; 2], before: usize, longest: usize, most: usize) -> [String; 2] {
    let [old, new] = texts;
    let shared = old.chars().zip(new.chars()).take_while(|(one, other)| one == other).count();
    let is_long = texts.iter().any(|text| text.chars().nth(longest).is_some());
    let skipped = if is_long { shared.saturating_sub(before) } else { 0 };
    let behind = old.chars().rev().zip(new.chars().rev()).take_while(|(one, other)| one == other).count();
    texts.map(|text| {
        let count = text.chars().count();
        let differs = count.saturating_sub(behind.min(count.saturating_sub(shared)) + skipped);
        let mut rest = text.chars().skip(skipped);
        let shown: String = rest.by_ref().take(differs.clamp(longest, most.max(longest))).collect();
        let start = if skipped > 0 { "…" } else { "" };
        let end = if rest.next().is_some() { "…" } else { "" };
        format!("{start}{shown}{end}")
    })
}

/// Returns values as programs get them: of very long ones, what is around the first difference.
fn kept(values: [Option<String>; 2]) -> [Option<String>; 2] {
    match values {
        [Some(old), Some(new)] => around([&old, &new], KEPT / 4, KEPT, KEPT).map(Some),
        one => one.map(|text| {
            let [_, shown] = around(["", &text?], 0, KEPT, KEPT);
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
            // What is said of a list is said of its first element, and each element may say what the next one is.
            let ahead = |before: &Node| before.as_text().map(|before| format!("{before} ")).into_iter().collect();
            let befores = std::iter::once(context.to_vec()).chain(items.iter().map(ahead));
            let item = |(item, before): (&Node, Vec<String>)| without_secrets(item, &before);
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
