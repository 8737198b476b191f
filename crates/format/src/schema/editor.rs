//! The schema as editors read it: with what our own formats and expressions mean in words of JSON Schema.
//!
//! Specs are validated by the plain schema, which has better messages. What that accepts, this accepts too.

use serde_json::{Map, Value, json};

use super::shape::has_type;
use super::{DocumentKind, conditions, format, grammar};
use crate::spec::v1::scalar::LOOKUP_PATTERN;

/// The definition of texts that may have expressions in them.
const TEXT: &str = "TextWithExpressions";
/// That of texts that may have none.
const PLAIN_TEXT: &str = "TextWithoutExpressions";
/// A name between `${{` and `}}`.
const STEP: &str = "[A-Za-z_][A-Za-z0-9_/-]*";
/// A letter that begins no expression, or `$${{` for a literal `${{`.
const LETTER: &str = r"[^$]|\$\$\{\{|\$(?!\{\{)";
/// The fields of `spec` that are read before there are values, and that of the list of variants.
const PLAIN: [&str; 6] = [
    "/properties/kind",
    "/definitions/Metadata",
    "/definitions/BenchmarkSpec/properties/targets",
    "/definitions/BenchmarkSpec/properties/parameters",
    "/definitions/Matrix",
    "/definitions/Variant/properties/name",
];

/// Whether the texts of a part of a document may have expressions in them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expressions {
    Allowed,
    Refused,
}

/// Returns the schema of `kind` for editors.
pub fn for_editors(kind: DocumentKind, mut schema: Value) -> Value {
    let expressions = if matches!(kind, DocumentKind::Benchmark | DocumentKind::Fragment) {
        Expressions::Allowed
    } else {
        Expressions::Refused
    };
    extend(&mut schema, "", expressions);
    if let Some(definitions) = schema.get_mut("definitions").and_then(Value::as_object_mut) {
        let text = json!({
            "pattern": format!("^{}*$", piece()),
            "patternErrorMessage": "An expression names one value: `${{ matrix.NAME }}`, `${{ parameters.NAME }}`, `${{ target.name }}`, `${{ target.values.NAME }}` or `${{ benchmark.name }}`. Write `$${{` for a literal `${{`.",
        });
        definitions.insert(TEXT.to_owned(), text);
        let plain = json!({
            "pattern": format!("^(?:{LETTER})*$"),
            "patternErrorMessage": "There are no values for expressions here: write the value itself, or `$${{` for a literal `${{`.",
        });
        definitions.insert(PLAIN_TEXT.to_owned(), plain);
    }
    for (pointer, pattern, message) in conditions::names() {
        let expressions = if is_plain(pointer) { Expressions::Refused } else { expressions };
        let field = schema.pointer_mut(pointer).and_then(Value::as_object_mut);
        if let Some(field) = field {
            field.insert("pattern".to_owned(), within(pattern, expressions).into());
            field.insert("patternErrorMessage".to_owned(), message.into());
            // The pattern is sufficient.
            field.remove("allOf");
        }
    }
    // A field that is missing in a part may be in another one.
    let conditions = if kind == DocumentKind::Fragment { Vec::new() } else { conditions::conditions() };
    for (pointer, condition) in conditions {
        if let Some(field) = schema.pointer_mut(pointer) {
            merge(field, condition);
        }
    }
    schema
}

/// Adds the fields of `more` to a schema, those of mappings one by one; what both have, `more` says.
pub fn merge(schema: &mut Value, more: Value) {
    match (schema, more) {
        (Value::Object(fields), Value::Object(more)) => {
            for (key, value) in more {
                merge(fields.entry(key).or_insert(Value::Null), value);
            }
        }
        (schema, more) => *schema = more,
    }
}

