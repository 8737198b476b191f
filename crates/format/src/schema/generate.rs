//! Generates the schemas from the wire types.
//!
//! Draft 7, because editors read that. Three things hold for all types and are added here: objects are closed, `null` is
//! no value, and references keep their descriptions.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::{DocumentKind, part};
use crate::result::{self, BenchmarkResult};
use crate::spec::v1::ack::Ack;
use crate::spec::v1::benchmark::Benchmark;
use crate::spec::v1::carried::WorkloadBlock;
use crate::spec::v1::container::RoleBlock;
use crate::spec::v1::fragment::Fragment;
use crate::spec::v1::project::Project;
use crate::spec::v1::suite::Suite;
use kubebench_syntax::invariant::Invariant as _;

/// The name of the committed schema of result files.
pub const RESULT_FILE: &str = "result.v1.json";

/// The key of a workload kind under `spec.workload`, and how its schema is made.
#[derive(Clone, Copy)]
pub struct WorkloadForm {
    /// The key, such as `pytorchJob`.
    pub key: &'static str,
    /// Makes the schema of the value.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Returns the schema of the workload form `T`: its own fields, the role block's as defaults for all roles, and those that
/// every workload has.
pub fn form_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let whole = WorkloadBlock::json_schema(generator).to_value();
    merged_schema::<T>(&[whole], generator)
}

/// Returns the schema of a role block that also has the fields of `T`.
pub fn role_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    merged_schema::<T>(&[], generator)
}

/// Returns the schema without these fields, which a role block has and this form has no use for.
pub fn without(mut schema: Schema, fields: &[&str]) -> Schema {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !fields.contains(&name.as_str()));
    }
    schema
}

fn merged_schema<T: JsonSchema>(more: &[Value], generator: &mut SchemaGenerator) -> Schema {
    let mut form = T::json_schema(generator).to_value();
    let shared = RoleBlock::json_schema(generator).to_value();
    let mut properties = Map::new();
    for source in std::iter::once(&shared).chain(more).chain([&form]) {
        for (name, property) in source.get("properties").and_then(Value::as_object).into_iter().flatten() {
            properties.insert(name.clone(), property.clone());
        }
    }
    if form.pointer("/properties/replicas").is_none() {
        properties.remove("replicas");
    }
    if let Some(form) = form.as_object_mut() {
        form.insert("properties".to_owned(), Value::Object(properties));
    }
    Schema::try_from(form).expected("an object, which is a schema")
}

/// Returns the schema of `kind`, with `workloads` as the forms of `spec.workload`.
pub fn generate(kind: DocumentKind, workloads: &[WorkloadForm]) -> Value {
    let mut generator = SchemaSettings::draft07().into_generator();
    let mut root = match kind {
        DocumentKind::Benchmark | DocumentKind::Fragment => {
            let forms: Vec<(&str, Schema)> =
                workloads.iter().map(|form| (form.key, (form.schema)(&mut generator))).collect();
            let mut root = match kind {
                DocumentKind::Fragment => generator.into_root_schema_for::<Fragment>().to_value(),
                _ => generator.into_root_schema_for::<Benchmark>().to_value(),
            };
            let properties = root.pointer_mut("/definitions/Workload/properties").and_then(Value::as_object_mut);
            if let Some(properties) = properties {
                properties.extend(forms.into_iter().map(|(key, schema)| (key.to_owned(), schema.to_value())));
            }
            root
        }
        DocumentKind::Suite => generator.into_root_schema_for::<Suite>().to_value(),
        DocumentKind::Project => generator.into_root_schema_for::<Project>().to_value(),
        DocumentKind::Ack => generator.into_root_schema_for::<Ack>().to_value(),
    };
    tidy(&mut root);
    if kind == DocumentKind::Fragment {
        part::of_spec(&mut root);
    }
    name(&mut root, kind.file_name(), kind.name());
    root
}

/// Returns the schema of result files, which programs write and people only read.
pub fn generate_result() -> Value {
    generate_answer::<BenchmarkResult>(RESULT_FILE, result::KIND)
}

/// Returns the schema of what programs write as `T`, whose committed file is `file`.
pub fn generate_answer<T: JsonSchema>(file: &str, kind: &str) -> Value {
    let mut root = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut root);
    name(&mut root, file, kind);
    root
}

fn name(root: &mut Value, file: &str, kind: &str) {
    if let Some(root) = root.as_object_mut() {
        root.insert("$id".to_owned(), format!("https://kubebench.dev/schema/{file}").into());
        root.insert("title".to_owned(), format!("Kubebench {kind}").into());
    }
}

/// Closes objects, removes `null`, and unwraps references that need no wrapping, everywhere in `schema`.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(object) => {
            without_null(object);
            as_enum(object);
            close(object);
            object.values_mut().for_each(tidy);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn without_null(object: &mut Map<String, Value>) {
    if object.remove("x-kubebench-nullable").is_some() {
        return;
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if choices.len() == 1
            && let Some(Value::Array(choices)) = object.remove("anyOf")
        {
            object.insert("allOf".to_owned(), Value::Array(choices));
        }
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
}

/// Turns a choice of described constants into an `enum`, which editors and error messages handle better.
fn as_enum(object: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = object.get("oneOf") else { return };
    let constant = |choice: &Value| choice.get("const").or_else(|| choice.get("enum")?.get(0)).cloned();
    let Some(values) = choices.iter().map(constant).collect::<Option<Vec<Value>>>() else { return };
    let words: Vec<Value> =
        choices.iter().map(|choice| choice.get("description").cloned().unwrap_or_else(|| "".into())).collect();
    object.remove("oneOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), Value::Array(values));
    object.insert("enumDescriptions".to_owned(), Value::Array(words));
}

fn close(object: &mut Map<String, Value>) {
    if object.remove("x-kubebench-open").is_some() {
        return;
    }
    if object.get("properties").is_some_and(Value::is_object)
        && object.get("type").is_some()
        && !object.contains_key("additionalProperties")
    {
        object.insert("additionalProperties".to_owned(), false.into());
    }
}
