//! `kind: Ack`: a regression that people accepted.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{Percentage, Text};

/// A regression that people accepted: `kubebench ack` writes it, a review accepts it, gate and report honor it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ack {
    /// The version of this format.
    #[schemars(extend("enum" = ["kubebench.dev/v1"], "examples" = ["kubebench.dev/v1"]))]
    pub api_version: String,
    /// The kind of this document.
    #[schemars(extend("enum" = ["Ack"], "examples" = ["Ack"]))]
    pub kind: String,
    /// What is accepted, and why.
    #[schemars(extend("examples" = [{"benchmark": "resnet50-ddp", "metric": "throughput", "from": "8c36d19a2f", "by": "ada@example.com", "reason": "mixed precision was wrong before"}]))]
    pub spec: AckSpec,
}

/// What is accepted, and why.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AckSpec {
    /// The benchmark; with `until`, any benchmark if this is left out.
    #[serde(default)]
    #[schemars(extend("examples" = ["resnet50-ddp"]))]
    pub benchmark: Option<String>,
    /// The case, by id or name; `*` matches any.
    #[serde(default)]
    #[schemars(extend("default" = "*", "examples" = ["batchSize=128*"]))]
    pub case: Option<Text>,
    /// The metric; with `until`, any metric if this is left out.
    #[serde(default)]
    #[schemars(extend("examples" = ["throughput"]))]
    pub metric: Option<String>,
    /// The target; without it, any.
    #[serde(default)]
    #[schemars(extend("examples" = ["gpu-eu"]))]
    pub target: Option<Text>,
    /// The first session of the level that is accepted: its id, its commit (at least 7 digits), or a time at or before its beginning.
    /// Either this or `until` is needed.
    #[serde(default)]
    #[schemars(extend("format" = "beginning", "examples" = ["8c36d19a2f"]))]
    pub from: Option<Text>,
    /// The last day (UTC) of what is accepted: every change that began by then, of any size. Later ones are open.
    #[serde(default)]
    #[schemars(extend("format" = "day", "examples" = ["2026-12-31"]))]
    pub until: Option<String>,
    /// The largest regression that is accepted; a larger one stays open.
    #[serde(default)]
    #[schemars(extend("examples" = ["6%"]))]
    pub max_change: Option<Percentage>,
    /// Why it is accepted.
    #[schemars(extend("format" = "sentence", "examples" = ["mixed precision was wrong before"]))]
    pub reason: Text,
    /// Who accepted.
    #[schemars(extend("format" = "sentence", "examples" = ["ada@example.com"]))]
    pub by: Text,
    /// The last day on which the acknowledgement applies, as year-month-day; the change is open again after that.
    #[serde(default)]
    #[schemars(extend("format" = "day", "examples" = ["2027-03-31"]))]
    pub expires: Option<String>,
}
