//! The spanned tree that a YAML document is read into.

use crate::text::Span;

/// A value and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The bytes of the value.
    pub span: Span,
    pub value: Value,
}

/// A YAML value of the JSON subset; numbers keep their source text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A plain decimal integer or fraction, as written; in a manifest, as JSON spells it.
    Number(String),
    /// Any other scalar.
    String(String),
    /// A sequence.
    Seq(Vec<Node>),
    /// A mapping, in source order.
    Map(Vec<Entry>),
}

/// A key, where it is, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    /// The bytes of the key.
    pub key_span: Span,
    pub value: Node,
}

/// One step from a node to a child.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into an element.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl From<&serde_json::Value> for Node {
    /// Makes a tree without places, for texts that no person wrote.
    fn from(json: &serde_json::Value) -> Self {
        let value = match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(flag) => Value::Bool(*flag),
            serde_json::Value::Number(number) => Value::Number(number.to_string()),
            serde_json::Value::String(text) => Value::String(text.clone()),
            serde_json::Value::Array(items) => Value::Seq(items.iter().map(Self::from).collect()),
            serde_json::Value::Object(object) => Value::Map(object.iter().map(Entry::from).collect()),
        };
        Self { span: Span::default(), value }
    }
}

impl From<(&String, &serde_json::Value)> for Entry {
    fn from((key, value): (&String, &serde_json::Value)) -> Self {
        Self { key: key.clone(), key_span: Span::default(), value: Node::from(value) }
    }
}

impl Node {
    /// Returns the entries of a mapping; of anything else, none.
    pub fn entries(&self) -> &[Entry] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    /// Returns the elements of a sequence; of anything else, none.
    pub fn items(&self) -> &[Self] {
        if let Value::Seq(items) = &self.value { items } else { &[] }
    }

    /// Returns the entry of `key`.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the entries of the mapping `key`; none for anything else, and without such a field.
    pub fn entries_of(&self, key: &str) -> &[Entry] {
        self.get(key).map_or(&[], Self::entries)
    }

    /// Returns the elements of the sequence `key`; none for anything else, and without such a field.
    pub fn items_of(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    /// Returns the element of this list whose field `key` is `name`.
    pub fn element(&self, key: &str, name: &str) -> Option<&Self> {
        self.items().iter().find(|item| item.get(key).and_then(Self::as_text) == Some(name))
    }

    /// Returns the text of a string or number.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) | Value::Number(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// Returns the node that `steps` lead to.
    pub fn at(&self, steps: &[Step]) -> Option<&Self> {
        steps.iter().try_fold(self, |node, step| match step {
            Step::Key(key) => node.get(key),
            Step::Index(index) => node.items().get(*index),
        })
    }

    /// Returns a word for the type of the value, for people.
    pub fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Seq(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// Says what the value is, with a short text: `the number `30``, `a list`.
    pub fn described(&self) -> String {
        const LONGEST: usize = 60;
        match self.as_text().filter(|text| text.len() <= LONGEST) {
            Some(text) => format!("{} `{text}`", self.type_name().replacen("a ", "the ", 1)),
            None => self.type_name().to_owned(),
        }
    }

    /// Returns the value as JSON, for the schema validator and for canonical forms.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::Bool(*flag),
            Value::Number(text) => number(text),
            Value::String(text) => Json::String(text.clone()),
            Value::Seq(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect())
            }
        }
    }
}

/// Returns the JSON number that `text` spells; the reader has made sure that it is one.
pub(crate) fn number(text: &str) -> serde_json::Value {
    if let Ok(integer) = text.parse::<i64>() {
        return integer.into();
    }
    text.parse::<f64>()
        .ok()
        .and_then(serde_json::Number::from_f64)
        .map_or_else(|| serde_json::Value::String(text.to_owned()), serde_json::Value::Number)
}
