//! Writes Kubernetes objects as YAML that every reader takes for the same object.
//!
//! Readers disagree on what an unquoted scalar means: YAML 1.1 (`PyYAML`, kubectl) reads `y` as a boolean and `1_000` as
//! a number, YAML 1.2 as strings. Every text that one of them would read as something else gets double quotes.
//! The bytes depend on the value alone: not on the order of its keys, not on the machine.
//!
//! Layout is written here; quoting is serde-saphyr's, which is called for every scalar that is not obviously [`plain`].

use crate::invariant::Invariant as _;

#[cfg(test)]
mod corpus;
mod literal;
mod node;
mod plain;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Number, Value};
use serde_yaml::{DoubleQuoted, SerializerOptions, ser_options, to_string_with_options};

use super::scalar::{Plain, classify};
use literal::{Block, is_visible, was_literal};
pub use literal::{differs_from_epoch_1, obstacle};
pub use node::write_node;

/// The keys that open a Kubernetes object, in the order its readers expect; the others follow sorted.
const LEADING_KEYS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "data"];
const INDENT: usize = 2;
/// Below the 1024 characters after which a YAML reader stops looking for the colon.
const LONG_KEY: usize = 1000;

/// Returns `value` as one YAML document in block style, without `---`, ending in a newline.
///
/// The top level begins with `apiVersion`, `kind`, `metadata`, `spec` and `data`; all other keys are sorted. Text of
/// several lines is a literal block, unless it holds an [`obstacle`]. Only lines of such blocks end in blanks, and none
/// begins with `---`, where kubectl would end the document.
///
/// Every string can be written: the only code points that YAML cannot carry are surrogates, which a `String` cannot hold.
pub fn write(value: &Value) -> String {
    write_with(value, Block::of)
}

/// Returns `value` as epoch 1 wrote it, for a text that is part of what the run digest covers: another form of it would
/// be another run.
pub fn write_as_in_epoch_1(value: &Value) -> String {
    write_with(value, |text| Block::of(text).filter(|_| was_literal(text)))
}

/// Decides which texts are literal blocks.
type Blocks = fn(&str) -> Option<Block>;

fn write_with(value: &Value, blocks: Blocks) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => write_map(map, leading_rank, 0, blocks, &mut text),
        Value::Array(items) if !items.is_empty() => write_list(items, 0, blocks, &mut text),
        // Readers disagree on what an indentation at the top counts from.
        leaf => write_leaf(leaf, 0, |text| Block::of(text).filter(|block| block.is_measured), &mut text),
    }
    text
}

/// Returns `text` as a one-line scalar that is this string in any position: as a value, a key or in a flow list.
///
/// For messages that tell what to write instead.
pub fn write_string_scalar(text: &str) -> String {
    let plain = to_string_with_options(&text, options()).is_ok_and(|line| line.strip_suffix('\n') == Some(text));
    if plain && plain::is_anywhere(text) { text.to_owned() } else { quoted(text) }
}

/// Writes the entries of `map`; the first one begins where `text` ends, the others at `column`.
fn write_map(map: &Map<String, Value>, rank: fn(&str) -> usize, column: usize, blocks: Blocks, text: &mut String) {
    // Sorted here, whatever the order of the map: a dependency may enable `serde_json`'s `preserve_order`.
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(key, _)| (rank(key), key.as_str()));
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            indent(column, text);
        }
        write_key(key, column, text);
        match value {
            Value::Object(map) if !map.is_empty() => {
                text.push('\n');
                indent(column + INDENT, text);
                write_map(map, |_| 0, column + INDENT, blocks, text);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                indent(column, text);
                write_list(items, column, blocks, text);
            }
            leaf => {
                text.push(' ');
                write_leaf(leaf, column, blocks, text);
            }
        }
    }
}

/// Writes `items`; the first one begins where `text` ends, the others at `column`.
fn write_list(items: &[Value], column: usize, blocks: Blocks, text: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            indent(column, text);
        }
        text.push_str("- ");
        match item {
            Value::Object(map) if !map.is_empty() => write_map(map, |_| 0, column + INDENT, blocks, text),
            Value::Array(items) if !items.is_empty() => write_list(items, column + INDENT, blocks, text),
            leaf => write_leaf(leaf, column, blocks, text),
        }
    }
}

/// Writes what has nothing inside, and ends its line; `column` is that of the key or list item that it belongs to.
fn write_leaf(leaf: &Value, column: usize, blocks: Blocks, text: &mut String) {
    match leaf {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => write_number(number, text),
        Value::String(string) if plain::is_surely_plain(string) => text.push_str(string),
        Value::String(string) => match blocks(string) {
            Some(block) => return block.write(string, column + INDENT, text),
            None => write_string(string, text),
        },
        Value::Array(_) => text.push_str("[]"),
        Value::Object(_) => text.push_str("{}"),
    }
    text.push('\n');
}

