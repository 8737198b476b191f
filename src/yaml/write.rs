//! Writes Kubernetes objects as YAML that every reader takes for the same object.
//!
//! Readers disagree on what an unquoted scalar means: YAML 1.1 (`PyYAML`, kubectl) reads `y` as a boolean and `1_000` as
//! a number, YAML 1.2 as strings. Whatever any of them would not read as the string it is gets double quotes.
//! The bytes depend on nothing but the value: not on the order of its keys, not on the machine.

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Number, Value};
use serde_yaml::{DoubleQuoted, LitStr, SerializerOptions, ser_options, to_string_with_options};

/// The keys that open a Kubernetes object, in the order its readers expect; the others follow sorted.
const LEADING_KEYS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "data"];

/// Returns `value` as one YAML document in block style, without `---`, ending in a newline.
///
/// The top level begins with `apiVersion`, `kind`, `metadata`, `spec` and `data`; all other keys are sorted. Multi-line
/// text is a literal block where that is safe. No line ends in a space, so that no editor or hook rewrites a manifest.
///
/// Every string can be written: the only code points that YAML cannot carry are surrogates, which a `String` cannot hold.
/// One thing is left to the caller: kubectl ends the document at a line that begins with `---`, which a key of the top
/// level may do; no Kubernetes object has such a key.
pub fn write(value: &Value) -> String {
    to_string_with_options(&Document(value), options()).map_or_else(|_| as_json(value), trim_line_ends)
}

/// Returns `text` as a one-line scalar that is this string wherever it is put: as a value, a key or in a flow list.
///
/// For messages that tell what to write instead.
pub fn write_string_scalar(text: &str) -> String {
    let plain = to_string_with_options(&text, options()).is_ok_and(|line| line.strip_suffix('\n') == Some(text));
    if plain && is_plain_anywhere(text) {
        return text.to_owned();
    }
    let mut quoted = to_string_with_options(&DoubleQuoted(text), options()).unwrap_or_else(|_| as_json(&text.into()));
    quoted.truncate(quoted.trim_end_matches('\n').len());
    quoted
}

/// Indentation and empty collections are stated although they are the defaults: they are a promise to users' histories.
fn options() -> SerializerOptions {
    ser_options! {
        indent_step: 2,
        compact_list_indent: true,
        empty_as_braces: true,
        prefer_block_scalars: false,
    }
}

/// The whole document: its keys begin with [`LEADING_KEYS`].
struct Document<'a>(&'a Value);

/// Anything inside the document: its keys are sorted.
struct Nested<'a>(&'a Value);

/// Writes a string as a literal block or leaves the quoting to the serializer.
struct Text<'a>(&'a str);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => serialize_entries(map, leading_rank, serializer),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Nested(self.0).serialize(serializer)
            }
        }
    }
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) => serialize_number(number, serializer),
            Value::String(text) => Text(text).serialize(serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Nested)),
            Value::Object(map) => serialize_entries(map, |_| 0, serializer),
        }
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if is_literal_safe(self.0) { LitStr(self.0).serialize(serializer) } else { serializer.serialize_str(self.0) }
    }
}

/// Sorts by `rank`, then by key, whatever order the map has: a dependency may turn on `serde_json`'s `preserve_order`.
fn serialize_entries<S: Serializer>(
    map: &Map<String, Value>,
    rank: fn(&str) -> usize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| (rank(key), key.as_str()));
    let mut writer = serializer.serialize_map(Some(entries.len()))?;
    for (key, value) in entries {
        writer.serialize_entry(key, &Nested(value))?;
    }
    writer.end()
}

fn leading_rank(key: &str) -> usize {
    LEADING_KEYS.iter().position(|leading| *leading == key).unwrap_or(LEADING_KEYS.len())
}

/// Not `Number`'s own implementation: with `serde_json`'s `arbitrary_precision`, that one writes a mapping.
fn serialize_number<S: Serializer>(number: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    if let Some(integer) = number.as_i64() {
        serializer.serialize_i64(integer)
    } else if let Some(integer) = number.as_u64() {
        serializer.serialize_u64(integer)
    } else if let Some(fraction) = number.as_f64() {
        serializer.serialize_f64(fraction)
    } else {
        serializer.serialize_unit()
    }
}

/// Tells whether every reader and every editor leaves `text` as it is in a literal block.
///
/// A first line that starts with a space or is empty would need an indentation indicator; more than one newline at the
/// end would be trimmed by whoever tidies the end of a file.
fn is_literal_safe(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    text.contains('\n')
        && !body.is_empty()
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && body.split('\n').all(|line| !line.ends_with(' ') && line.chars().all(is_visible))
}

/// Tells whether a character is one that people see, and see as it is: no control, no format character, no other blank
/// than the space.
fn is_visible(character: char) -> bool {
    match character {
        ' '..='~' => true,
        '\u{A1}'.. => {
            !character.is_whitespace()
                && !matches!(character,
                    '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
                    | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{FFFE}'..='\u{FFFF}'
                    | '\u{E0000}'..='\u{E0FFF}')
        }
        _ => false,
    }
}

/// Tells whether `text`, if plain as a block value, is plain as a key and in a flow list as well.
fn is_plain_anywhere(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric() || matches!(first, '/' | '_' | '.' | '-'))
        && text.chars().all(|character| character.is_ascii_alphanumeric() || " /_.-+=@$()".contains(character))
}

/// Removes the indentation that the serializer gives to the empty lines of a literal block. No string that is written
/// over several lines has a line that ends in a space, so nothing else changes.
fn trim_line_ends(written: String) -> String {
    if !written.contains(" \n") {
        return written;
    }
    let mut trimmed = String::with_capacity(written.len());
    for line in written.lines() {
        trimmed.push_str(line.trim_end_matches(' '));
        trimmed.push('\n');
    }
    trimmed
}

/// JSON is YAML, and its strings are quoted: what is left should the serializer ever refuse a value.
fn as_json(value: &Value) -> String {
    format!("{value}\n")
}
