//! `kind: Benchmark`: what is run, how often, and what is measured.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::container::{EnvValue, LabelValue, Resources};
use super::fixture::Fixture;
use super::metric::{Check, Gate, Metric};
use super::placement::Placement;
use super::scalar::{
    Count, CountFromZero, Cron, Dns1123Label, Duration, Flag, ImageRef, Number, PerCase, Quantity, RunNumber, Text,
    TimeZone,
};
use super::suppression::Suppression;
use super::variant::Variant;

/// One benchmark: what is run, on which targets, in which cases, how often, and what is measured.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Benchmark {
    /// The version of this format.
    #[schemars(extend("enum" = ["kubebench.dev/v1"], "examples" = ["kubebench.dev/v1"]))]
    pub api_version: String,
    /// The kind of this document.
    #[schemars(extend("enum" = ["Benchmark"], "examples" = ["Benchmark"]))]
    pub kind: String,
    /// The benchmark's name and labels.
    #[schemars(extend("examples" = [{"name": "resnet50-ddp", "labels": {"team": "vision"}}]))]
    pub metadata: Metadata,
    /// What is run and measured.
    #[schemars(extend("examples" = [{"workload": {"job": {"image": "docker.io/library/python:3.13-slim", "command": ["python3", "-V"]}}}]))]
    pub spec: BenchmarkSpec,
}

/// Name and labels.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The name, unique among all specs: lower-case letters, digits and `-`, starting with a letter, at most 31 characters.
    #[schemars(extend("format" = "benchmark-name", "examples" = ["resnet50-ddp"]))]
    pub name: String,
    /// Labels for `--select` and reports; they are outside the run digest.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"team": "vision"}], "propertyNames" = {"format": "label-key"}))]
    pub labels: BTreeMap<String, LabelValue>,
}