/// Adds to the schema at `pointer` and to all below it.
fn extend(schema: &mut Value, pointer: &str, above: Expressions) {
    let here = if is_plain(pointer) { Expressions::Refused } else { above };
    match schema {
        Value::Array(parts) => {
            for (index, part) in parts.iter_mut().enumerate() {
                extend(part, &format!("{pointer}/{index}"), here);
            }
        }
        Value::Object(fields) => {
            if !pointer.ends_with("/properties") && !pointer.ends_with("/definitions") {
                describe(fields, here);
            }
            for (key, part) in fields.iter_mut().filter(|(key, _)| !is_data(key, pointer)) {
                let at = format!("{pointer}/{key}");
                let inside = if key == "propertyNames" { Expressions::Refused } else { here };
                extend(part, &at, inside);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_plain(pointer: &str) -> bool {
    let mut rest = PLAIN.iter().filter_map(|plain| pointer.strip_prefix(*plain));
    rest.any(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Distinguishes the keywords of a schema from values in it.
fn is_data(key: &str, pointer: &str) -> bool {
    !pointer.ends_with("/properties")
        && matches!(key, "examples" | "default" | "enum" | "enumDescriptions" | "required")
}

fn describe(fields: &mut Map<String, Value>, expressions: Expressions) {
    let name = fields.get("format").and_then(Value::as_str).map(str::to_owned);
    let pattern = fields.get("pattern").and_then(Value::as_str);
    if let Some(grammar) = name.as_deref().and_then(grammar::of) {
        let message = message_of(name.as_deref().unwrap_or_default(), fields);
        fields.insert("pattern".to_owned(), within(&grammar, expressions).into());
        fields.insert("patternErrorMessage".to_owned(), message.into());
    } else if pattern == Some(LOOKUP_PATTERN) {
        alone(fields, expressions);
    } else if pattern.is_none() && takes_text(fields) {
        let parts = fields.entry("allOf").or_insert_with(|| json!([]));
        if let Some(parts) = parts.as_array_mut() {
            let text = if expressions == Expressions::Allowed { TEXT } else { PLAIN_TEXT };
            parts.push(json!({"$ref": format!("#/definitions/{text}")}));
        }
    }
}

/// Whether any text is valid.
fn takes_text(fields: &Map<String, Value>) -> bool {
    has_type(&Value::Object(fields.clone()), "string") && !fields.contains_key("enum")
}

/// A value that is not a text, or one expression that names such a value.
fn alone(fields: &mut Map<String, Value>, expressions: Expressions) {
    let kinds: Vec<Value> = fields
        .get("type")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|kind| *kind != "string")
        .cloned()
        .collect();
    let words: Vec<&str> = kinds.iter().filter_map(Value::as_str).map(noun).collect();
    match expressions {
        Expressions::Allowed => {
            fields.insert("pattern".to_owned(), format!("^{}$", expression()).into());
            let message =
                format!("Expected {}, or one expression such as `${{{{ matrix.NAME }}}}`.", words.join(" or "));
            fields.insert("patternErrorMessage".to_owned(), message.into());
        }
        Expressions::Refused => {
            fields.remove("pattern");
            let kinds = if let [one] = kinds.as_slice() { one.clone() } else { Value::Array(kinds) };
            fields.insert("type".to_owned(), kinds);
        }
    }
}

fn noun(kind: &str) -> &'static str {
    match kind {
        "integer" => "a whole number",
        "boolean" => "`true` or `false`",
        _ => "a number",
    }
}

fn message_of(name: &str, fields: &Map<String, Value>) -> String {
    let noun = format::find(name).map_or("a value", |format| format.noun);
    let examples = fields.get("examples").and_then(Value::as_array).into_iter().flatten();
    let examples: Vec<String> = examples
        .map(|example| example.as_str().map_or_else(|| example.to_string(), str::to_owned))
        .map(|example| format!("`{example}`"))
        .collect();
    if examples.is_empty() {
        format!("Expected {noun}.")
    } else {
        format!("Expected {noun}, such as {}.", examples.join(" or "))
    }
}

/// Returns the pattern of texts that have the form of `grammar`, or expressions in them, whose values are known later.
fn within(grammar: &str, expressions: Expressions) -> String {
    match expressions {
        Expressions::Allowed => {
            let grammar = grammar.strip_prefix('^').unwrap_or(grammar);
            format!(r"^(?![^\x00]*\$\{{\{{){grammar}|^(?=[^\x00]*\$\{{\{{){}*$", piece())
        }
        Expressions::Refused => grammar.to_owned(),
    }
}

/// A part of a text: an expression or a letter.
fn piece() -> String {
    format!("(?:{LETTER}|{})", expression())
}

fn expression() -> String {
    format!(
        r"\$\{{\{{\s*(?:(?:matrix|parameters|target\.values|project\.parameters)\.{STEP}|target\.(?:name|namespace|cluster)|benchmark\.(?:name|labels\.{STEP}(?:\.{STEP})*)|variant\.name)\s*\}}\}}"
    )
}

#[cfg(test)]
mod tests;
