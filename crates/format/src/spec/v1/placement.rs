//! How the pods of a run are placed relative to each other.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::Text;

/// How pods are placed relative to each other: `together` or `spread`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Placement {
    /// Roles whose pods all run in one domain, such as one node or one rack.
    #[schemars(extend("default" = [], "examples" = [["launcher", "worker"]]))]
    pub together: Vec<Text>,
    /// A role whose pods are spread evenly over domains: no domain has two more than another.
    #[schemars(extend("examples" = ["worker"]))]
    pub spread: Option<Text>,
    /// The label of nodes whose value names their domain.
    #[schemars(extend("default" = "kubernetes.io/hostname", "format" = "label-key", "examples" = ["topology.kubernetes.io/rack"]))]
    pub over: Option<String>,
}