/// What is run and measured.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("anyOf" = [{"required": ["workload"]}, {"required": ["variants"]}]))]
pub struct BenchmarkSpec {
    /// Names of fragments whose fields the benchmark has unless it says otherwise. A later one overrides an earlier one. Mappings merge by key; metrics, checks and gates by name; everything else is replaced; `null` removes.
    #[serde(default)]
    #[schemars(extend("default" = [], "uniqueItems" = true, "examples" = [["h100-node"]]))]
    pub extends: Vec<Dns1123Label>,
    /// What the benchmark is for.
    #[serde(default)]
    #[schemars(extend("default" = "", "examples" = ["ResNet-50 on synthetic data, PyTorch DDP"]))]
    pub description: Option<Text>,
    /// Names of targets in `kubebench.yaml`; without it, every target.
    #[serde(default)]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true, "examples" = [["gpu-eu"]]))]
    pub targets: Option<Vec<String>>,
    /// Raise it to run again with nothing else changed.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    pub run: Option<RunNumber>,
    /// Runs on a schedule (a CronWorkflow) instead of once.
    #[serde(default)]
    #[schemars(extend("examples" = [{"cron": "0 3 * * 1", "timezone": "Etc/UTC"}]))]
    pub schedule: Option<Schedule>,
    /// Named constants for `${{ parameters.NAME }}`.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"epochs": 2}], "propertyNames" = {"format": "parameter-name"}))]
    pub parameters: BTreeMap<String, AxisValue>,
    /// The cases: every combination of the axes' values.
    #[serde(default)]
    #[schemars(extend("examples" = [{"axes": {"batchSize": [64, 128]}}]))]
    pub matrix: Option<Matrix>,
    /// How often each case is measured.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [5]))]
    pub repeats: Option<Count>,
    /// Runs of each case before the measured ones; they are kept and never enter the statistics.
    #[serde(default)]
    #[schemars(extend("default" = 0, "examples" = [1]))]
    pub warmups: Option<CountFromZero>,
    /// Whether repeats alternate between the cases (c1 c2 c1 c2), which spreads drift evenly, or stay together (c1 c1 c2 c2).
    #[serde(default)]
    #[schemars(extend("default" = "interleaved", "examples" = ["grouped"]))]
    pub order: Option<Order>,
    /// How many runs may be in the cluster at once.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [4]))]
    pub parallelism: Option<Count>,
    /// How long one run may take from the start of its job.
    #[serde(default)]
    #[schemars(extend("default" = "24h", "examples" = ["2h"]))]
    pub timeout: PerCase<Duration>,
    /// How long one run may wait for its pods to be scheduled.
    #[serde(default)]
    #[schemars(extend("default" = "24h", "examples" = ["6h"]))]
    pub queue_timeout: Option<Duration>,
    /// What all runs on each target together may cost; a spec that could exceed it is refused.
    #[serde(default)]
    #[schemars(extend("examples" = [{"gpuHours": 100}]))]
    pub budget: Option<Budget>,
    /// What is run: exactly one kind.
    #[serde(default)]
    #[schemars(extend("examples" = [{"job": {"image": "docker.io/library/python:3.13-slim", "command": ["python3", "-V"]}}]))]
    pub workload: PerCase<Workload>,
    /// How the pods of a run are placed relative to each other.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"together": ["launcher", "worker"]}, {"spread": "worker", "over": "topology.kubernetes.io/rack"}]]))]
    pub placement: PerCase<Vec<Placement>>,
    /// The same benchmark in several forms, to be compared: each has every case of the matrix. Where each has a `workload`, the benchmark needs none.
    #[serde(default)]
    #[schemars(extend("minItems" = 2, "examples" = [[{"name": "small", "workload": {"job": {"resources": {"cpu": 2, "memory": "4Gi"}}}}, {"name": "large", "workload": {"job": {"resources": {"cpu": 8, "memory": "16Gi"}}}}]]))]
    pub variants: Option<Vec<Variant>>,
    /// What is measured.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"name": "throughput", "unit": "images/s", "better": "higher", "primary": true, "from": {"log": {"pattern": "images/sec: (?P<value>\\S+)"}}}]]))]
    pub metrics: Vec<Metric>,
    /// Conditions for a run to count; a run that fails one is `invalid` and is never averaged.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"metric": "loss", "finite": true}, {"restarts": 0}]]))]
    pub checks: Vec<Check>,
    /// The rules of `kubebench gate`.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"metric": "throughput", "maxRegression": "3%"}]]))]
    pub gates: Vec<Gate>,
    /// Kept logs and the values that the metrics must find in them: they test the extraction and start nothing.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"log": "fixtures/resnet50.log", "expect": {"throughput": 1234.5}}]]))]
    pub fixtures: Vec<Fixture>,
    /// What the runs read: recorded with every result, and part of the run digest.
    #[serde(default)]
    #[schemars(extend("examples" = [{"seed": 42}]))]
    pub inputs: PerCase<Inputs>,
    /// A Job before the runs, such as staging a data set.
    #[serde(default)]
    #[schemars(extend("examples" = [{"image": "docker.io/library/busybox:1.37.0", "command": ["true"]}]))]
    pub prepare: Option<StepJob>,
    /// A Job after each run; it reads `KUBEBENCH_EXP_OUTPUT_PATH` and writes `KUBEBENCH_EXP_RESULT_PATH/result.json`.
    #[serde(default)]
    #[schemars(extend("examples" = [{"image": "docker.io/library/busybox:1.37.0", "command": ["true"]}]))]
    pub postprocess: PerCase<StepJob>,
    /// Where results are kept in the cluster until they are in git.
    #[serde(default)]
    #[schemars(extend("examples" = [{"claim": {"size": "20Gi"}}]))]
    pub results: Option<Results>,
    /// Lints whose warnings about this spec are not reported, by code, each with the reason.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"KB0411": {"level": "allow", "reason": "The cluster ends runs after 6 h"}}], "propertyNames" = {"format": "lint-code"}))]
    pub lints: BTreeMap<String, Suppression>,
}

/// The order of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Order {
    /// c1 c2 c1 c2
    Interleaved,
    /// c1 c1 c2 c2
    Grouped,
}

/// When to run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The times, as five cron fields.
    pub cron: Cron,
    /// The time zone that the fields are in.
    #[serde(default)]
    #[schemars(extend("default" = "Etc/UTC"))]
    pub timezone: Option<TimeZone>,
}

/// A text, number or boolean, or an expression that gives one.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisValue;

impl JsonSchema for AxisValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AxisValue".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

impl<'de> Deserialize<'de> for AxisValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// The cases of a benchmark.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Matrix {
    /// Axes with their values; every combination is a case.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"batchSize": [64, 128], "workers": [1, 2, 4]}], "propertyNames" = {"format": "parameter-name"}))]
    pub axes: BTreeMap<String, Vec<AxisValue>>,
    /// Axes that go in step: the n-th value of each belongs to the n-th value of the others. Together they are one axis, which combines with those of `axes`.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"workers": [2, 3], "ranks": [16, 24]}], "propertyNames" = {"format": "parameter-name"}))]
    pub zip: BTreeMap<String, Vec<AxisValue>>,
    /// Further cases; each names every axis.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"batchSize": 256, "workers": 8}]]))]
    pub include: Vec<BTreeMap<String, AxisValue>>,
    /// Combinations to leave out; each names some axes and removes every case that matches.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"batchSize": 128, "workers": 1}]]))]
    pub exclude: Vec<BTreeMap<String, AxisValue>>,
}

