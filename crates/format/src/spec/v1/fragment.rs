//! `kind: Fragment`: what several benchmarks have in common.

use schemars::JsonSchema;
use serde::Deserialize;

use super::benchmark::BenchmarkSpec;
use super::scalar::Dns1123Label;

/// A part of benchmarks, for those that name it in `spec.extends`. It emits nothing by itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fragment {
    /// The version of this format.
    #[schemars(extend("enum" = ["kubebench.dev/v1"], "examples" = ["kubebench.dev/v1"]))]
    pub api_version: String,
    /// The kind of this document.
    #[schemars(extend("enum" = ["Fragment"], "examples" = ["Fragment"]))]
    pub kind: String,
    /// The fragment's name.
    #[schemars(extend("examples" = [{"name": "h100-node"}]))]
    pub metadata: FragmentMetadata,
    /// What the benchmarks have in common: any fields of the `spec` of a benchmark.
    #[schemars(extend("examples" = [{"workload": {"job": {"image": "docker.io/library/python:3.13-slim"}}}]))]
    pub spec: BenchmarkSpec,
}

/// The name of a fragment.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FragmentMetadata {
    /// The name for `extends`, unique among all fragments: lower-case letters, digits and `-`.
    #[schemars(extend("examples" = ["h100-node"]))]
    pub name: Dns1123Label,
}
