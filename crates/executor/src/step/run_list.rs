//! What a Workflow is to run, as its first step leaves it on the volume, where no job can write: by it the last step of this Workflow,
//! or of a later one, knows which results the steps can have made.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use serde::{Deserialize, Serialize};

use super::Environment;
use super::attempt::{Attempt, Workflow};
use super::inputs::{Inputs, RulesText};
use kubebench_contract::{RulesFile, Run, RunList};
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_host::experiment::RunFolder;
use kubebench_host::machine;
use kubebench_syntax::digest::Digest;

/// The folder of the lists on the volume: in it one of each Workflow, with a file for each benchmark.
const FOLDER: &str = ".workflows";
const SCHEMA_VERSION: u32 = 1;
/// The run list is from a ConfigMap, which is no larger.
const MAX_BYTES: usize = 2 << 20;
/// How far the clocks of a node and of the API server may be apart, in seconds.
const CLOCKS: i64 = 300;
/// What a tree of an older compiler says of a workload digest.
const NONE: &str = "none";

/// What a Workflow is to run of one benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptList {
    schema_version: u32,
    workflow: Workflow,
    /// When the API server took the Workflow.
    created: String,
    target: String,
    cluster: String,
    /// The rules when it began; they may change until a run ends.
    rules: Option<RulesOf>,
    list: RunList,
}

/// Which rules a result was read by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RulesOf {
    digest: String,
    spec_digest: String,
}

impl RulesOf {
    /// Returns which rules `text` has, if it has any.
    pub(super) fn of(text: &RulesText) -> Option<Self> {
        let text = text.rules.as_ref()?;
        let spec_digest = RulesFile::read(text).ok()?.source.digest;
        Some(Self { digest: Digest::of(text).to_string(), spec_digest })
    }
}

impl KeptList {
    /// Returns what the Workflow of this step is to run.
    ///
    /// # Errors
    /// When the step has no inputs.
    pub(super) fn of(environment: &Environment, inputs: &Inputs, rules: &RulesText) -> Result<Self> {
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            workflow: Workflow::of(environment)?,
            created: environment.workflow_created()?.to_owned(),
            target: inputs.settings.target.clone(),
            cluster: inputs.settings.cluster.clone(),
            rules: RulesOf::of(rules),
            list: inputs.config.list.clone(),
        })
    }

    /// Puts it on the volume.
    ///
    /// # Errors
    /// When the volume does not take it.
    pub(super) fn keep(&self, experiments: &Path) -> Result<()> {
        let folder = format!("{FOLDER}/{}", self.workflow.uid);
        let bytes = serde_json::to_vec(self).context("cannot write a run list as JSON")?;
        let kept = RunFolder::make(experiments, &folder).and_then(|kept| kept.put(&file(&self.list.benchmark), &bytes));
        kept.with_context(|| format!("cannot write the run list into {}", experiments.join(folder).display()))
    }

    /// Reads the list of a benchmark that the Workflow with `uid` left; none where it left none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read(experiments: &Path, uid: &str, benchmark: &str) -> Result<Option<Self>> {
        let is_uid = !uid.is_empty() && uid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let Some(folder) = is_uid.then(|| RunFolder::open(&experiments.join(FOLDER), uid)).and_then(Result::ok) else {
            return Ok(None);
        };
        let place = || folder.place().join(file(benchmark)).display().to_string();
        let Some(bytes) = folder.read(&file(benchmark), MAX_BYTES).with_context(place)? else { return Ok(None) };
        let kept: Self = serde_json::from_slice(&bytes).with_context(place)?;
        if kept.schema_version == SCHEMA_VERSION && kept.workflow.uid == uid && kept.list.benchmark == benchmark {
            Ok(Some(kept))
        } else {
            Err(anyhow!("{}: it is not the run list that its path names", place()))
        }
    }

    /// Returns whether it is that of `benchmark`.
    pub(super) fn is_of(&self, benchmark: &str) -> bool {
        self.list.benchmark == benchmark
    }

    /// Says why the steps of this Workflow cannot have made `result` of `attempt`, if they cannot; `rules` are those that may have
    /// become the benchmark's since.
    ///
    /// # Errors
    /// That is why.
    pub(super) fn admit(
        &self,
        result: &BenchmarkResult,
        attempt: Option<&Attempt>,
        rules: impl IntoIterator<Item = RulesOf>,
    ) -> Result<(), String> {
        let BenchmarkResult { metadata, run, source, environment, .. } = result;
        let Self { list, .. } = self;
        if result.synthetic || source.reparsed.is_some() {
            return Err("no run wrote it: its numbers were made by `mock`, or read again by `reparse`".to_owned());
        }
        let is_listed =
            |listed: &Run| (&listed.case, listed.repeat, listed.warmup) == (&metadata.case, run.repeat, run.warmup);
        let case = list.cases.get(&metadata.case).filter(|_| list.runs.iter().any(is_listed));
        let Some(case) = case else {
            return Err(format!(
                "it says that it is {} of the case `{}`, which is not a run of its Workflow",
                result::round(run),
                metadata.case
            ));
        };
        let (workload, number) = (case.workload_digest.as_deref().unwrap_or(NONE), list.run.to_string());
        let says = [
            ("the target", metadata.target.as_str(), self.target.as_str()),
            ("the cluster", &environment.cluster.name, &self.cluster),
            ("the engine", &environment.cluster.engine, "kubernetes"),
            ("the run digest", &source.run_digest, &list.run_digest),
            ("the workload digest", source.workload_digest.as_deref().unwrap_or(NONE), workload),
            ("`run`", &source.run.to_string(), &number),
        ];
        if let Some((what, theirs, ours)) = says.into_iter().find(|(_, theirs, ours)| theirs != ours) {
            return Err(format!("it says that {what} is `{theirs}`, but its Workflow has `{ours}`"));
        }
        let read_by = RulesOf { digest: source.rules_digest.clone(), spec_digest: source.spec_digest.clone() };
        if !self.rules.iter().cloned().chain(rules).any(|rules| rules == read_by) {
            return Err(format!(
                "it says that it was read by the rules {} of the spec {}, which its Workflow never had",
                read_by.digest, read_by.spec_digest
            ));
        }
        let is_begun = |attempt: &Attempt| {
            (&attempt.id, attempt.number, &attempt.workflow.uid) == (&run.id, run.attempt, &self.workflow.uid)
        };
        if !attempt.is_some_and(is_begun) {
            return Err(format!("no step started it: `{}` next to it does not mention it", super::attempt::FILE));
        }
        self.admit_times(result)
    }

    /// The same for when it says that it ran.
    fn admit_times(&self, result: &BenchmarkResult) -> Result<(), String> {
        let run = &result.run;
        let moment = |time: &str| machine::seconds_of(time).ok_or_else(|| format!("`{time}` is not a time"));
        let (created, now) = (moment(&self.created)?, machine::clock().as_second());
        let (started, finished) = (moment(&run.started_at)?, moment(&run.finished_at)?);
        if started + CLOCKS < created {
            return Err(format!(
                "it says that it began at {}, before its Workflow was created at {}",
                run.started_at, self.created
            ));
        }
        if finished > now + CLOCKS {
            return Err(format!("it says that it ended at {}, which is in the future", run.finished_at));
        }
        if finished < started {
            return Err(format!("it says that it ended at {}, before it began at {}", run.finished_at, run.started_at));
        }
        Ok(())
    }
}

fn file(benchmark: &str) -> String {
    format!("{benchmark}.json")
}

#[cfg(test)]
mod tests;
