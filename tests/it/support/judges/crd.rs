//! Custom kinds, judged by the schema of their CRD made strict: what a server would prune is refused.

use std::collections::BTreeSet;

use jsonschema::paths::Location;
use jsonschema::{Draft, Keyword, ValidationError, Validator};
use serde_json::{Map, Value, json};

/// The strict JSON schema of one version of a CRD, `None` when the CRD has no such version.
pub(super) fn strict_of_version(crd: &Value, version: &str) -> Option<Value> {
    let versions = crd.pointer("/spec/versions")?.as_array()?;
    let schema = versions.iter().find(|served| served["name"] == version)?.pointer("/schema/openAPIV3Schema")?;
    let mut strict = strict(schema, Unknown::Refused);
    // Its own schema says only that metadata is an object; the server adds the rest.
    strict["properties"]["metadata"] = json!({"type": "object"});
    Some(strict)
}

/// Reads YAML of a size that no spec may have.
pub(super) fn read_yaml(text: &str) -> Value {
    serde_yaml::from_str_with_options(text, serde_yaml::options! { budget: None }).expect("a CRD is YAML")
}

#[derive(Clone, Copy)]
enum Unknown {
    Refused,
    Kept,
}

/// A structural schema as plain JSON schema, closed wherever the server would drop what it does not know.
fn strict(schema: &Value, unknown: Unknown) -> Value {
    let Some(given) = schema.as_object() else {
        return schema.clone();
    };
    let mut made = Map::new();
    for (key, value) in given {
        let value = match key.as_str() {
            "description" | "title" | "example" | "externalDocs" | "nullable" => continue,
            "properties" => each(value, |child| strict(child, Unknown::Refused)),
            "items" | "additionalProperties" => strict(value, Unknown::Refused),
            // These only narrow what the schema around them says, which lists the properties.
            "allOf" | "anyOf" | "oneOf" => {
                value.as_array().into_iter().flatten().map(|child| strict(child, Unknown::Kept)).collect()
            }
            "not" => strict(value, Unknown::Kept),
            "required" => without_defaulted(value, given),
            _ => value.clone(),
        };
        // A list of none is no draft-04 schema.
        if key != "required" || value.as_array().is_some_and(|names| !names.is_empty()) {
            made.insert(key.clone(), value);
        }
    }
    let flag = |name: &str| given.get(name) == Some(&Value::Bool(true));
    let is = |key: &str, text: &str| given.get(key).is_some_and(|value| value == text);
    if flag("x-kubernetes-int-or-string") {
        made.insert("type".to_owned(), json!(["integer", "string"]));
    }
    if flag("nullable")
        && let Some(named) = given.get("type")
    {
        made.insert("type".to_owned(), json!([named, "null"]));
    }
    if is("x-kubernetes-list-type", "set") {
        made.insert("uniqueItems".to_owned(), json!(true));
    }
    if is("format", "int32") {
        made.entry("minimum").or_insert(json!(i32::MIN));
        made.entry("maximum").or_insert(json!(i32::MAX));
    }
    let open = flag("x-kubernetes-preserve-unknown-fields")
        || flag("x-kubernetes-embedded-resource")
        || given.contains_key("additionalProperties");
    if matches!(unknown, Unknown::Refused) && is("type", "object") && !open {
        made.insert("additionalProperties".to_owned(), json!(false));
    }
    Value::Object(made)
}

fn each(children: &Value, change: impl Fn(&Value) -> Value) -> Value {
    children.as_object().into_iter().flatten().map(|(name, child)| (name.clone(), change(child))).collect()
}

/// The server fills defaults in before it asks for what is required.
fn without_defaulted(required: &Value, schema: &Map<String, Value>) -> Value {
    let defaulted = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        schema.get("properties").and_then(|all| all.get(name)?.get("default")).is_some()
    };
    required.as_array().into_iter().flatten().filter(|name| !defaulted(name)).cloned().collect()
}

pub(super) fn compiled(schema: &Value) -> Validator {
    jsonschema::options()
        .with_draft(Draft::Draft7)
        .should_validate_formats(true)
        .with_keyword("x-kubernetes-list-map-keys", keyed_list)
        .build(schema)
        .expect("a strict CRD schema is a JSON schema")
}

/// A list that the server treats as a map: no two items with equal keys.
struct KeyedList {
    keys: Vec<(String, Value)>,
}

#[expect(clippy::unnecessary_wraps, reason = "the signature that jsonschema asks of a keyword's maker")]
fn keyed_list<'a>(
    list: &'a Map<String, Value>,
    keys: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let default = |key: &str| list.get("items").and_then(|item| item.pointer(&format!("/properties/{key}/default")));
    let names = keys.as_array().into_iter().flatten().filter_map(Value::as_str);
    let keys = names.map(|key| (key.to_owned(), default(key).cloned().unwrap_or_default())).collect();
    Ok(Box::new(KeyedList { keys }))
}

impl KeyedList {
    fn doubled(&self, list: &Value) -> Option<String> {
        let mut seen = BTreeSet::new();
        let keys_of = |item: &Value| -> Vec<String> {
            self.keys.iter().map(|(key, default)| item.get(key).unwrap_or(default).to_string()).collect()
        };
        let keys = list.as_array().into_iter().flatten().map(keys_of);
        keys.map(|keys| keys.join(", ")).find(|keys| !seen.insert(keys.clone()))
    }
}

impl<'i> Keyword<'i> for KeyedList {
    fn validate(&self, list: &'i Value) -> Result<(), ValidationError<'i>> {
        match self.doubled(list) {
            None => Ok(()),
            Some(keys) => Err(ValidationError::custom(format!("two items with the key {keys}"))),
        }
    }

    fn is_valid(&self, list: &'i Value) -> bool {
        self.doubled(list).is_none()
    }
}
