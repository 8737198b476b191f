//! The schema at a place of a document, for who writes one.

use serde_json::{Map, Value};

use super::explain::{one_line, resolve, type_of};
use super::known;
use kubebench_syntax::yaml::Step;

/// A field that a mapping may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    /// What it takes, in a word: `list of string`.
    pub type_name: String,
    pub description: String,
    pub is_required: bool,
    /// Whether its value is a scalar, which is written on its line.
    pub is_scalar: bool,
}

/// A value that a field may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    pub description: String,
}

/// Returns the fields of the mapping at `way` in a document with the schema `root`.
pub fn fields(root: &Value, way: &[Step]) -> Vec<Field> {
    let mut found: Vec<Field> = Vec::new();
    for schema in at(root, way) {
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let values = || schema.get("additionalProperties").map(|values| resolve(root, values)).unwrap_or_default();
        for Choice { value: name, description } in words(&schema, "/propertyNames/format") {
            let values = values();
            let is_scalar = is_scalar(root, &values);
            let type_name = type_of(root, &values);
            found.push(Field { name, type_name, description, is_required: false, is_scalar });
        }
        for (name, property) in properties(&schema).into_iter().flatten() {
            if found.iter().any(|field| field.name == *name) {
                continue;
            }
            let property = resolve(root, property);
            found.push(Field {
                name: name.clone(),
                type_name: type_of(root, &property),
                description: text(&property, "description"),
                is_required: required.contains(&name.as_str()),
                is_scalar: is_scalar(root, &property),
            });
        }
    }
    found
}

/// Returns the allowed values of the field at `way`, and the usual ones of a form; none if any others are allowed.
pub fn choices(root: &Value, way: &[Step]) -> Vec<Choice> {
    let mut found: Vec<Choice> = Vec::new();
    for schema in at(root, way) {
        for choice in words(&schema, "/format") {
            if !found.contains(&choice) {
                found.push(choice);
            }
        }
        let words = schema.get("enumDescriptions").and_then(Value::as_array);
        let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten().enumerate();
        let listed = listed.filter_map(|(index, value)| {
            let description = words.and_then(|words| words.get(index)?.as_str()).unwrap_or_default();
            Some(Choice { value: scalar(value)?, description: description.to_owned() })
        });
        let is_flag = all_types(root, &schema).iter().any(|name| name == "boolean");
        let flags = ["true", "false"].into_iter().filter(|_| is_flag);
        let flags = flags.map(|value| Choice { value: value.to_owned(), description: String::new() });
        // A form that has a name, such as that of percentiles.
        let title = schema.get("title").and_then(Value::as_str).unwrap_or_default();
        let examples = schema.get("examples").and_then(Value::as_array).filter(|_| !title.is_empty());
        let formed = examples.into_iter().flatten().filter_map(scalar);
        let formed = formed.map(|value| Choice { value, description: title.to_owned() });
        for choice in listed.chain(flags).chain(formed) {
            if !found.iter().any(|known| known.value == choice.value) {
                found.push(choice);
            }
        }
    }
    found
}

/// Returns the known words of the format at `pointer`.
fn words(schema: &Value, pointer: &str) -> Vec<Choice> {
    schema.pointer(pointer).and_then(Value::as_str).map(known::of).unwrap_or_default()
}

fn is_scalar(root: &Value, schema: &Value) -> bool {
    !all_types(root, schema).iter().any(|name| matches!(name.as_str(), "object" | "array"))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the schemas that a value at `way` may have: several where there is a choice.
pub(super) fn at(root: &Value, way: &[Step]) -> Vec<Value> {
    let mut schemas = choices_of(root, resolve(root, root));
    for step in way {
        let below = schemas.iter().filter_map(|schema| match step {
            Step::Key(key) => properties(schema)
                .and_then(|properties| properties.get(key))
                .or_else(|| schema.get("additionalProperties").filter(|values| values.is_object())),
            Step::Index(_) => schema.get("items"),
        });
        schemas = below.flat_map(|schema| choices_of(root, resolve(root, schema))).collect();
    }
    schemas
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// Returns a schema, and those that it lets a value choose from.
fn choices_of(root: &Value, schema: Value) -> Vec<Value> {
    let mut all = Vec::new();
    for key in ["anyOf", "oneOf"] {
        let choices = schema.get(key).and_then(Value::as_array).into_iter().flatten();
        all.extend(choices.flat_map(|choice| choices_of(root, resolve(root, choice))));
    }
    let branches = ["then", "else"].into_iter().filter_map(|key| schema.get(key));
    all.extend(branches.flat_map(|branch| choices_of(root, resolve(root, branch))));
    all.insert(0, schema);
    all
}

fn all_types(root: &Value, schema: &Value) -> Vec<String> {
    let of = |schema: &Value| match schema.get("type") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    choices_of(root, schema.clone()).iter().flat_map(of).collect()
}

fn text(schema: &Value, key: &str) -> String {
    schema.get(key).and_then(Value::as_str).map(one_line).unwrap_or_default()
}
