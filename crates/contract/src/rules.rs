//! `rules.json`: what is wanted of a run, outside the run digest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Fault, read, write};

/// The rules of a benchmark, with its name. Metrics, checks and gates are written as in the spec.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RulesFile {
    pub benchmark: String,
    /// `spec.checks`
    pub checks: Vec<Json>,
    /// The version of the extraction rules that it was compiled for; none in one that 0.1.0 wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extraction: Option<u32>,
    /// `spec.gates`
    pub gates: Vec<Json>,
    pub labels: BTreeMap<String, String>,
    /// How much of a log is kept, where the spec says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_limit_bytes: Option<u64>,
    /// `spec.metrics`
    pub metrics: Vec<Json>,
    pub source: SpecSource,
}

/// A spec.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpecSource {
    /// The digest of its text.
    pub digest: String,
    /// Its path below the project root.
    pub path: String,
}

impl RulesFile {
    /// Its key in the ConfigMap.
    pub const FILE: &str = "rules.json";

    /// Returns its text.
    pub fn write(&self) -> String {
        write(self)
    }

    /// Reads the text of `rules.json`; what is not there is empty, as in one that an older version wrote.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn read(text: &str) -> Result<Self, Fault> {
        read(Self::FILE, text)
    }
}
