//! One attempt at a run, as it is kept on the volume: what a step that was killed finds again.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::server::Loaded;
use super::volume_state::{self, Found};
use crate::collect::Ended;
use crate::observe::neighbor::Neighbors;
use kubebench_contract::{Case, Config};
use kubebench_contract::{Run, instance};
use kubebench_format::result::Composition;
use kubebench_format::result::v1::{Image, Node, Usage};
use kubebench_host::experiment::RunFolder;
use kubebench_host::machine;

/// The file of an attempt, in its folder.
pub(super) const FILE: &str = "attempt.json";
/// The largest file of an attempt: reasons, exits with last lines, a node for each pod.
const MAX_BYTES: usize = 8 << 20;
const SCHEMA_VERSION: u32 = 1;
/// The seconds that a clock may show, or that may have passed.
const TIMES: std::ops::Range<f64> = 0.0..1e12;

/// A moment of the clock of the node that a step ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Moment {
    /// As people write it.
    pub(super) text: String,
    /// Seconds since the Unix epoch.
    pub(super) seconds: f64,
}

impl Moment {
    /// Returns this moment.
    pub(super) fn now() -> Self {
        let (text, seconds) = machine::now();
        Self { text, seconds }
    }

    /// Returns the seconds since then, by a clock that may have been set meanwhile.
    pub(super) fn age(&self) -> f64 {
        (machine::now().1 - self.seconds).max(0.0)
    }
}

/// The Workflow that an attempt belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Workflow {
    pub(super) name: String,
    pub(super) uid: String,
    /// Whether it is one of many of a schedule.
    pub(super) is_scheduled: bool,
}

/// What is known of an attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attempt {
    schema_version: u32,
    pub(super) benchmark: String,
    /// The name of its job, which is that of its folder.
    pub(super) job: String,
    pub(super) run: Run,
    /// From 1.
    pub(super) number: u32,
    /// The id of its result.
    pub(super) id: String,
    /// Whose it is.
    pub(super) workflow: Workflow,
    /// The case as shown to people.
    pub(super) case_name: String,
    /// The identity of what it executes, images apart.
    #[serde(default)]
    pub(super) workload_digest: Option<String>,
    /// The value of each axis.
    pub(super) values: BTreeMap<String, Json>,
    /// What it reads.
    pub(super) inputs: Json,
    /// The identity of what is executed.
    pub(super) run_digest: String,
    /// `spec.run`
    pub(super) spec_run: u32,
    /// How long it may take until all its pods run.
    pub(super) queue_timeout_seconds: u64,
    /// How long from then on.
    pub(super) timeout_seconds: u64,
    /// When the step began with it.
    pub(super) began: Moment,
    /// The same by a monotonic clock; none in a step that was started again.
    #[serde(skip)]
    clock: Option<Instant>,
    /// The job once it was created, by its resource and uid.
    pub(super) created: Option<Created>,
    /// When that was.
    #[serde(default)]
    pub(super) created_at: Option<Moment>,
    /// The server that it loads, once that was ready.
    #[serde(default)]
    pub(super) loaded: Option<Loaded>,
    /// When all its pods ran.
    pub(super) running_since: Option<Moment>,
    /// The pods of others that shared a node with it so far, by uid.
    #[serde(default)]
    pub(super) neighbors: Neighbors,
    /// How it ended, once it has.
    pub(super) outcome: Option<Outcome>,
    /// Whether a Job after it is still to come, should it succeed.
    #[serde(default)]
    pub(super) awaits_postprocess: bool,
}

/// The object of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Created {
    /// `kubeflow.org/v1`
    pub(super) api_version: String,
    /// `PyTorchJob`
    pub(super) kind: String,
    /// Its name: that of the attempt's job, unless it keeps its own.
    pub(super) name: String,
    pub(super) uid: String,
}

/// How an attempt ended, and what was seen of it until then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    /// Status, reasons, exits, timings.
    pub(super) ended: Ended,
    /// When.
    pub(super) finished: Moment,
    /// Seconds from its begin.
    pub(super) took_seconds: f64,
    /// The images that ran.
    pub(super) images: Vec<Image>,
    /// What it held of the cluster; nothing without a job.
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    /// The machines that it ran on.
    pub(super) nodes: Vec<Node>,
    /// The Kubernetes version.
    pub(super) cluster_version: Option<String>,
    /// What it was made of, where the cluster divides it.
    #[serde(default)]
    pub(super) composition: Composition,
    /// Its logs, once they are whole.
    pub(super) logs: Option<Vec<LogOf>>,
}

