//! Schemas of documents that are parts of others: of a fragment, and of a benchmark that extends one.

use std::collections::BTreeSet;

use kubebench_syntax::invariant::Invariant as _;
use serde_json::{Map, Value, json};

/// The prefix of the name of a definition that says what a whole has and a part need not have.
const WHOLE: &str = "Whole";
const NOT_NULL: &str = "NotNull";
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

/// Lets every value below `spec` be `null`, which removes what a fragment says.
pub fn with_null(mut root: Value) -> Value {
    let definitions = root.get_mut("definitions").and_then(Value::as_object_mut).expected("definitions of a document");
    definitions.iter_mut().filter(|(name, _)| *name != "FragmentMetadata").for_each(|(_, schema)| or_null(schema));
    root
}

/// Adds `null` to the types and words of a schema, and of the values of mappings below it.
fn or_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if let Some(types) = object.get_mut("type") {
        let mut all = types.as_array().cloned().unwrap_or_else(|| vec![types.take()]);
        if !all.iter().any(|name| name == "null") {
            all.push("null".into());
        }
        *types = Value::Array(all);
    }
    if let Some(Value::Array(words)) = object.get_mut("enum")
        && !words.iter().any(Value::is_null)
    {
        words.push(Value::Null);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().for_each(or_null);
    }
    values_or_null(schema);
}

fn values_or_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(or_null);
    }
    object.get_mut("additionalProperties").into_iter().for_each(or_null);
    object.get_mut("items").into_iter().for_each(values_or_null);
}

/// Lets a benchmark that extends fragments leave out what these say: its `spec` is a part, as in the schema `fragment`, and without
/// fragments it has what a whole one needs as well.
pub fn of_benchmark(mut benchmark: Value, fragment: &Value) -> Value {
    let definitions_of = |document: &Value| {
        document.get("definitions").and_then(Value::as_object).expected("definitions of a document").clone()
    };
    let (whole, mut definitions) = (definitions_of(&benchmark), definitions_of(fragment));
    let differs = |(name, schema): &(&String, &Value)| definitions.get(*name).is_some_and(|part| part != *schema);
    let names = whole.iter().filter(differs).map(|(name, _)| name.clone()).collect();
    let needs = Needs { names };
    let added: Map<String, Value> = needs
        .names
        .iter()
        .filter_map(|name| {
            let of = needs.between(whole.get(name)?, definitions.get(name)?).unwrap_or_else(|| json!({}));
            Some((format!("{WHOLE}{name}"), of))
        })
        .collect();
    for (name, schema) in whole {
        definitions.entry(name).or_insert_with(|| needs.whole(&schema));
    }
    definitions.extend(added);
    definitions
        .insert(NOT_NULL.to_owned(), json!({"not": {"type": "null"}, "errorMessage": "The field has no value."}));
    if let Some(spec) = benchmark.pointer_mut("/properties/spec").and_then(Value::as_object_mut) {
        spec.remove("$ref");
        spec.insert("allOf".to_owned(), json!([{"$ref": format!("{REFERENCE}BenchmarkSpec")}]));
        spec.insert("if".to_owned(), json!({"required": ["extends"]}));
        spec.insert("then".to_owned(), json!({"type": "object"}));
        spec.insert("else".to_owned(), json!({"$ref": format!("{REFERENCE}{WHOLE}BenchmarkSpec")}));
    }
    if let Some(root) = benchmark.as_object_mut() {
        root.insert("definitions".to_owned(), Value::Object(definitions));
    }
    benchmark
}

/// What wholes require in addition to parts, in which values may be absent or `null`.
struct Needs {
    /// The definitions that differ in a part.
    names: BTreeSet<String>,
}

impl Needs {
    /// Returns what `whole` requires in addition to `part`; none if that is the same.
    fn between(&self, whole: &Value, part: &Value) -> Option<Value> {
        /// What people read, and words that a type next to them keeps from being `null`.
        const SAME: [&str; 9] = [
            "default",
            "description",
            "enum",
            "enumDescriptions",
            "examples",
            "format",
            "pattern",
            "patternErrorMessage",
            "title",
        ];
        let (Value::Object(whole), Value::Object(part)) = (whole, part) else { return None };
        let mut found = Map::new();
        for (key, value) in whole {
            let other = part.get(key);
            let needs = match (key.as_str(), value, other) {
                (key, ..) if SAME.contains(&key) => None,
                ("$ref", reference, _) => self.reference(reference),
                ("properties", Value::Object(fields), Some(Value::Object(others))) => {
                    if other != Some(value) {
                        let not_null = json!({"$ref": format!("{REFERENCE}{NOT_NULL}")});
                        found.insert("additionalProperties".to_owned(), not_null);
                    }
                    let of = |(name, field): (&String, &Value)| {
                        // A condition may be about a name that is free in a part.
                        let Some(other) = others.get(name) else { return Some((name.clone(), self.whole(field))) };
                        let needs = self.between(field, other)?;
                        is_more_than_a_type(&needs).then(|| (name.clone(), needs))
                    };
                    let needs: Map<String, Value> = fields.iter().filter_map(of).collect();
                    (!needs.is_empty()).then_some(Value::Object(needs))
                }
                ("items" | "additionalProperties", value, Some(other)) => self.between(value, other),
                ("allOf", Value::Array(all), Some(Value::Array(others))) if all.len() == others.len() => {
                    let needs: Vec<Value> =
                        all.iter().zip(others).filter_map(|(one, other)| self.between(one, other)).collect();
                    (!needs.is_empty()).then_some(Value::Array(needs))
                }
                (key, value, Some(other)) if is_same_but_null(key, value, other) => {
                    self.is_referred_to(value).then(|| self.whole(value))
                }
                (_, value, _) => Some(self.whole(value)),
            };
            // Of free names, the values have needs of their own.
            found.extend(needs.map(|needs| (key.clone(), needs)));
        }
        (!found.is_empty()).then_some(Value::Object(found))
    }

    fn reference(&self, reference: &Value) -> Option<Value> {
        let name = reference.as_str()?.strip_prefix(REFERENCE)?;
        self.names.contains(name).then(|| format!("{REFERENCE}{WHOLE}{name}").into())
    }

    fn is_referred_to(&self, schema: &Value) -> bool {
        match schema {
            Value::Array(items) => items.iter().any(|item| self.is_referred_to(item)),
            Value::Object(object) => {
                object.get("$ref").is_some_and(|reference| self.reference(reference).is_some())
                    || object.values().any(|value| self.is_referred_to(value))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    /// Returns a schema whose references point to wholes.
    fn whole(&self, schema: &Value) -> Value {
        match schema {
            Value::Array(items) => Value::Array(items.iter().map(|item| self.whole(item)).collect()),
            Value::Object(object) => match object.get("$ref").and_then(|reference| self.reference(reference)) {
                Some(needs) => json!({"allOf": [{"$ref": object.get("$ref")}, {"$ref": needs}]}),
                None => object.iter().map(|(key, value)| (key.clone(), self.whole(value))).collect(),
            },
            other => other.clone(),
        }
    }
}

/// Whether `other` only allows `null` in addition to `value`.
fn is_same_but_null(key: &str, value: &Value, other: &Value) -> bool {
    let mut of = Value::Object(Map::from_iter([(key.to_owned(), value.clone())]));
    if key != "type" {
        or_null(&mut of);
    }
    of.get(key) == Some(other)
}

/// Whether a field requires more than a value, which its mapping requires already.
fn is_more_than_a_type(needs: &Value) -> bool {
    needs.as_object().is_none_or(|needs| needs.keys().any(|key| key != "type"))
}
