//! The immutable ConfigMap: the run list and every job manifest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Run;
use super::Served;
use super::{Fault, Order, read, write};

/// The ConfigMap of one benchmark.
#[derive(Clone, Debug)]
pub struct Config {
    pub list: RunList,
    pub(super) files: BTreeMap<String, String>,
}

/// `runs.json`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunList {
    pub benchmark: String,
    /// `spec.run`
    pub run: u32,
    /// The identity of what is executed: `sha256:` and 64 hex digits.
    pub run_digest: String,
    /// The order of the runs of several cases.
    pub order: Order,
    /// How many runs may be in the cluster at once.
    pub parallelism: u32,
    /// How long a run may wait until all its pods are scheduled.
    pub queue_timeout_seconds: u64,
    /// The cases, by id.
    pub cases: BTreeMap<String, Case>,
    /// What several cases load, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, Server>,
    /// The Job before the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<StepJob>,
    /// The runs, in the order of execution.
    pub runs: Vec<Run>,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// As shown to people, with the spelling of every value.
    pub name: String,
    /// The value of each axis, which may have lost the spelling of a number.
    pub values: BTreeMap<String, Json>,
    /// What its runs read.
    pub inputs: Json,
    /// How long a run may take from the start of its job.
    pub timeout_seconds: u64,
    /// The file of its objects.
    pub manifest: String,
    /// Its objects, in the order of the file's documents: the workload first.
    pub objects: Vec<Described>,
    /// How its objects answer, where they are a server that the run is to see ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
    /// The id of the server that its Job loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The Job after each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postprocess: Option<StepJob>,
    /// The identity of what it executes, without images; absent in trees of an older compiler.
    #[serde(default)]
    pub workload_digest: Option<String>,
}

/// A server that outlives its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// The file of its objects.
    pub manifest: String,
    /// Its objects, in the order of the file's documents: the server first.
    pub objects: Vec<Described>,
    /// How it answers.
    pub served: Served,
    /// How often the first run loads it before it is measured.
    pub warmups: u32,
}

/// A Job outside the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepJob {
    /// The file of its object.
    pub manifest: String,
    pub objects: Vec<Described>,
}

/// Where the name and the labels of a run are written in one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Described {
    /// Its kind, for people.
    pub kind: String,
    /// JSON Pointers to what takes the name of the run's job.
    pub name_at: Vec<String>,
    /// JSON Pointers to mappings that take the labels of the run.
    pub labels_at: Vec<String>,
    /// JSON Pointers to what takes the address of the server that the run loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoint_at: Vec<String>,
    /// JSON Pointers to what takes its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_at: Vec<String>,
}

impl RunList {
    /// Its key in the ConfigMap.
    pub const FILE: &str = "runs.json";

    /// Returns its text.
    pub fn write(&self) -> String {
        write(self)
    }
}

impl Config {
    /// Reads the ConfigMap's `files`, by key.
    ///
    /// # Errors
    /// Why they cannot be used; without any, that the session is superseded.
    pub fn read(files: BTreeMap<String, String>) -> Result<Self, Fault> {
        if files.is_empty() {
            return Err(Fault::Superseded);
        }
        let list: RunList = read(RunList::FILE, text(&files, RunList::FILE)?)?;
        let lost = |case: &Case| case.server.clone().filter(|server| !list.servers.contains_key(server));
        if let Some((case, server)) = list.cases.iter().find_map(|(id, case)| Some((id, lost(case)?))) {
            let reason = format!("the case `{case}` loads the server `{server}`, which does not exist");
            return Err(Fault::Malformed { file: RunList::FILE.to_owned(), reason });
        }
        if let Some(run) = list.runs.iter().find(|run| !list.cases.contains_key(&run.case)) {
            let reason = format!("the run `{}` is of the case `{}`, which does not exist", run.id, run.case);
            return Err(Fault::Malformed { file: RunList::FILE.to_owned(), reason });
        }
        Ok(Self { list, files })
    }

    /// Returns the texts of the ConfigMap, by key.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Returns a run with its case.
    ///
    /// # Errors
    /// If there is no run of this id.
    pub fn run(&self, id: &str) -> Result<(&Run, &Case), Fault> {
        let run = self.list.runs.iter().find(|run| run.id == id);
        let case = run.and_then(|run| self.list.cases.get(&run.case));
        run.zip(case).ok_or_else(|| Fault::UnknownRun { id: id.to_owned() })
    }
}

pub(super) fn text<'a>(files: &'a BTreeMap<String, String>, file: &str) -> Result<&'a str, Fault> {
    files.get(file).map(String::as_str).ok_or_else(|| Fault::Missing { file: file.to_owned() })
}
