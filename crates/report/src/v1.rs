//! The wire types of `index.json`, the first of the data files beside the pages, version 1.
//!
//! The series themselves are in the format of `kubebench history`, comparisons in that of `compare`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use kubebench_format::attestation::v1::Signatures;
use kubebench_format::schema::generate_answer;
use kubebench_results::compare::v1::Verdict;

/// The version of this format.
pub(crate) const SCHEMA_VERSION: u32 = 1;
/// The committed schema.
pub const REPORT_FILE: &str = "report.v1.json";

/// Returns the schema of `index.json`.
pub fn schema() -> Json {
    generate_answer::<Index>(REPORT_FILE, "Index")
}

/// What a report is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Index {
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// The title of the site.
    pub title: String,
    /// The day of the newest result, or the one on which acknowledgements were evaluated.
    pub as_of: String,
    /// How many results count.
    pub results: usize,
    /// How many files do not.
    pub left_out: usize,
    /// Who recorded the results; left out where the project has no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures: Option<Signatures>,
    /// Series by verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// The open regressions, the largest first.
    pub open: Vec<Open>,
    /// What may have got worse, while a gate waits for a second session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Open>,
    /// The benchmarks, by name.
    pub benchmarks: Vec<BenchmarkEntry>,
    /// The pages of comparisons, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub comparisons: BTreeMap<String, String>,
}

/// A regression that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Open {
    /// The benchmark.
    pub benchmark: String,
    /// The identity of the case.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// What it ran on, by fact.
    pub environment: BTreeMap<String, String>,
    /// The metric.
    pub metric: String,
    /// Labels that distinguish it from metrics of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The change as a share; left out where only a limit was exceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// The 95 % confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The limit or fixed value that was exceeded, as the gate says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// When its first session began.
    pub since: String,
    /// The commit of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The commit of the session before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// In how many sessions it was seen.
    pub sessions: usize,
    /// All of that in a sentence.
    pub sentence: String,
    /// The page that shows it.
    pub page: String,
}

/// One benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BenchmarkEntry {
    /// Its name.
    pub name: String,
    /// Its page.
    pub page: String,
    /// Its badge.
    pub badge: String,
    /// How many results it has.
    pub results: usize,
    /// When the newest run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<String>,
    /// Its cases, by name.
    pub cases: Vec<CaseEntry>,
}

/// One case of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseEntry {
    /// Its identity.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// The worst verdict of its series that are primary, gated, or have an open regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether runs of its newest session failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failing: bool,
    /// Whether a spec has it, but there is no result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Its series as `kubebench history` prints them.
    pub data: String,
}
