//! What is known of a server, as it is kept on the volume in a folder of its name, so that the step of the next run finds it
//! again.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::super::attempt::{Created, Moment};
use super::super::follow::is_absent;
use super::super::session::ClusterStep;
use kubebench_format::result::v1::{Image, Node, Server as InResult, Timings, Usage};
use kubebench_host::experiment::RunFolder;

/// The file of a server, in its folder.
const FILE: &str = "server.json";
const MAX_BYTES: usize = 4 << 20;
const SCHEMA_VERSION: u32 = 1;

/// A server of this Workflow, as it is kept on the volume.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Kept {
    schema_version: u32,
    /// The uid of the Workflow; nothing once the server was taken down.
    workflow: String,
    /// When its objects were created.
    pub(super) began: Moment,
    /// All that is created for it, itself last, whether or not it is there yet: none of them has a uid here.
    pub(super) objects: Vec<Created>,
    /// Its object, once it was created.
    pub(super) created: Option<Created>,
    /// What it is, once it is ready.
    pub(super) up: Option<Up>,
    /// How often it was loaded before it was measured.
    pub(super) warmups: u32,
    /// How far its logs were read, by their names.
    pub(super) marks: BTreeMap<String, String>,
}

impl Kept {
    /// Begins with a server of this Workflow of which nothing is there yet.
    pub(super) fn begin(workflow: &str, objects: Vec<Created>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            workflow: workflow.to_owned(),
            began: Moment::now(),
            objects,
            created: None,
            up: None,
            warmups: 0,
            marks: BTreeMap::new(),
        }
    }
}

/// A server that is ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::step) struct Up {
    pub(in crate::step) name: String,
    /// The name of its folder, which is the same unless it keeps one of its own.
    pub(super) folder: String,
    pub(in crate::step) kind: String,
    /// Scheme, host and port; whatever path its controller gives.
    pub(in crate::step) endpoint: String,
    /// When its object was created.
    pub(in crate::step) began: Moment,
    /// Where the time went until it was ready.
    pub(in crate::step) timings: Timings,
    /// How often each of its pods had been restarted, by uid.
    pub(in crate::step) pods: BTreeMap<String, i64>,
    /// The images that serve.
    pub(in crate::step) images: Vec<Image>,
    /// The machines that serve.
    pub(in crate::step) nodes: Vec<Node>,
    /// The roles of its pods.
    pub(super) roles: Vec<String>,
    /// What it holds of the cluster.
    pub(in crate::step) usage: Usage,
}

/// The server of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::step) struct Loaded {
    pub(in crate::step) up: Up,
    /// Whether this attempt started it.
    pub(in crate::step) is_new: bool,
    /// How often it was loaded before it was measured.
    pub(in crate::step) warmups: u32,
    /// Since when it could be loaded.
    pub(in crate::step) since: Moment,
}

impl Loaded {
    /// Returns what a result says of it.
    pub(in crate::step) fn in_result(&self) -> InResult {
        let Up { name, kind, timings, .. } = &self.up;
        let (kind, name) = (kind.clone(), name.clone());
        InResult { kind, name, brought_up: self.is_new, warmups: self.warmups, timings: *timings }
    }

    /// Returns the roles of the pods that serve.
    pub(in crate::step) fn roles(&self) -> &[String] {
        &self.up.roles
    }
}

impl Up {
    /// Returns what the label of a run says on its pods.
    pub(in crate::step) fn label(&self) -> &str {
        &self.folder
    }
}

impl ClusterStep {
    /// Reads what is kept of the server `name` of this Workflow.
    pub(super) fn kept(&self, name: &str) -> Option<Kept> {
        let bytes = RunFolder::open(&self.experiments, name).ok()?.read(FILE, MAX_BYTES).ok()??;
        let kept: Kept = serde_json::from_slice(&bytes).ok()?;
        (kept.schema_version == SCHEMA_VERSION && kept.workflow == self.workflow.uid).then_some(kept)
    }

    /// Forgets the server `name`: nothing of it is there any more.
    pub(super) fn forget_server(&mut self, name: &str) -> Result<()> {
        match self.kept(name) {
            Some(kept) => self.keep_server(name, &Kept { workflow: String::new(), ..kept }),
            None => Ok(()),
        }
    }

    /// Keeps what is known of the server `name`.
    pub(super) fn keep_server(&mut self, name: &str, kept: &Kept) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(kept).context("cannot write a server as JSON")?;
        let experiments = self.experiments.clone();
        self.write(|| RunFolder::make(&experiments, name)?.put(FILE, &bytes))
            .with_context(|| format!("cannot write {}", experiments.join(name).join(FILE).display()))
    }

    /// Returns the object of a server as it is now, if it is there.
    pub(super) fn server_of(&self, kept: &Kept) -> Result<Option<Json>> {
        let Some(created) = &kept.created else { return Ok(None) };
        let Some(resource) = created.resource() else { return Ok(None) };
        let found = self.cluster.get(&resource, &self.namespace, &created.name);
        if is_absent(&found, &created.uid) { Ok(None) } else { Ok(found?) }
    }

    /// Keeps how far the logs of the server were read, for the next run.
    pub(in crate::step) fn leave_server(&mut self, loaded: &Loaded, marks: BTreeMap<String, String>) -> Result<()> {
        let Some(kept) = self.kept(&loaded.up.folder) else { return Ok(()) };
        self.keep_server(&loaded.up.folder, &Kept { marks, ..kept })
    }
}
