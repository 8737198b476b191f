//! One attempt at a run, as it is kept on the volume: what a step that was killed finds again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::edge::experiment::{self, RunFolder};
use crate::edge::machine;
use crate::gather::Ended;
use crate::manifest::Run;
use crate::result::v1::{Image, Node};
use crate::result::{self, BenchmarkResult};
use crate::steps::{Case, Config};

/// The file of an attempt, in its folder.
const FILE: &str = "attempt.json";
/// Its result.
pub(super) const RESULT: &str = "result/result.json";
/// The largest file of an attempt: reasons, exits with last lines, a node for each pod.
const MAX_BYTES: usize = 8 << 20;
const SCHEMA_VERSION: u32 = 1;

/// A moment of the clock of the node that a step ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// As people write it.
    pub text: String,
    /// Seconds since the Unix epoch.
    pub seconds: f64,
}

impl Moment {
    /// Returns this moment.
    pub fn now() -> Self {
        let (text, seconds) = machine::now();
        Self { text, seconds }
    }

    /// Returns the seconds since then, by a clock that may have been set meanwhile.
    pub fn age(&self) -> f64 {
        (machine::now().1 - self.seconds).max(0.0)
    }
}

/// The Workflow that an attempt belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Whether it is one of many of a schedule.
    pub is_scheduled: bool,
}

/// What is known of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    schema_version: u32,
    /// The benchmark.
    pub benchmark: String,
    /// The name of its job, which is that of its folder.
    pub job: String,
    /// The run.
    pub run: Run,
    /// From 1.
    pub number: u32,
    /// The id of its result.
    pub id: String,
    /// Whose it is.
    pub workflow: Workflow,
    /// The case as shown to people.
    pub case_name: String,
    /// The value of each axis.
    pub values: BTreeMap<String, Json>,
    /// What it reads.
    pub inputs: Json,
    /// The identity of what is executed.
    pub run_digest: String,
    /// `spec.run`
    pub spec_run: u32,
    /// When the step began with it.
    pub began: Moment,
    /// The job once it was created, by its resource and uid.
    pub created: Option<Created>,
    /// When all its pods ran.
    pub running_since: Option<Moment>,
    /// How it ended, once it has.
    pub outcome: Option<Outcome>,
}

/// The object of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    /// `kubeflow.org/v1`
    pub api_version: String,
    /// `PyTorchJob`
    pub kind: String,
    /// Its uid.
    pub uid: String,
}

/// How an attempt ended, and what was seen of it until then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Status, reasons, exits, timings.
    pub ended: Ended,
    /// When.
    pub finished: Moment,
    /// Seconds from its begin.
    pub took_seconds: f64,
    /// The images that ran.
    pub images: Vec<Image>,
    /// The machines that it ran on.
    pub nodes: Vec<Node>,
    /// The Kubernetes version.
    pub cluster_version: Option<String>,
    /// Its logs, once they are whole.
    pub logs: Option<Vec<LogOf>>,
}

/// One log of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogOf {
    /// The role.
    pub role: String,
    /// The replica.
    pub index: u32,
    /// Whether the rules look at it: that of the container that does the work.
    pub is_main: bool,
    /// Its name below the output folder.
    pub name: String,
    /// How many bytes its limit cut out.
    pub dropped: u64,
    /// Why it is not all that was printed.
    pub fault: Option<String>,
    /// Its last lines.
    pub last_lines: Vec<String>,
}

impl Attempt {
    /// Begins attempt `number` at `run`.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn begin(config: &Config, run: &Run, case: &Case, number: u32, job: &str, workflow: Workflow) -> Result<Self> {
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            benchmark: config.list.benchmark.clone(),
            job: job.to_owned(),
            run: run.clone(),
            number,
            id: machine::random_id()?,
            workflow,
            case_name: case.name.clone(),
            values: case.values.clone(),
            inputs: case.inputs.clone(),
            run_digest: config.list.run_digest.clone(),
            spec_run: config.list.run,
            began: Moment::now(),
            created: None,
            running_since: None,
            outcome: None,
        })
    }

    /// Reads the attempt whose job is called `job`, if one was begun.
    ///
    /// # Errors
    /// When the volume cannot be read.
    pub fn read(experiments: &Path, job: &str) -> Result<Option<Self>> {
        let Some(bytes) = read(experiments, job, FILE, MAX_BYTES)? else { return Ok(None) };
        let known: Option<Self> = serde_json::from_slice(&bytes).ok();
        // What a job wrote over it is no attempt of ours.
        Ok(known.filter(|known| known.schema_version == SCHEMA_VERSION && known.job == job))
    }

    /// Keeps what is known.
    ///
    /// # Errors
    /// When the volume does not take it.
    pub fn keep(&self, experiments: &Path) -> Result<()> {
        let path = self.folder(experiments).join(FILE);
        let bytes = serde_json::to_vec_pretty(self).context("an attempt is no JSON")?;
        experiment::replace(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns its folder.
    pub fn folder(&self, experiments: &Path) -> PathBuf {
        experiments.join(&self.job)
    }
}

/// Returns the result of the job called `job`, if there is one that can be trusted.
///
/// # Errors
/// When the volume cannot be read.
pub fn result_of(experiments: &Path, job: &str) -> Result<Option<BenchmarkResult>> {
    let bytes = read(experiments, job, RESULT, result::MAX_BYTES)?;
    Ok(bytes.and_then(|bytes| result::read(&bytes).ok()).map(|sealed| sealed.result))
}

fn read(experiments: &Path, job: &str, file: &str, limit: usize) -> Result<Option<Vec<u8>>> {
    if !experiments.join(job).is_dir() {
        return Ok(None);
    }
    let shown = experiments.join(job).join(file);
    RunFolder::open(experiments, job)
        .and_then(|folder| folder.read(file, limit))
        .with_context(|| format!("cannot read {}", shown.display()))
}
