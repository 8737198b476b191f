//! What a comparison along an axis says, as the rest of the program works on it. What is promised to other programs is
//! [`v1`](super::v1), which is made from this.

use std::collections::BTreeMap;

use serde_json::Value as Json;

pub use crate::compare::model::{Direction, Kind, LeftOut};

/// What `kubebench compare --by` answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingReport {
    /// The axis: a parameter of cases, or a fact of the hardware.
    pub axis: String,
    /// What was compared: cases that are equal but for the axis, by metric.
    pub groups: Vec<Group>,
    /// Which cases are the best for two metrics that pull apart.
    pub fronts: Vec<Front>,
    /// Result files that did not count, and why.
    pub left_out: Vec<LeftOut>,
    /// What was not compared, and what else a reader has to know.
    pub notes: Vec<String>,
}

/// One metric of cases that are equal but for the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub benchmark: String,
    /// The parameters that all of its cases share.
    pub params: BTreeMap<String, Json>,
    /// The hardware that all of them share, by fact; on an axis of numbers without the count of machines.
    pub environment: BTreeMap<String, String>,
    pub metric: String,
    /// What distinguishes it from others of its name.
    pub labels: BTreeMap<String, String>,
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// What part it plays.
    pub kind: Kind,
    /// Whether the axis is one of numbers, so that there may be an efficiency.
    pub numeric: bool,
    /// The value of the axis that the others are compared with, as it is shown; left out where this group has no result of it.
    pub base: Option<String>,
    /// The values of the axis: numbers in their order, versions and names in theirs after the base.
    pub rows: Vec<Row>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
    /// Whether nothing ran and the numbers were made.
    pub synthetic: bool,
}

/// One value of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The value of the axis, as it is shown.
    pub value: String,
    /// The same as a number, on an axis of numbers.
    pub number: Option<f64>,
    /// The identity of the case.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// What it ran on, by fact, with the count of machines.
    pub environment: BTreeMap<String, String>,
    /// The sessions of the level that is there now: those of the default branch since the last change.
    pub sessions: usize,
    /// How many runs these had that count.
    pub runs: usize,
    /// When the first of these sessions began.
    pub since: String,
    /// When the newest of them began.
    pub until: String,
    /// The median of the sessions.
    pub median: f64,
    /// The 95 % confidence interval of the median; left out where there are fewer than 3 sessions.
    pub interval: Option<(f64, f64)>,
    /// The value as a multiple of the base's; left out for the base itself, and where there is no ratio.
    pub ratio: Option<Estimate>,
    /// How many times better than the base it is: above 1 is better whichever way the metric goes.
    pub speedup: Option<Estimate>,
    /// The speed-up as a share of what the number of the axis promises, where that counts what works and the metric is a rate of all of it:
    /// 1 is perfect scaling.
    pub efficiency: Option<Estimate>,
    /// How the ratio was measured.
    pub method: Option<String>,
    /// What a unit of work costs.
    pub cost: Option<UnitCost>,
    /// The first session of a regression that is not resolved or acknowledged: the level was not accepted.
    pub open: Option<String>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
}

/// A number, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The 95 % confidence interval, not adjusted for other rows; left out where there are too few sessions for one.
    pub interval: Option<(f64, f64)>,
}

/// What a unit of work costs.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitCost {
    /// The median of the sessions.
    pub amount: f64,
    /// The currency, or `GPU-hours` where the results have no prices.
    pub currency: String,
    /// The number of units that it is for.
    pub per: f64,
    /// What it is the cost of: the unit of work of a rate, `step-time` for one of a time.
    pub of: String,
}

/// The cases of a benchmark on the same hardware, by two metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    pub benchmark: String,
    /// The hardware that all of them share, by fact, without the count of machines.
    pub environment: BTreeMap<String, String>,
    pub metrics: (FrontMetric, FrontMetric),
    /// The cases, those on the front first, then by the first metric, the best first.
    pub points: Vec<FrontPoint>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
    /// Whether nothing ran and the numbers were made.
    pub synthetic: bool,
}

/// One of the two metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMetric {
    /// The metric, with what distinguishes it from others of its name.
    pub name: String,
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
}

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontPoint {
    /// The identity of the case.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// The value of the first metric and of the second, with intervals as in a row.
    pub values: (Estimate, Estimate),
    /// The sessions of the two.
    pub sessions: (usize, usize),
    /// Cases that are better in both metrics beyond the noise, by identity, at most 5; none of a case on the front.
    pub dominated_by: Vec<String>,
    /// The cases whose medians are no worse in both metrics and better in one, while one of the differences may be noise.
    pub perhaps_by: Vec<String>,
}