fn indent(column: usize, text: &mut String) {
    const SPACES: &str = "                                ";
    let mut left = column;
    while let Some(more) = left.checked_sub(SPACES.len()) {
        text.push_str(SPACES);
        left = more;
    }
    text.push_str(SPACES.get(..left).expected("fewer spaces than that"));
}

fn leading_rank(key: &str) -> usize {
    LEADING_KEYS.iter().position(|leading| *leading == key).unwrap_or(LEADING_KEYS.len())
}

fn write_number(number: &Number, text: &mut String) {
    let integer = number
        .as_i64()
        .map(|integer| integer.to_string())
        .or_else(|| number.as_u64().map(|integer| integer.to_string()));
    match (integer, number.as_f64()) {
        (Some(integer), _) => text.push_str(&integer),
        (None, Some(fraction)) => {
            text.push_str(&decimal(fraction).or_else(|| as_value(fraction)).unwrap_or_else(|| number.to_string()));
        }
        (None, None) => text.push_str("null"),
    }
}

/// Returns `fraction` without an exponent, as in a spec, unless that is too long.
fn decimal(fraction: f64) -> Option<String> {
    let mut digits = fraction.to_string();
    if !digits.contains('.') {
        digits.push_str(".0");
    }
    matches!(classify(&digits), Plain::Number).then_some(digits)
}

fn write_string(string: &str, text: &mut String) {
    if plain::is_integer(string) {
        text.extend(["\"", string, "\""]);
    } else {
        text.push_str(&unmistakable(as_value(string), string));
    }
}

/// Writes `key` up to its colon. A long key needs a line of its own, and then the colon is at `column`.
fn write_key(key: &str, column: usize, text: &mut String) {
    if plain::is_surely_plain_key(key) {
        text.push_str(key);
    } else {
        let scalar = unmistakable(as_key(key), key);
        if scalar.len() > LONG_KEY {
            text.extend(["? ", &scalar, "\n"]);
            indent(column, text);
        } else {
            text.push_str(&scalar);
        }
    }
    text.push(':');
}

/// Returns `scalar`, the serializer's form of `string`, without what a reader of the file could miss: invisible characters
/// are escaped, and nothing unquoted looks like the end of a document.
fn unmistakable(scalar: Option<String>, string: &str) -> String {
    let is_text = || !matches!(classify(string), Plain::Ambiguous(_));
    let safe = |scalar: &String| {
        scalar.starts_with(['"', '\'']) || (!string.starts_with("---") && string.chars().all(is_visible) && is_text())
    };
    let scalar = scalar.filter(safe).unwrap_or_else(|| quoted(string));
    if scalar.chars().all(is_visible) {
        return scalar;
    }
    let mut escaped = String::with_capacity(scalar.len() + 8);
    for character in scalar.chars() {
        match u32::from(character) {
            _ if is_visible(character) => escaped.push(character),
            code @ ..=0xFFFF => escaped.push_str(&format!("\\u{code:04X}")),
            code => escaped.push_str(&format!("\\U{code:08X}")),
        }
    }
    escaped
}

/// Returns how the serializer writes `scalar` as the value of a key.
fn as_value(scalar: impl Serialize) -> Option<String> {
    let written = to_string_with_options(&BTreeMap::from([("k", scalar)]), options()).ok()?;
    Some(written.strip_prefix("k: ")?.strip_suffix('\n')?.to_owned())
}

/// Returns how the serializer writes `key`.
fn as_key(key: &str) -> Option<String> {
    let written = to_string_with_options(&BTreeMap::from([(key, 0)]), options()).ok()?;
    let long = || Some(written.strip_prefix("? ")?.strip_suffix("\n: 0\n")?.to_owned());
    written.strip_suffix(": 0\n").filter(|key| !key.ends_with('\n')).map(str::to_owned).or_else(long)
}

/// Returns `string` in double quotes.
fn quoted(string: &str) -> String {
    let written = to_string_with_options(&DoubleQuoted(string), options());
    // JSON is YAML: what is left should the serializer ever refuse a string.
    let mut quoted = written.unwrap_or_else(|_| Value::from(string).to_string());
    quoted.truncate(quoted.trim_end_matches('\n').len());
    quoted
}

fn options() -> SerializerOptions {
    ser_options! { prefer_block_scalars: false }
}
