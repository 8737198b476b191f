//! The types by which steps of version 0.1.0 read the contract before compiler and steps shared theirs.

use std::collections::BTreeMap;

use kubebench_contract::{Prices, Run, Served};
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunList {
    pub(crate) benchmark: String,
    pub(crate) run: u32,
    pub(crate) run_digest: String,
    pub(crate) parallelism: u32,
    pub(crate) queue_timeout_seconds: u64,
    pub(crate) cases: BTreeMap<String, Case>,
    #[serde(default)]
    pub(crate) servers: BTreeMap<String, Server>,
    #[serde(default)]
    pub(crate) prepare: Option<StepJob>,
    pub(crate) runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) values: BTreeMap<String, Json>,
    pub(crate) inputs: Json,
    pub(crate) timeout_seconds: u64,
    pub(crate) manifest: String,
    pub(crate) objects: Vec<Described>,
    #[serde(default)]
    pub(crate) served: Option<Served>,
    #[serde(default)]
    pub(crate) server: Option<String>,
    #[serde(default)]
    pub(crate) postprocess: Option<StepJob>,
    #[serde(default)]
    pub(crate) workload_digest: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Server {
    pub(crate) manifest: String,
    pub(crate) objects: Vec<Described>,
    pub(crate) served: Served,
    pub(crate) warmups: u32,
}

#[derive(Deserialize)]
pub(crate) struct StepJob {
    pub(crate) manifest: String,
    pub(crate) objects: Vec<Described>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "as the run list has them")]
pub(crate) struct Described {
    pub(crate) name_at: Vec<String>,
    pub(crate) labels_at: Vec<String>,
    #[serde(default)]
    pub(crate) endpoint_at: Vec<String>,
    #[serde(default)]
    pub(crate) server_at: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct SuiteList {
    pub(crate) suite: String,
    pub(crate) benchmarks: Vec<Member>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Member {
    pub(crate) benchmark: String,
    pub(crate) needs: Vec<String>,
    pub(crate) run_digest: String,
    pub(crate) runs: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct Settings {
    pub(crate) target: String,
    pub(crate) cluster: String,
    #[serde(default)]
    pub(crate) prometheus: Option<Prometheus>,
    #[serde(default)]
    pub(crate) prices: Option<Prices>,
    pub(crate) results: ResultsSettings,
}

#[derive(Deserialize)]
pub(crate) struct Prometheus {
    pub(crate) url: String,
}

#[derive(Deserialize)]
pub(crate) struct ResultsSettings {
    pub(crate) mode: String,
    #[serde(default)]
    pub(crate) remote: Option<String>,
    pub(crate) branch: String,
    pub(crate) directory: String,
    pub(crate) inbox: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct About {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) source: SpecSource,
    pub(crate) log_limit_bytes: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct SpecSource {
    pub(crate) path: String,
    pub(crate) digest: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rules {
    pub(crate) schema_version: u32,
    #[serde(default)]
    pub(crate) metrics: Vec<Json>,
    #[serde(default)]
    pub(crate) checks: Vec<Json>,
}
