//! The wire types of a result file, version 1.
//!
//! One file is one run: what ran, where, how it ended and what it measured. Fields may be added within version 1; none
//! changes its meaning.

mod neighbor;
mod provenance;
mod usage;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::ReasonCode;
pub use neighbor::Neighbor;
pub use provenance::{CommitContent, Patch, Provenance, Reparsed};
pub use usage::{Usage, rounded};

pub use super::composition::{Experiment, Objective, Trial, TrialMetric, TrialStatus, Workflow, WorkflowNode};

/// One run of one case of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BenchmarkResult {
    /// `kubebench.dev/v1`
    #[schemars(extend("enum" = ["kubebench.dev/v1"]))]
    pub api_version: String,
    /// `BenchmarkResult`
    #[schemars(extend("enum" = ["BenchmarkResult"]))]
    pub kind: String,
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// SHA-256 of this file without this field: shows whether the file was edited.
    #[schemars(regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub digest: String,
    /// Whether nothing ran and `kubebench mock` generated the numbers, to try thresholds; never recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
    /// What was run.
    pub metadata: Metadata,
    /// How it went.
    pub run: Run,
    /// What it was made from.
    pub source: Provenance,
    /// What it ran on.
    pub environment: Environment,
    /// The server that it put under load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// What it read: `inputs` of the spec.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    #[schemars(extend("type" = "object", "x-kubebench-open" = true))]
    pub inputs: Json,
    /// What it measured.
    pub metrics: Vec<Metric>,
    /// What was sampled while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub monitoring: Vec<Monitored>,
    /// The resources of the cluster that it occupied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The nodes of the Workflow that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Workflow>,
    /// The trials of the Experiment that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Experiment>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The checks that had to pass for it to count.
    pub validity: Validity,
    /// Files that it left, by digest.
    pub artifacts: Vec<Artifact>,
    /// The reports of tools as they wrote them, except for redacted secrets; by tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub native: BTreeMap<String, Native>,
    /// Who wrote this file.
    pub recorder: Recorder,
    /// Free texts; the only extensible field of the format.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// What was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    /// The benchmark's name.
    #[schemars(regex(pattern = r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$"))]
    pub benchmark: String,
    /// The identity of the case: a slug and a digest.
    #[schemars(regex(pattern = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"))]
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// The value of each axis as the spec spells it: a number that JSON spells in the same way (`64`), else text (`"3.10"`).
    #[schemars(extend("x-kubebench-open" = true))]
    pub params: BTreeMap<String, Json>,
    /// The benchmark's labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The target whose settings applied.
    pub target: String,
}

/// How a run went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Run {
    /// 128 random bits, drawn at the start.
    #[schemars(regex(pattern = r"^[0-9a-f]{32}$"))]
    pub id: String,
    /// The session, which the runs of one execution share: same machine, same hour. Sessions are the unit of the statistics.
    pub session: String,
    /// From 1; counted separately for warm-ups.
    pub repeat: u32,
    /// Counted from 1; more than 1 when a run was started again.
    pub attempt: u32,
    /// Whether it was a warm-up: kept, but never in the statistics.
    pub warmup: bool,
    /// What started it.
    pub reason: Reason,
    /// When the job was created, to the millisecond; in older results to the second.
    #[schemars(regex(pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z$"))]
    pub started_at: String,
    /// When it ended, in the same form.
    #[schemars(regex(pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z$"))]
    pub finished_at: String,
    /// Seconds between the two, to the millisecond.
    pub duration_seconds: f64,
    /// How much of that was waiting, starting and running.
    pub timings: Timings,
    /// How it ended.
    pub status: Status,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<StatusReason>,
    /// How its processes ended, where that says something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<Exit>,
    /// How often its containers were restarted.
    pub restarts: u32,
}

/// Where the time of a run went, in seconds; what does not apply or is not known is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Timings {
    /// From the job's creation to the scheduling of its last pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_seconds: Option<f64>,
    /// From there to the start of the last container; of local runs, to the start of the last process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_seconds: Option<f64>,
    /// From the start of the first container or process to the end of the last that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_seconds: Option<f64>,
    /// From the creation of the server to its first answer; only of the run that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_seconds: Option<f64>,
}

/// What started a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Reason {
    /// A person or a script.
    Manual,
    /// A change in git.
    Change,
    /// A schedule.
    Schedule,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Status {
    /// It ended on its own, and all checks passed.
    Succeeded,
    /// A process failed.
    Failed,
    /// It took longer than its timeout.
    TimedOut,
    /// A person or the system stopped it.
    Interrupted,
    /// It ended on its own, but what it measured does not count.
    Invalid,
    /// The cluster took its nodes away.
    Preempted,
}

/// Why a run did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StatusReason {
    /// A word for programs, such as `exitCode` or `checkFailed`.
    pub code: ReasonCode,
    /// A sentence for people.
    pub message: String,
}

/// How one process or container ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exit {
    /// The role.
    pub role: String,
    /// The replica, from 0.
    pub index: u32,
    /// The exit code, unless a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it, such as `SIGKILL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// The last lines that it printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_lines: Vec<String>,
}

/// What a run ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Environment {
    /// SHA-256 over the facts that decide whether results may be compared.
    pub fingerprint: String,
    /// The names of these facts, in the order in which they are hashed.
    pub fingerprint_keys: Vec<String>,
    /// The cluster; `local` for processes on one machine.
    pub cluster: Cluster,
    /// The machines.
    pub nodes: Vec<Node>,
    /// The images that ran, by the digest that was observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Versions of software that matters to the numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub software: BTreeMap<String, String>,
    /// Other pods of the namespace that were on one of its nodes at the same time; those of benchmarks first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbors: Vec<Neighbor>,
    /// How many further ones are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub neighbors_left_out: u64,
}

