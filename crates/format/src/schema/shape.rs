//! What to write if a value has another shape than its field requires: a scalar for a mapping, a mapping for a list.

use serde_json::Value as Json;

use super::explain::resolve;
use super::format;
use super::violation::Violation;
use kubebench_syntax::yaml::{Node, Value};

/// The longest text that is worth repeating in an answer.
const MAX_REPEATED: usize = 80;

/// Returns the value of a field in the required shape, if that follows from the schema.
pub(super) fn written(violation: &Violation<'_>) -> Option<String> {
    let root = &violation.subject.ready.schema;
    violation.field()?;
    shaped(violation, root, violation.schema, violation.node)
}

fn shaped(violation: &Violation<'_>, root: &Json, schema: &Json, node: &Node) -> Option<String> {
    let is_scalar = node.as_text().is_some();
    if has_type(schema, "array") && !has_type(schema, "object") {
        let items = resolve(root, schema.get("items")?);
        return match &node.value {
            Value::Map(_) if has_type(&items, "object") => Some(format!("[{}]", text(violation, node)?)),
            _ if is_scalar && has_type(&items, "object") => {
                let one = shaped(violation, root, &items, node).or_else(|| as_example(violation, schema, node));
                Some(format!("[{}]", one?))
            }
            _ => None,
        };
    }
    if has_type(schema, "object") && is_scalar {
        return mapping(violation, root, schema, node);
    }
    match &node.value {
        // A mapping of Kubernetes with one field, where only the value is wanted.
        Value::Map(entries) => match entries.as_slice() {
            [only] if only.value.as_text().is_some() && takes_scalar(schema) => {
                text(violation, &only.value).map(str::to_owned)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns a mapping with the one key that the elements of the example have.
fn as_example(violation: &Violation<'_>, schema: &Json, node: &Node) -> Option<String> {
    let example = schema.pointer("/examples/0/0")?.as_object()?;
    let only = example.keys().next().filter(|_| example.len() == 1)?;
    Some(format!("{{{only}: {}}}", text(violation, node)?))
}

/// Returns a mapping whose first required field has the value.
fn mapping(violation: &Violation<'_>, root: &Json, schema: &Json, node: &Node) -> Option<String> {
    let required: Vec<&str> =
        schema.get("required").and_then(Json::as_array)?.iter().filter_map(Json::as_str).collect();
    let value = node.as_text()?;
    let takes = |field: &&&str| {
        let property = schema.get("properties").and_then(|properties| properties.get(**field));
        let property = resolve(root, property.unwrap_or(&Json::Null));
        let check = property.get("format").and_then(Json::as_str).and_then(format::find);
        takes_scalar(&property) && check.is_none_or(|format| (format.check)(value).is_ok())
    };
    let taken = *required.iter().find(takes)?;
    let written = text(violation, node)?;
    let fields = required
        .iter()
        .map(|field| if *field == taken { format!("{field}: {written}") } else { format!("{field}: …") });
    Some(format!("{{{}}}", fields.collect::<Vec<_>>().join(", ")))
}

/// Returns whether `schema` accepts values of the type called `name`.
pub(super) fn has_type(schema: &Json, name: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(only)) => only == name,
        Some(Json::Array(types)) => types.iter().any(|one| one == name),
        _ => false,
    }
}

fn takes_scalar(schema: &Json) -> bool {
    ["string", "number", "integer", "boolean"].iter().any(|name| has_type(schema, name))
}

/// Returns the text of a value as it is in the file, where it is short and on one line.
fn text<'a>(violation: &Violation<'a>, node: &Node) -> Option<&'a str> {
    let text = violation.subject.sources.slice(node.span);
    (text.len() <= MAX_REPEATED && !text.contains('\n')).then_some(text)
}