/// One log of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogOf {
    pub(super) role: String,
    /// The replica.
    pub(super) index: u32,
    /// Whether the rules look at it: that of the container that does the work.
    pub(super) is_main: bool,
    /// Its name below the output folder.
    pub(super) name: String,
    /// How many bytes its limit cut out.
    pub(super) dropped: u64,
    /// Why it is not all that was printed.
    pub(super) fault: Option<String>,
    pub(super) last_lines: Vec<String>,
}

impl Attempt {
    /// Begins attempt `number` at `run`.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub(super) fn begin(
        config: &Config,
        run: &Run,
        case: &Case,
        number: u32,
        job: &str,
        workflow: Workflow,
    ) -> Result<Self> {
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            benchmark: config.list.benchmark.clone(),
            job: job.to_owned(),
            run: run.clone(),
            number,
            id: machine::random_id()?,
            workflow,
            case_name: case.name.clone(),
            workload_digest: case.workload_digest.clone(),
            values: case.values.clone(),
            inputs: case.inputs.clone(),
            run_digest: config.list.run_digest.clone(),
            spec_run: config.list.run,
            queue_timeout_seconds: config.list.queue_timeout_seconds,
            timeout_seconds: case.timeout_seconds,
            began: Moment::now(),
            clock: Some(Instant::now()),
            created: None,
            created_at: None,
            loaded: None,
            running_since: None,
            neighbors: Neighbors::new(),
            outcome: None,
            awaits_postprocess: case.postprocess.is_some(),
        })
    }

    /// Reads the attempt of `benchmark` whose job is called `job`.
    ///
    /// # Errors
    /// When the volume cannot be read.
    pub(super) fn read(experiments: &Path, benchmark: &str, job: &str) -> Result<Found<Self>> {
        volume_state::look(experiments, job, FILE, MAX_BYTES, |bytes| Self::judge(bytes, benchmark, job))
    }

    fn judge(bytes: &[u8], benchmark: &str, job: &str) -> Result<Self, String> {
        let known: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if known.schema_version != SCHEMA_VERSION {
            return Err(format!(
                "it has schemaVersion {}, but this program reads {SCHEMA_VERSION}",
                known.schema_version
            ));
        }
        let Self { run, number, .. } = &known;
        let session = known.workflow.session();
        let name = instance::job_name(benchmark, &known.run_digest, &run.case, &run.round(), *number, session);
        let outcome = known.outcome.as_ref();
        let moments = [
            Some(&known.began),
            known.created_at.as_ref(),
            known.running_since.as_ref(),
            outcome.map(|outcome| &outcome.finished),
        ];
        let seconds = moments.into_iter().flatten().map(|moment| moment.seconds);
        if seconds.chain(outcome.map(|outcome| outcome.took_seconds)).any(|seconds| !TIMES.contains(&seconds)) {
            return Err("it contains an impossible time".to_owned());
        }
        let is_own = name == job && known.job == job && known.benchmark == benchmark;
        if is_own { Ok(known) } else { Err(volume_state::of_another(&name, job)) }
    }

    /// Keeps what is known.
    ///
    /// # Errors
    /// When the volume does not take it.
    pub(super) fn keep(&self, experiments: &Path) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self).context("cannot write an attempt as JSON")?;
        let written = self.open(experiments)?.put(FILE, &bytes);
        written.with_context(|| format!("cannot write {}", self.folder(experiments).join(FILE).display()))
    }

    /// Returns the seconds since it began.
    pub(super) fn age(&self) -> f64 {
        self.clock.map_or_else(|| self.began.age(), |clock| clock.elapsed().as_secs_f64())
    }

    /// Returns for how long its job has been waited for: not before its server was ready.
    pub(super) fn waited(&self) -> Duration {
        let since = self.loaded.as_ref().map_or_else(|| self.age(), |loaded| loaded.since.age());
        Duration::from_secs_f64(since)
    }

    /// Opens its folder, whatever a job has put there instead.
    ///
    /// # Errors
    /// When the volume does not take it.
    pub(super) fn open(&self, experiments: &Path) -> Result<RunFolder> {
        let opened = RunFolder::make(experiments, &self.job);
        opened.with_context(|| format!("cannot open {}", self.folder(experiments).display()))
    }

    /// Returns its folder.
    pub(super) fn folder(&self, experiments: &Path) -> PathBuf {
        experiments.join(&self.job)
    }
}