/// Upper bounds on what all runs on each target together may use, warm-ups and timeouts in full included.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// GPU-hours: accelerators times timeout times runs.
    #[serde(default)]
    #[schemars(extend("minimum" = 0, "examples" = [100]))]
    pub gpu_hours: Option<Number>,
    /// Money, in the currency of the target's prices.
    #[serde(default)]
    #[schemars(extend("minimum" = 0, "examples" = [250]))]
    pub cost: Option<Number>,
}

/// What is run: exactly one workload kind. The kinds' own schemas are added when the schema is generated.
#[derive(Clone, Debug)]
pub struct Workload;

impl JsonSchema for Workload {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object", "minProperties": 1, "maxProperties": 1, "properties": {},
            "description": "What is run: exactly one workload kind.",
        })
    }
}

/// What the runs read.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inputs {
    /// The data set.
    #[serde(default)]
    #[schemars(extend("examples" = [{"uri": "s3://data/imagenet", "revision": "2026-01"}]))]
    pub dataset: Option<Artifact>,
    /// The model.
    #[serde(default)]
    #[schemars(extend("examples" = [{"uri": "hf://meta-llama/Llama-3.1-8B", "revision": "0e9e39f"}]))]
    pub model: Option<Artifact>,
    /// The seed of random numbers.
    #[serde(default)]
    #[schemars(extend("type" = ["integer", "string"], "pattern" = super::scalar::LOOKUP_PATTERN, "examples" = [42]))]
    pub seed: Option<u64>,
}

/// Something that the runs read and that can change under its name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Where it is.
    #[schemars(extend("examples" = ["s3://data/imagenet"]))]
    pub uri: Text,
    /// Which version of it.
    #[serde(default)]
    #[schemars(extend("examples" = ["2026-01"]))]
    pub revision: Option<Text>,
    /// The SHA-256 of its content.
    #[serde(default)]
    #[schemars(extend("format" = "sha256", "examples" = ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]))]
    pub sha256: Option<Text>,
}

/// A Job of one pod before or after the runs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepJob {
    /// The image of the container.
    pub image: ImageRef,
    /// The program and its first arguments, one word per element.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [["python3", "stage.py"]]))]
    pub command: Vec<Text>,
    /// Arguments; a number is passed as its text.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [["--split", "train"]]))]
    pub args: Vec<Text>,
    /// Environment variables: text, or where the value comes from.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"LOG_LEVEL": "info"}], "propertyNames" = {"format": "env-name"}))]
    pub env: BTreeMap<String, EnvValue>,
    /// Resources of the pod.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"cpu": 2, "memory": "4Gi"}]))]
    pub resources: Option<Resources>,
    /// How long it may take.
    #[serde(default)]
    #[schemars(extend("default" = "24h", "examples" = ["30m"]))]
    pub timeout: Option<Duration>,
}

/// Where results are kept in the cluster until they are in git.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    /// The PersistentVolumeClaim for logs and results.
    #[serde(default)]
    #[schemars(extend("examples" = [{"size": "20Gi", "accessModes": ["ReadWriteOnce"]}]))]
    pub claim: Option<Claim>,
    /// Lets the main containers of the workload write into the output folder of their run on this volume, at `$KUBEBENCH_EXP_OUTPUT_PATH`.
    #[serde(default)]
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub mount_in_job: Option<Flag>,
    /// How much of each replica's log is kept: of a longer one the first and the last half. Metrics are read from all of it.
    #[serde(default)]
    #[schemars(extend("default" = "2Gi", "examples" = ["100Mi"]))]
    pub log_limit: Option<Quantity>,
}

/// A PersistentVolumeClaim. It can grow later; class and access modes never change.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// How large it is.
    #[serde(default)]
    #[schemars(extend("default" = "10Gi", "examples" = ["20Gi"]))]
    pub size: Option<Quantity>,
    /// The StorageClass; without it the target's, else the cluster's default.
    #[serde(default)]
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["fast"]))]
    pub storage_class: Option<String>,
    /// How it may be mounted.
    #[serde(default)]
    #[schemars(extend("default" = ["ReadWriteOnce"], "minItems" = 1, "uniqueItems" = true, "examples" = [["ReadWriteMany"]]))]
    pub access_modes: Option<Vec<AccessMode>>,
}

/// How a volume may be mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum AccessMode {
    /// By the pods of one node.
    ReadWriteOnce,
    /// By the pods of many nodes.
    ReadWriteMany,
    /// By one pod.
    ReadWriteOncePod,
}
