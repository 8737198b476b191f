//! YAML that people read: fields in the order in which they are given, short things on one line, comments where a value
//! needs a human.

use kubebench_syntax::yaml::{Node, Value, write_string_scalar};

/// The width that a line in flow style may have.
const WIDTH: usize = 110;

/// A value of a spec in the making.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// A number or boolean, as YAML spells it.
    Plain(String),
    /// A text, which gets quotes where it needs them.
    Text(String),
    /// A lookup such as `${{ parameters.size }}`, or a text with one.
    Lookup(String),
    /// A text of several lines.
    Block(String),
    List(Vec<Self>),
    /// A mapping.
    Map(Map),
    /// A mapping on one line, if it fits.
    Flow(Map),
}

/// A mapping in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Map(Vec<Field>);

#[derive(Clone, Debug, PartialEq)]
struct Field {
    comment: Vec<String>,
    key: String,
    item: Item,
}

impl Map {
    /// Returns true when nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a field.
    #[must_use]
    pub(super) fn with(mut self, key: &str, item: impl Into<Item>) -> Self {
        self.put(key, item);
        self
    }

    /// Adds a field.
    pub(super) fn put(&mut self, key: &str, item: impl Into<Item>) {
        self.put_with(Vec::new(), key, item);
    }

    /// Adds a field below comments.
    pub(super) fn put_with(&mut self, comment: Vec<String>, key: &str, item: impl Into<Item>) {
        self.0.push(Field { comment, key: key.to_owned(), item: item.into() });
    }

    /// Adds a field unless its value says nothing.
    pub(super) fn put_some(&mut self, key: &str, item: impl Into<Item>) {
        let item = item.into();
        let is_empty = match &item {
            Item::List(items) => items.is_empty(),
            Item::Map(map) | Item::Flow(map) => map.is_empty(),
            Item::Text(text) => text.is_empty(),
            Item::Plain(_) | Item::Lookup(_) | Item::Block(_) => false,
        };
        if !is_empty {
            self.put(key, item);
        }
    }

