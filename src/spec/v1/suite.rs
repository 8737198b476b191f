//! `kind: Suite`: an ordered list of benchmarks run as one.

use schemars::JsonSchema;
use serde::Deserialize;

use super::benchmark::Metadata;
use super::scalar::Text;

/// An ordered list of benchmarks that are run as one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suite {
    /// The version of this format.
    #[schemars(extend("enum" = ["kubebench.dev/v1"], "examples" = ["kubebench.dev/v1"]))]
    pub api_version: String,
    /// The kind of this document.
    #[schemars(extend("enum" = ["Suite"], "examples" = ["Suite"]))]
    pub kind: String,
    /// The suite's name and labels.
    #[schemars(extend("examples" = [{"name": "nightly"}]))]
    pub metadata: Metadata,
    /// What the suite holds.
    #[schemars(extend("examples" = [{"benchmarks": ["resnet50-ddp", "llama-8b"]}]))]
    pub spec: SuiteSpec,
}

/// What a suite holds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteSpec {
    /// What the suite is for.
    #[serde(default)]
    #[schemars(extend("default" = "", "examples" = ["Everything that runs each night"]))]
    pub description: Option<Text>,
    /// Names of benchmarks, in the order in which they run.
    #[schemars(extend("minItems" = 1, "examples" = [["resnet50-ddp", "llama-8b"]]))]
    pub benchmarks: Vec<String>,
}
