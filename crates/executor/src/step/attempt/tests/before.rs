//! The types by which steps of version 0.1.0 read an attempt. Parts of a result are JSON here: `format` holds their versions.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
pub(super) struct Moment {
    pub(super) text: String,
    pub(super) seconds: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Workflow {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) is_scheduled: bool,
}

#[derive(Deserialize)]
pub(super) struct Run {
    pub(super) repeat: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attempt {
    pub(super) schema_version: u32,
    pub(super) benchmark: String,
    pub(super) job: String,
    pub(super) run: Run,
    pub(super) number: u32,
    pub(super) id: String,
    pub(super) workflow: Workflow,
    pub(super) case_name: String,
    #[serde(default)]
    pub(super) workload_digest: Option<String>,
    pub(super) values: BTreeMap<String, Json>,
    pub(super) inputs: Json,
    pub(super) run_digest: String,
    pub(super) spec_run: u32,
    pub(super) queue_timeout_seconds: u64,
    pub(super) timeout_seconds: u64,
    pub(super) began: Moment,
    pub(super) created: Option<Created>,
    #[serde(default)]
    pub(super) created_at: Option<Moment>,
    #[serde(default)]
    pub(super) loaded: Option<Loaded>,
    pub(super) running_since: Option<Moment>,
    pub(super) outcome: Option<Outcome>,
    #[serde(default)]
    pub(super) awaits_postprocess: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Created {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Loaded {
    pub(super) up: Up,
    pub(super) is_new: bool,
    pub(super) warmups: u32,
}

#[derive(Deserialize)]
pub(super) struct Up {
    pub(super) folder: String,
    pub(super) endpoint: String,
    pub(super) pods: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    pub(super) ended: Json,
    pub(super) finished: Moment,
    pub(super) took_seconds: f64,
    pub(super) images: Vec<Json>,
    #[serde(default)]
    pub(super) usage: Option<Json>,
    pub(super) nodes: Vec<Json>,
    pub(super) cluster_version: Option<String>,
    #[serde(default)]
    pub(super) composition: Json,
    pub(super) logs: Option<Vec<LogOf>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogOf {
    pub(super) role: String,
    pub(super) index: u32,
    pub(super) is_main: bool,
    pub(super) name: String,
    pub(super) dropped: u64,
    pub(super) fault: Option<String>,
    pub(super) last_lines: Vec<String>,
}