    /// Returns the list at `key`, which is created if it is missing.
    pub(super) fn list(&mut self, key: &str) -> Option<&mut Vec<Item>> {
        if !self.0.iter().any(|field| field.key == key) {
            self.put(key, Item::List(Vec::new()));
        }
        match &mut self.0.iter_mut().find(|field| field.key == key)?.item {
            Item::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.0.iter().find(|field| field.key == key).map(|field| &field.item)
    }
}

impl From<&str> for Item {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Item {
    fn from(number: u32) -> Self {
        Self::Plain(number.to_string())
    }
}

impl From<bool> for Item {
    fn from(flag: bool) -> Self {
        Self::Plain(flag.to_string())
    }
}

impl From<Map> for Item {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<Vec<Self>> for Item {
    fn from(items: Vec<Self>) -> Self {
        Self::List(items)
    }
}

impl From<Vec<String>> for Item {
    fn from(words: Vec<String>) -> Self {
        Self::List(words.into_iter().map(Self::Text).collect())
    }
}

impl From<&Node> for Item {
    fn from(node: &Node) -> Self {
        match &node.value {
            Value::Null => Self::Plain("null".to_owned()),
            Value::Bool(flag) => Self::Plain(flag.to_string()),
            Value::Number(text) => Self::Plain(text.clone()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Seq(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Map(entries) => {
                let mut map = Map::default();
                for entry in entries {
                    map.put(&entry.key, &entry.value);
                }
                Self::Map(map)
            }
        }
    }
}

/// Writes a document.
pub(super) fn document(map: &Map) -> String {
    let mut text = String::new();
    fields(map, 0, &mut text);
    text
}

/// Returns a text as one scalar; what would be a lookup stays the text that it was.
fn scalar(text: &str) -> String {
    write_string_scalar(&text.replace("${{", "$${{"))
}

fn fields(map: &Map, column: usize, text: &mut String) {
    for (index, field) in map.0.iter().enumerate() {
        if index > 0 || !field.comment.is_empty() {
            indent(column, text);
        }
        for line in &field.comment {
            text.push_str(format!("# {line}").trim_end());
            text.push('\n');
            text.push_str(&" ".repeat(column));
        }
        text.push_str(&write_string_scalar(&field.key));
        text.push(':');
        value(&field.item, column + 2, text);
    }
}

/// Begins a line at `column`, unless the text already ends there.
fn indent(column: usize, text: &mut String) {
    if text.ends_with('\n') {
        text.push_str(&" ".repeat(column));
    }
}

fn value(item: &Item, column: usize, text: &mut String) {
    let start = text.rsplit('\n').next().map_or(0, |line| line.chars().count());
    if let Some(line) = one_line(item).filter(|line| start + line.chars().count() < WIDTH || !can_break(item)) {
        text.push(' ');
        text.push_str(&line);
        text.push('\n');
        return;
    }
    match item {
        Item::Block(block) => {
            text.push_str(" |\n");
            for line in block.trim_end().lines() {
                text.push_str(format!("{}{line}", " ".repeat(column)).trim_end());
                text.push('\n');
            }
        }
        Item::List(items) => {
            text.push('\n');
            for item in items {
                text.push_str(&" ".repeat(column));
                text.push('-');
                element(item, column + 2, text);
            }
        }
        Item::Map(map) | Item::Flow(map) => {
            text.push('\n');
            text.push_str(&" ".repeat(column));
            fields(map, column, text);
        }
        Item::Plain(_) | Item::Text(_) | Item::Lookup(_) => {}
    }
}

/// Writes an element behind its dash.
fn element(item: &Item, column: usize, text: &mut String) {
    match item {
        Item::Map(map) if !map.is_empty() => {
            text.push(' ');
            fields(map, column, text);
        }
        item => value(item, column, text),
    }
}

fn can_break(item: &Item) -> bool {
    match item {
        Item::List(items) => !items.is_empty(),
        Item::Map(map) | Item::Flow(map) => !map.is_empty(),
        Item::Plain(_) | Item::Text(_) | Item::Lookup(_) | Item::Block(_) => false,
    }
}

/// Returns the value on one line, if possible.
fn one_line(item: &Item) -> Option<String> {
    match item {
        Item::Plain(text) => Some(text.clone()),
        Item::Text(text) => Some(scalar(text)),
        Item::Lookup(text) => Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))),
        Item::Block(_) => None,
        Item::List(items) => {
            let items: Option<Vec<String>> =
                items.iter().map(|item| if matches!(item, Item::Map(_)) { None } else { one_line(item) }).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Item::Map(map) if !map.is_empty() => None,
        Item::Map(map) | Item::Flow(map) => {
            let fields: Option<Vec<String>> = map
                .0
                .iter()
                .map(|field| {
                    let line = one_line(&field.item).filter(|_| field.comment.is_empty())?;
                    Some(format!("{}: {line}", write_string_scalar(&field.key)))
                })
                .collect();
            Some(format!("{{{}}}", fields?.join(", ")))
        }
    }
}

impl Map {
    /// Adds all fields of another mapping.
    pub(super) fn put_fields(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }
}

impl Item {
    /// Replaces each text by a lookup where `find` has one for it.
    pub(super) fn look_up(&mut self, find: &dyn Fn(&str) -> Option<String>) {
        match self {
            Self::Text(text) => {
                if let Some(found) = find(text) {
                    *self = Self::Lookup(found);
                }
            }
            Self::List(items) => items.iter_mut().for_each(|item| item.look_up(find)),
            Self::Map(map) | Self::Flow(map) => map.look_up(find),
            Self::Plain(_) | Self::Lookup(_) | Self::Block(_) => {}
        }
    }
}

impl Map {
    /// The same for all values.
    pub(super) fn look_up(&mut self, find: &dyn Fn(&str) -> Option<String>) {
        self.0.iter_mut().for_each(|field| field.item.look_up(find));
    }
}
