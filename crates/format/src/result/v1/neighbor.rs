//! Pods of others that shared a node with a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pod that shared a node with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Neighbor {
    /// Its name.
    pub pod: String,
    /// The benchmark that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// The run that it belongs to, by the name of the run's job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Since when it was on the node, by the node's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"))]
    pub since: Option<String>,
}
