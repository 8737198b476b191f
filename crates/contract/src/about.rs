//! What `rules.json` says beside the rules: whose they are.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Where a benchmark comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct About {
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its spec.
    pub source: SpecSource,
    /// How much of a log is kept, where the spec says it.
    pub log_limit_bytes: Option<u64>,
}

/// A spec.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SpecSource {
    /// Its path below the project root.
    pub path: String,
    /// The digest of its text.
    pub digest: String,
}

impl About {
    /// Reads the text of `rules.json`; what is not there is empty, as in one that an older version wrote.
    pub fn read(rules: &str) -> Self {
        serde_json::from_str(rules).unwrap_or_default()
    }
}
