//! What the value at a place of a document is, for authors of documents.

use serde_json::Value;

use super::explain::{one_line, type_of};
use super::field::at;
use kubebench_syntax::yaml::Step;

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// What it takes, in a word: `list of string`.
    pub type_name: String,
    pub description: String,
    pub default: Option<Value>,
    pub example: Option<Value>,
}

/// Returns what the value at `way` is in a document with the schema `root`; none if there is no such place.
pub fn summary(root: &Value, way: &[Step]) -> Option<Summary> {
    let schemas = at(root, way);
    let text = |key: &str| schemas.iter().find_map(|schema| schema.get(key)?.as_str());
    let value = |pointer: &str| schemas.iter().find_map(|schema| schema.pointer(pointer)).cloned();
    Some(Summary {
        type_name: type_of(root, schemas.first()?),
        description: text("description").map(one_line).unwrap_or_default(),
        default: value("/default"),
        example: value("/examples/0").or_else(|| value("/const")),
    })
}

/// Returns whether the value at `way` is a list.
pub fn is_list(root: &Value, way: &[Step]) -> bool {
    at(root, way).iter().any(|schema| schema.get("items").is_some())
}

/// Returns whether the mapping at `way` has exactly one field, of any name.
pub fn takes_one(root: &Value, way: &[Step]) -> bool {
    at(root, way).iter().any(|schema| schema.get("maxProperties").is_some_and(|most| most == 1))
}
