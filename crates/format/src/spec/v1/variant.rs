//! `variants`: the same benchmark in several forms, such as two toolkits or two machine types.

use schemars::JsonSchema;
use serde::Deserialize;

use super::benchmark::{Inputs, StepJob, Workload};
use super::placement::Placement;
use super::scalar::{Dns1123Label, Duration, PerCase, Text};

/// One form of a benchmark: its fields replace those of `spec`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variant {
    /// The name, unique among the variants: lower-case letters, digits and `-`. It is part of the names of cases, and the value of `${{ variant.name }}`.
    #[schemars(extend("examples" = ["pytorch"]))]
    pub name: Dns1123Label,
    /// What the variant is for.
    #[serde(default)]
    #[schemars(extend("default" = "", "examples" = ["The same model in PyTorch"]))]
    pub description: Option<Text>,
    /// The fields that differ from `spec.workload`. Fields of the same kind merge: mappings key by key, anything else is replaced. Another kind replaces all of it.
    #[serde(default)]
    #[schemars(extend("examples" = [{"job": {"resources": {"cpu": 8, "memory": "16Gi"}}}]))]
    pub workload: PerCase<Workload>,
    /// How long one run of this variant may take from the start of its job; without it, `spec.timeout`.
    #[serde(default)]
    #[schemars(extend("examples" = ["4h"]))]
    pub timeout: PerCase<Duration>,
    /// How the pods of a run of this variant are placed relative to each other; without it, `spec.placement`.
    #[serde(default)]
    #[schemars(extend("examples" = [[{"spread": "worker"}]]))]
    pub placement: PerCase<Vec<Placement>>,
    /// What the runs of this variant read: each of `dataset`, `model` and `seed` replaces that of `spec.inputs`.
    #[serde(default)]
    #[schemars(extend("examples" = [{"seed": 7}]))]
    pub inputs: PerCase<Inputs>,
    /// The Job after each run of this variant; without it, `spec.postprocess`.
    #[serde(default)]
    #[schemars(extend("examples" = [{"image": "docker.io/library/busybox:1.37.0", "command": ["true"]}]))]
    pub postprocess: PerCase<StepJob>,
}
