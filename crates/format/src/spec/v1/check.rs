//! A condition for a run to count.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{CountFromZero, Flag, Number, Percentage};

/// A condition for a run to count.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The metric that is checked.
    #[serde(default)]
    #[schemars(extend("examples" = ["loss"]))]
    pub metric: Option<String>,
    /// Every value is a finite number.
    #[serde(default)]
    #[schemars(extend("examples" = [true]))]
    pub finite: Option<Flag>,
    /// The minimum value.
    #[serde(default)]
    #[schemars(extend("examples" = [0.75]))]
    pub min: Option<Number>,
    /// The maximum value.
    #[serde(default)]
    #[schemars(extend("examples" = [2.5]))]
    pub max: Option<Number>,
    /// The maximum number of container restarts.
    #[serde(default)]
    #[schemars(extend("examples" = [0]))]
    pub restarts: Option<CountFromZero>,
    /// How many of the attempted requests of a load generator may fail; without it, none.
    #[serde(default)]
    #[schemars(extend("examples" = [{"max": "1%"}]))]
    pub failed_requests: Option<FailedRequests>,
    /// Warnings of a tool about its own run that make the run invalid.
    #[serde(default)]
    #[schemars(extend("examples" = [{"forbid": ["debugBuild"]}]))]
    pub cautions: Option<Cautions>,
}

/// Warnings of a tool about its own run that make the run invalid.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cautions {
    /// A run with one of these is invalid.
    #[schemars(length(min = 1), extend("examples" = [["debugBuild", "frequencyScaling"]]))]
    pub forbid: Vec<Caution>,
}

/// A reason why the tool itself trusts its numbers less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Caution {
    /// Its memory addresses are random (ASLR), so cache effects differ from run to run.
    AddressRandomization,
    /// It was built for debugging.
    DebugBuild,
    /// The frequency of the processors is not fixed.
    FrequencyScaling,
    /// The queue of the device was not as deep as requested.
    QueueDepthCapped,
    /// It counted warnings in its own log.
    ToolWarnings,
}

impl Caution {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::AddressRandomization,
        Self::DebugBuild,
        Self::FrequencyScaling,
        Self::QueueDepthCapped,
        Self::ToolWarnings,
    ];

    /// Returns its name in specs and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::AddressRandomization => "addressRandomization",
            Self::DebugBuild => "debugBuild",
            Self::FrequencyScaling => "frequencyScaling",
            Self::QueueDepthCapped => "queueDepthCapped",
            Self::ToolWarnings => "toolWarnings",
        }
    }
}

/// How many requests may fail.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedRequests {
    /// The share of the attempted requests; requests that were cancelled or did not complete count as failed.
    #[schemars(extend("examples" = ["1%"]))]
    pub max: Percentage,
}
