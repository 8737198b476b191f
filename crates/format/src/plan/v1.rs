//! The wire types of what `plan` answers, version 1.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::schema::generate_answer;

/// The version of this format.
pub const SCHEMA_VERSION: u32 = 1;
/// The committed schema.
pub const PLAN_FILE: &str = "plan.v1.json";

/// Returns the schema of this format.
pub fn schema() -> Json {
    generate_answer::<Plan>(PLAN_FILE, "Plan")
}

/// What `kubebench plan` answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// Each benchmark on each target.
    pub benchmarks: Vec<Benchmark>,
    /// What is no longer there.
    pub removed: Vec<Removed>,
    /// Files of the base that do not compile, so their content counts as new.
    pub not_compared: Vec<NotCompared>,
    /// Which of the Workflows that would start run at once, where there is more than one.
    pub concurrency: Vec<Concurrency>,
    /// Permissions of benchmarks beyond those of a plain benchmark.
    pub permissions: Vec<Permission>,
    /// What changed in the project file and in suites and starts no benchmark: with `--since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_run: Option<Vec<FieldChange>>,
}

/// Workflows that are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Concurrency {
    /// The targets: one, or those of a group.
    pub targets: Vec<String>,
    /// How many of their Workflows run at once; null where any number may.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub limit: Option<u32>,
    /// The benchmarks and suites whose Workflows would start, as `NAME on TARGET`: Argo takes the oldest first.
    pub workflows: Vec<String>,
}

/// A benchmark on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Benchmark {
    /// Its name.
    pub name: String,
    /// The target.
    pub target: String,
    /// The path of its spec.
    pub spec: String,
    /// The suite that runs it there, if one does.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub suite: Option<String>,
    /// What a merge would do.
    pub action: Action,
    /// When it runs, alone or with its suite; null where it runs once.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub schedule: Option<Schedule>,
    /// What it executes.
    pub run_digest: String,
    /// How many cases it has.
    pub cases: u64,
    /// How many runs.
    pub runs: u64,
    /// Hours at most.
    pub max_hours: f64,
    /// The most accelerators that its runs hold at once, by resource name.
    pub accelerators: BTreeMap<String, u64>,
    /// Accelerators times hours at most.
    pub gpu_hours: f64,
    /// Money at most; null where a price is missing.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub cost: Option<f64>,
    /// Resources whose missing price leaves the cost unknown.
    pub unpriced: Vec<String>,
    /// The currency of the target's prices.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub currency: Option<String>,
    /// What the change does about it: with `--since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// What a change does about a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// How it is compared with the base.
    pub state: State,
    /// The name that the same spec had at the base, where it had another one.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub formerly: Option<String>,
    /// What starts it; empty unless it changed.
    pub causes: Vec<Cause>,
    /// What changed in its spec and starts nothing.
    pub without_run: Vec<FieldChange>,
    /// The files that it is compiled from and that differ from the base, where its state is `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<Vec<String>>,
    /// Why the base does not compile, where its state is `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<NotCompared>,
}

/// How a benchmark is compared with that of the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum State {
    /// The base does not have it.
    New,
    /// It executes something else.
    Changed,
    /// It executes the same.
    Unchanged,
    /// The base does not compile, so it is unknown.
    Unknown,
}

/// A change that starts a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cause {
    /// What changed.
    pub change: FieldChange,
    /// In which part of the cases something else is executed; null for what concerns the benchmark as a whole.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub cases: Option<Cases>,
    /// True if the benchmark would not run again without this change; false if specs without it do not compile.
    pub certain: bool,
}

/// Some of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cases {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
}

/// A field, or a whole file, that differs from the base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldChange {
    /// The file that has the new value: the spec, a fragment that it extends, or the project file.
    pub file: String,
    /// The field, such as `spec.workload.job.image`; empty for a whole file.
    pub path: String,
    /// The value at the base, with the fragments that it came from, in one line and without secrets; null if there was none.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub old: Option<String>,
    /// The value now.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub new: Option<String>,
    /// How many fields differ below the path; 1 for a single value.
    pub fields: u64,
}

/// When a benchmark runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Schedule {
    /// The cron line.
    pub cron: String,
    /// The time zone by whose clock it is read.
    pub timezone: String,
    /// The next three starts; empty where the line is an interval, which is counted from the last start.
    pub next: Vec<Start>,
}

/// A moment at which a schedule starts its runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Start {
    /// By the clock of the time zone: `2026-11-30 03:00 CET`.
    pub local: String,
    /// In UTC: `2026-11-30T02:00:00Z`.
    pub utc: String,
}

/// What a merge would do about a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Action {
    /// It runs.
    Runs,
    /// It runs again, because what it executes changed.
    RunsAgain,
    /// It runs on its schedule.
    OnSchedule,
    /// Nothing that it executes changed.
    Unchanged,
}

/// What is no longer there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Removed {
    /// The benchmark.
    pub name: String,
    /// The target.
    pub target: String,
    /// What the same spec is called now, if it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
}

/// A file of the base that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotCompared {
    /// The file.
    pub spec: String,
    /// The code of its first error.
    pub code: String,
    /// What that says.
    pub message: String,
}

/// A permission of a benchmark that a plain one does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Permission {
    /// The benchmark; null if all benchmarks of the target have the permission, or a fragment changes the gates of several.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub benchmark: Option<String>,
    /// The target; null if all benchmarks of the project have the permission.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub target: Option<String>,
    /// What it is.
    pub what: What,
    /// What is permitted, such as the name of a Secret.
    pub value: String,
    /// Where it is requested: a file, with line and column if known. For a permission that a change removes, where it was.
    pub place: String,
    /// What the change does about it: with `--since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
    /// Its level.
    pub level: Level,
    /// The code of its finding.
    pub code: String,
}

/// What a permission is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum What {
    /// Pods read a Secret.
    Secret,
    /// Pods have a token.
    Token,
    /// Pods have a ServiceAccount.
    Account,
    /// Pods ask for more than the Pod Security level `restricted` allows.
    PodSecurity,
    /// The network policy lets more in or out, or pods reach another network.
    Network,
    /// Pods mount a volume from elsewhere.
    Volume,
    /// A manifest contains an object of this kind, or may.
    Kind,
    /// The pipeline may create such objects.
    Rule,
    /// An object of the cluster describes pods, which no review shows.
    Unseen,
    /// Pods ask for a node, a priority, a scheduler or a runtime.
    Placement,
    /// An image without digest runs.
    Image,
    /// The change weakens a gate, a lint or a limit.
    Gate,
    /// A spec or a target suppresses the warnings of a lint.
    Lint,
}

impl What {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Gate => "gate",
            Self::Image => "image",
            Self::Kind => "kind",
            Self::Lint => "lint",
            Self::Network => "network",
            Self::Placement => "placement",
            Self::PodSecurity => "podSecurity",
            Self::Rule => "rule",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::Unseen => "unseen",
            Self::Volume => "volume",
        }
    }
}

/// What a change does about a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Since {
    /// It adds it.
    Added,
    /// It removes it.
    Removed,
    /// It keeps it.
    Kept,
}

/// The level of a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Level {
    /// Compilation fails.
    Error,
    /// It is reported.
    Warning,
    /// It is shown.
    Info,
}
