//! Files of the repository that travel with a workload.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::project::RelativePath;

/// Fields next to the roles of a workload, which apply to all of it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WorkloadBlock {
    /// Files of the repository by the name that they get in `/kubebench/files` of every container: scripts and configuration,
    /// at most 64 and 900 KiB together. They are part of the run digest.
    #[schemars(extend("default" = {}, "examples" = [{"bench.sh": {"path": "scripts/bench.sh"}}], "propertyNames" = {"format": "file-name"}))]
    pub files: BTreeMap<String, CarriedFile>,
}

/// A file of the repository that travels with the workload.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CarriedFile {
    /// Where it is, relative to the project root.
    #[schemars(extend("examples" = ["scripts/bench.sh"]))]
    pub path: RelativePath,
}
