//! Schemas of documents that are parts of others: of a fragment, and of a benchmark that extends one.

use std::collections::BTreeSet;

use kubebench_syntax::invariant::Invariant as _;
use serde_json::{Map, Value, json};

/// What comes before the name of a definition whose fields are all optional.
const PART_OF: &str = "PartOf";
const REFERENCE: &str = "#/definitions/";

/// Makes every field optional, everywhere below `spec`.
pub(super) fn of_spec(root: &mut Value) {
    let definitions = root.get_mut("definitions").and_then(Value::as_object_mut).expected("definitions of a document");
    definitions.iter_mut().filter(|(name, _)| *name != "FragmentMetadata").for_each(|(_, schema)| relax(schema));
}

fn relax(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(relax),
        Value::Object(object) => {
            // A property may have one of these names too; then the value is a schema.
            object.retain(|key, value| match key.as_str() {
                "required" => !value.is_array(),
                "minProperties" => !value.is_number(),
                "anyOf" => !is_choice_of_required(value),
                _ => true,
            });
            object.values_mut().for_each(relax);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_choice_of_required(value: &Value) -> bool {
    let is_required = |choice: &Value| choice.as_object().is_some_and(|it| it.keys().all(|key| key == "required"));
    value.as_array().is_some_and(|choices| choices.iter().all(is_required))
}

/// Lets every field below `spec` be `null`, which removes what a fragment says.
pub fn with_null(mut root: Value) -> Value {
    let definitions = root.get_mut("definitions").and_then(Value::as_object_mut).expected("definitions of a document");
    definitions.iter_mut().filter(|(name, _)| *name != "FragmentMetadata").for_each(|(_, schema)| add_null(schema));
    root
}

fn add_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(add_null),
        Value::Object(object) => {
            object.values_mut().for_each(add_null);
            if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
                properties.values_mut().for_each(or_null);
            }
            if let Some(values) = object.get_mut("additionalProperties") {
                or_null(values);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn or_null(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    let outside = ["description", "default", "examples"];
    let mut outer: Map<String, Value> =
        outside.iter().filter_map(|key| Some(((*key).to_owned(), object.remove(*key)?))).collect();
    outer.insert("anyOf".to_owned(), json!([schema.take(), {"type": "null"}]));
    *schema = Value::Object(outer);
}

/// Lets a benchmark that extends fragments leave out what these say: its `spec` is a part, as in the schema `fragment`.
pub fn of_benchmark(mut benchmark: Value, fragment: &Value) -> Value {
    let whole = benchmark.get("definitions").and_then(Value::as_object).expected("definitions of a document").clone();
    let parts = fragment.get("definitions").and_then(Value::as_object).expected("definitions of a document");
    let different = different(&whole, parts);
    let mut added = Map::new();
    for (name, schema) in parts.iter().filter(|(name, _)| different.contains(name.as_str())) {
        let mut schema = schema.clone();
        refer(&mut schema, &different);
        added.insert(format!("{PART_OF}{name}"), schema);
    }
    if let Some(definitions) = benchmark.get_mut("definitions").and_then(Value::as_object_mut) {
        definitions.extend(added);
    }
    if let Some(spec) = benchmark.pointer_mut("/properties/spec").and_then(Value::as_object_mut) {
        spec.remove("$ref");
        spec.remove("allOf");
        spec.insert("if".to_owned(), json!({"required": ["extends"]}));
        spec.insert("then".to_owned(), json!({"$ref": format!("{REFERENCE}{PART_OF}BenchmarkSpec")}));
        spec.insert("else".to_owned(), json!({"$ref": format!("{REFERENCE}BenchmarkSpec")}));
    }
    benchmark
}

/// Returns the definitions that are another one in a part, by themselves or in what they refer to.
fn different<'s>(whole: &Map<String, Value>, parts: &'s Map<String, Value>) -> BTreeSet<&'s str> {
    let mut different: BTreeSet<&str> = parts
        .iter()
        .filter(|(name, schema)| whole.contains_key(*name) && whole.get(*name) != Some(schema))
        .map(|(name, _)| name.as_str())
        .collect();
    loop {
        let more: Vec<&str> = parts
            .iter()
            .filter(|(name, schema)| {
                !different.contains(name.as_str()) && whole.contains_key(*name) && refers(schema, &different)
            })
            .map(|(name, _)| name.as_str())
            .collect();
        if more.is_empty() {
            return different;
        }
        different.extend(more);
    }
}

fn refers(schema: &Value, names: &BTreeSet<&str>) -> bool {
    match schema {
        Value::String(text) => text.strip_prefix(REFERENCE).is_some_and(|name| names.contains(name)),
        Value::Array(items) => items.iter().any(|item| refers(item, names)),
        Value::Object(object) => object.values().any(|value| refers(value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn refer(schema: &mut Value, names: &BTreeSet<&str>) {
    match schema {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix(REFERENCE).filter(|name| names.contains(name)) {
                *text = format!("{REFERENCE}{PART_OF}{name}");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, names)),
        Value::Object(object) => object.values_mut().for_each(|value| refer(value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
