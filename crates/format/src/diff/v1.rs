//! The wire types of what `diff` answers, version 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::plan::v1::{FieldChange, NotCompared};
use crate::schema::generate_answer;

/// The version of this format.
pub const SCHEMA_VERSION: u32 = 1;
/// The committed schema.
const DIFF_FILE: &str = "diff.v1.json";

/// Returns the schema of this format.
pub fn schema() -> Json {
    generate_answer::<Diff>(DIFF_FILE, "Diff")
}

/// What `kubebench diff` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diff {
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// The benchmarks that differ and that both sides have.
    pub benchmarks: Vec<Benchmark>,
    /// The benchmarks that the base does not have.
    pub added: Vec<Named>,
    /// The benchmarks that are no longer there.
    pub removed: Vec<Named>,
    /// What differs in the project file and in suites; empty with `--rendered`.
    pub shared: Vec<FieldChange>,
    /// Files of the base that do not compile, so their content counts as new.
    pub not_compared: Vec<NotCompared>,
}

/// A benchmark on a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Named {
    /// The benchmark.
    pub name: String,
    /// The target.
    pub target: String,
}

/// A benchmark that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Benchmark {
    /// Its name.
    pub name: String,
    /// The target.
    pub target: String,
    /// How many cases both sides have.
    pub cases: u64,
    /// What differs.
    pub changes: Vec<Change>,
    /// The names of the cases that the base does not have.
    pub added_cases: Vec<String>,
    /// The names of the cases that are no longer there.
    pub removed_cases: Vec<String>,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// The field; `file` is the fragment that has the new value, or empty for the spec. With `--rendered` it is the kind of the object.
    pub change: FieldChange,
    /// In how many of the cases; null for what all cases share.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub cases: Option<u64>,
}