/// Where a run took place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cluster {
    /// The cluster's name, or `local`.
    pub name: String,
    /// What ran the processes: `process`, `docker`, `podman`, `kubernetes`.
    pub engine: String,
    /// The Kubernetes version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// One machine. Facts that could not be read are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Node {
    /// A hash of its name, unless the name was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Kubernetes' `node.kubernetes.io/instance-type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// `amd64`, `arm64`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// As `/proc/cpuinfo` spells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Logical processors that this process may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_count: Option<u32>,
    /// Memory, within the limit of the control group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// `uname -r`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// `PRETTY_NAME` of `/etc/os-release`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_image: Option<String>,
    /// The frequency governor of the first processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// The hypervisor or container runtime around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<String>,
    /// Load average of one minute before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_before: Option<f64>,
    /// Its accelerators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<Gpu>,
    /// Labels of a Kubernetes node that say what it is: zone, instance, accelerators and their driver.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// One kind of accelerator of a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gpu {
    /// The product's name.
    pub product: String,
    /// How many.
    pub count: u32,
    /// Memory of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mi_b: Option<u64>,
    /// The driver's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

/// An image that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Image {
    /// The role whose container it is.
    pub role: String,
    /// As the spec names it.
    pub declared: String,
    /// The digest that ran; absent where no image ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
}

/// One metric of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metric {
    /// The name.
    pub name: String,
    /// Labels that distinguish it from metrics of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The unit; `1` for a pure number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// Its role.
    pub kind: Kind,
    /// The value; `null` where there is none, with a reason.
    #[schemars(required, extend("type" = ["number", "null"], "x-kubebench-nullable" = true))]
    pub value: Option<f64>,
    /// How several values were aggregated into one.
    pub aggregation: String,
    /// How many values counted.
    pub n: u64,
    /// How many of them are not finite.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub non_finite: u64,
    /// The values, evenly thinned to 10,000 at most; `null` is one that is not finite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": ["number", "null"], "x-kubebench-nullable": true}))]
    pub samples: Vec<Option<f64>>,
    /// Statistics of the values, when there are several and all are finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<Stats>,
    /// Where it was read.
    pub source: Source,
    /// Why there is no value, or what did not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither.
    None,
}

/// The role of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Kind {
    /// It represents the benchmark; a run without it is invalid.
    Primary,
    /// The spec asks for it.
    Secondary,
    /// It was measured without being asked for.
    Info,
}

/// Statistics of several values. Quantiles by linear interpolation (Hyndman & Fan 1996, type 7).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stats {
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation with n − 1.
    pub stddev: f64,
    /// The median.
    pub median: f64,
    /// The median of the absolute deviations from the median, not scaled.
    pub mad: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
    /// The 1st percentile.
    pub p01: f64,
    /// The 10th percentile.
    pub p10: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
}

/// Where a metric was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Source {
    /// The kind of source, or the tool: `log`, `json`, `torchtitan`, `duration`.
    pub parser: String,
    /// The log or file, by the name of its artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The rank of several in one log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The units in which values were printed, where they were converted into the metric's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub converted_from: Vec<String>,
    /// The pattern, pointer, column, key or query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Which of the values counted, as the spec says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
}

/// A quantity that was sampled during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Monitored {
    /// The name.
    pub name: String,
    /// The unit.
    pub unit: String,
    /// Seconds between two samples.
    pub step_seconds: f64,
    /// The samples, evenly thinned; `null` where there is none.
    #[schemars(extend("items" = {"type": ["number", "null"], "x-kubebench-nullable": true}))]
    pub samples: Vec<Option<f64>>,
    /// How many samples there were.
    pub n: u64,
}

/// The server that a run put under load, which may outlive it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Server {
    /// The kind of its object, such as `Deployment`.
    pub kind: String,
    /// Its name; runs with the same session and name used the same server.
    pub name: String,
    /// Whether this run started it.
    pub brought_up: bool,
    /// How often it was put under load before it was measured.
    pub warmups: u32,
    /// Where the time went until it was ready, whichever run started it.
    pub timings: Timings,
}

/// What a run cost, by the prices of the project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cost {
    /// The currency's code.
    pub currency: String,
    /// The sum.
    pub amount: f64,
    /// Accelerators times hours.
    pub gpu_hours: f64,
    /// Where the prices are from.
    pub price_source: String,
}

/// The checks that had to pass for a run to count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Validity {
    /// Every check of the spec, and what was found.
    pub checks: Vec<CheckOutcome>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckOutcome {
    /// What is checked, such as `loss is finite`.
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// What was found.
    pub observed: String,
}

/// A file that a run left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Artifact {
    /// Its path below the run's output folder; `result/…` for what `postprocess` wrote.
    pub name: String,
    /// SHA-256 of its bytes.
    pub digest: String,
    /// Its size.
    pub bytes: u64,
    /// Whether secrets were redacted in it. Logs are kept as they were printed.
    pub redacted: bool,
    /// Bytes that were cut out of the middle, because the log was over its limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
}

/// The report of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Native {
    /// The log or file that holds it.
    pub artifact: String,
    /// Its text; left out when it is over 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Who wrote a result file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recorder {
    /// The version of Kubebench.
    pub version: String,
    /// How the run was followed: `local` or `cluster`.
    pub method: String,
}
