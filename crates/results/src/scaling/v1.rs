//! The wire types of what `compare --by` answers, version 1.

mod from;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use crate::compare::v1::{Direction, Kind, LeftOut};
use kubebench_format::schema::generate_answer;

/// The version of this format.
pub const SCHEMA_VERSION: u32 = 1;
/// The committed schema.
pub const SWEEP_FILE: &str = "sweep.v1.json";

/// Returns the schema of this format.
pub fn schema() -> Json {
    generate_answer::<Swept>(SWEEP_FILE, "Swept")
}

/// What `kubebench compare --by` answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Swept {
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// The axis: a parameter of cases, or a fact of the hardware.
    pub axis: String,
    /// What was compared: cases that differ only in the axis, by metric.
    pub groups: Vec<Group>,
    /// Which cases are the best trade-offs between two metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fronts: Vec<Front>,
    /// Result files that did not count, and why.
    pub left_out: Vec<LeftOut>,
    /// What was not compared, and further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One metric of cases that differ only in the axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Group {
    /// The benchmark.
    pub benchmark: String,
    /// The parameters that all of its cases share.
    #[schemars(extend("x-kubebench-open" = true))]
    pub params: BTreeMap<String, Json>,
    /// The hardware that all of them share, by fact; on an axis of numbers without the count of machines.
    pub environment: BTreeMap<String, String>,
    /// The metric.
    pub metric: String,
    /// Labels that distinguish it from metrics of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// Its role.
    pub kind: Kind,
    /// Whether the axis is numeric, so that there may be an efficiency.
    pub numeric: bool,
    /// The value of the axis that the others are compared with, as it is shown; left out where this group has no result of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The values of the axis: numbers in their order, names with the base first.
    pub rows: Vec<Row>,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether nothing ran and the numbers were generated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
}

/// One value of the axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Row {
    /// The value of the axis, as it is shown.
    pub value: String,
    /// The same as a number, on an axis of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// The identity of the case.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// What it ran on, by fact, with the count of machines.
    pub environment: BTreeMap<String, String>,
    /// The sessions of the current level: those of the default branch since the last change.
    pub sessions: usize,
    /// How many of their runs count.
    pub runs: usize,
    /// When the first of these sessions began.
    pub since: String,
    /// When the newest of them began.
    pub until: String,
    /// The median of the sessions.
    pub median: f64,
    /// The 95 % confidence interval of the median; left out where there are fewer than 3 sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The value as a multiple of the base's; left out for the base itself, and where there is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Estimate>,
    /// How many times better than the base it is: above 1 is better whichever way the metric goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<Estimate>,
    /// The speed-up as a share of perfect scaling along the axis, where the axis counts workers and the metric is their total rate:
    /// 1 is perfect scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<Estimate>,
    /// How the ratio was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What a unit of work costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<UnitCost>,
    /// The first session of a regression that is not resolved or acknowledged: the level is not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A number and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The 95 % confidence interval, not adjusted for other rows; left out where there are too few sessions for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// What a unit of work costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnitCost {
    /// The median of the sessions.
    pub amount: f64,
    /// The currency, or `GPU-hours` where the results have no prices.
    pub currency: String,
    /// For how many units of work.
    pub per: f64,
    /// The unit of work: that of a rate, or `step-time` for a time.
    pub of: String,
}

/// The cases of a benchmark on the same hardware, by two metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Front {
    /// The benchmark.
    pub benchmark: String,
    /// The hardware that all of them share, by fact, without the count of machines.
    pub environment: BTreeMap<String, String>,
    /// The metrics.
    pub metrics: (FrontMetric, FrontMetric),
    /// The cases, those on the front first, then by the first metric, the best first.
    pub points: Vec<FrontPoint>,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether nothing ran and the numbers were generated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
}

/// One of the two metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FrontMetric {
    /// The metric, with the labels that distinguish it from metrics of the same name.
    pub name: String,
    /// The unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FrontPoint {
    /// The identity of the case.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// The value of the first metric and of the second, with intervals as in a row.
    pub values: (Estimate, Estimate),
    /// The sessions of the two.
    pub sessions: (usize, usize),
    /// Cases that are better in both metrics beyond the noise, by identity, at most 5; empty for a case on the front.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dominated_by: Vec<String>,
    /// The cases whose medians are no worse in both metrics and better in one, while one of the differences may be noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub perhaps_by: Vec<String>,
}
