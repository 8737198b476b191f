//! `kubebench step cleanup`: whatever happened, no job of this Workflow stays, and every run that began has a result.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value as Json;

use super::attempt::{Attempt, Created, Outcome};
use super::follow::Ending;
use super::logs::Logs;
use super::observations::Sight;
use super::result::{Gathered, lost};
use super::run::outcome_without_job;
use super::session::ClusterStep;
use super::volume_state::is_run;
use super::{Answer, Environment, inputs, snapshot};
use crate::observe::State;
use kubebench_cluster::{Fault, Resource};
use kubebench_compiler::workload::{Purpose, kind_of};
use kubebench_contract::labels::STEP;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};
use kubebench_host::experiment;
use kubebench_host::fault::caught;

/// How long steps that were asked to end may take; the kubelet gives them half a minute.
const GRACE: Duration = Duration::from_mins(1);
/// Between two looks at them.
const LOOK: Duration = Duration::from_secs(1);

/// Cleans up after the Workflow; may be called any number of times.
///
/// # Errors
/// When the step has no inputs, or the volume or the cluster cannot be used at all.
pub fn run(environment: &Environment) -> Result<Answer> {
    let mut session = ClusterStep::open(environment, inputs::settings(environment)?)?;
    let waited = session.wait_for_steps().map(|()| 0);
    let mut faults = session.count(waited);
    let ended = session.end_runs();
    faults += session.count(ended);
    let deleted = session.delete_left();
    faults += session.count(deleted);
    // Whatever else could not be done.
    faults += session.stop_other_servers(None);
    // If the ConfigMap of a session is gone, the name of that folder is unknown; it takes some space, and does no harm.
    if let Ok(inputs) = inputs::read(environment) {
        let name = inputs.config.prepare_name(session.workflow.session());
        Logs::end_left(&session, &session.experiments.join(name));
    }
    session.gives_back();
    Ok(if faults == 0 { Answer::Succeeded } else { Answer::Failed })
}

impl ClusterStep {
    /// Counts what could not be done; that all of it could not is one.
    fn count(&self, done: Result<usize>) -> usize {
        done.unwrap_or_else(|error| {
            self.tell(&format!("error: {error:#}"));
            1
        })
    }

    /// Lets steps that were asked to end write their results: `argo stop` does not wait for them.
    fn wait_for_steps(&mut self) -> Result<()> {
        let selector = format!("workflows.argoproj.io/workflow={},{STEP}=run", self.workflow.name);
        let since = Instant::now();
        loop {
            let pods = self.cluster.list(&Resource::pods(), &self.namespace, &selector)?;
            let runs = |pod: &&Json| pod.pointer("/status/phase").and_then(Json::as_str) == Some("Running");
            if !pods.iter().any(|pod| runs(&pod)) || since.elapsed() > GRACE || self.waits(LOOK) {
                return Ok(());
            }
        }
    }

    /// Sees that every run that this Workflow began has its result, and that none has its job any more; returns how many
    /// could not be ended.
    fn end_runs(&mut self) -> Result<usize> {
        let mut faults = 0;
        for job in experiment::run_folders(&self.experiments, |name| is_run(&self.benchmark, name))? {
            let Ok(Some(attempt)) = self.attempt_of(&job) else { continue };
            if attempt.workflow.uid != self.workflow.uid {
                continue;
            }
            let mut ended = match self.result_of(&job) {
                Ok(Some(_)) => Ok(()),
                Ok(None) => {
                    self.tell(&format!("`{job}` has no result: its step was ended before it wrote one"));
                    self.conclude_left(attempt.clone())
                }
                Err(error) => Err(error),
            };
            ended = ended.and(self.delete_job(attempt));
            if let Err(error) = ended {
                self.tell(&format!("error: {error:#}"));
                faults += 1;
            }
        }
        Ok(faults)
    }

    /// Deletes the job of a run that its own step could not delete, or did not know to be there.
    fn delete_job(&mut self, mut attempt: Attempt) -> Result<()> {
        let workload = snapshot::workload(&attempt.folder(&self.experiments));
        if let Some(job) = self.left_job(&mut attempt, workload.as_ref())? {
            let created = Created::of(&job);
            self.remove(&created)?;
            self.tell(&format!("deleted {} `{}`", created.kind, created.name));
        }
        Ok(())
    }

    /// Makes the result of a run that is not followed any more.
    pub(super) fn conclude_left(&mut self, mut attempt: Attempt) -> Result<()> {
        caught(|| self.end_left(&mut attempt)).unwrap_or_else(|fault| {
            self.break_off(&mut attempt, &fault);
            self.conclude(&attempt, Gathered::of_nothing()).map(drop)
        })
    }

    fn end_left(&mut self, attempt: &mut Attempt) -> Result<()> {
        let folder = attempt.folder(&self.experiments);
        let workload = snapshot::workload(&folder);
        for object in workload.iter().chain(&snapshot::server(&folder)) {
            self.know_secrets(object);
        }
        self.makes_room_for_one();
        let mut gathered = Gathered::new(self, attempt, &snapshot::rules(&folder))?;
        if attempt.outcome.is_none() {
            let outcome = match self.left_job(attempt, workload.as_ref())? {
                Some(job) => {
                    let mut sight = Sight::of(job);
                    sight.remember(gathered.logs.places());
                    self.look(&mut sight);
                    let progress = sight.sum();
                    gathered.logs.see(&progress, &sight);
                    let serves = kind_of(sight.job()).is_some_and(|kind| kind.purpose == Purpose::Serves);
                    let ending = match progress.state {
                        // That a server is ready now does not say when it was, nor that it answers.
                        State::Ended(status) if !(serves && status == Status::Succeeded) => Ending::Itself(status),
                        _ => Ending::TooLong(Status::Interrupted, interrupted()),
                    };
                    let composition = self.composition(&sight, &progress);
                    let mut outcome = Outcome { composition, ..self.outcome(attempt, ending, progress) };
                    if let Some(loaded) = &attempt.loaded {
                        self.add_server(&mut outcome, loaded);
                    }
                    outcome
                }
                None if attempt.created.is_some() => {
                    let reason =
                        lost("neither its job nor the step that followed the job existed at the end of the Workflow");
                    outcome_without_job(attempt, Status::Interrupted, vec![reason])
                }
                None => outcome_without_job(attempt, Status::Interrupted, vec![interrupted()]),
            };
            attempt.outcome = Some(outcome);
            self.keep(attempt);
        }
        if attempt.awaits_postprocess
            && let Some(outcome) = &mut attempt.outcome
            && outcome.ended.status == Status::Succeeded
        {
            outcome.ended.status = Status::Interrupted;
            outcome.ended.reasons.insert(0, not_postprocessed());
        }
        self.catch_up(&gathered.logs);
        if let Some(created) = attempt.created.clone() {
            self.remove(&created).unwrap_or_else(|fault| self.note_left(&attempt.job, &fault));
        }
        self.end_logs(attempt, &mut gathered);
        self.conclude(attempt, gathered).map(drop)
    }

    /// Returns the job of an attempt, if it is there. A step that was killed just after it had created the job has not recorded it.
    fn left_job(&self, attempt: &mut Attempt, workload: Option<&Json>) -> Result<Option<Json>> {
        let known = attempt.created.clone().or_else(|| workload.map(Created::of));
        let Some(known) = known else { return Ok(None) };
        let Some(resource) = known.resource() else { return Ok(None) };
        let found = match self.cluster.get(&resource, &self.namespace, &known.name) {
            // The cluster has no such kind, and so no such job.
            Err(Fault::Refused(refusal)) if refusal.code == 404 => None,
            found => found?,
        };
        let found = found.filter(|job| self.is_owner(job));
        attempt.created = found.as_ref().map(Created::of).or(attempt.created.take());
        Ok(found)
    }

    /// Deletes the auxiliary Jobs that this Workflow owns; returns how many could not be.
    fn delete_left(&mut self) -> Result<usize> {
        let mut faults = 0;
        let selector = format!("kubebench.dev/benchmark={}", self.benchmark);
        let mut found = self.cluster.list(&Resource::jobs(), &self.namespace, &selector)?;
        found.retain(|object| self.is_owner(object));
        for object in &found {
            let name = object.pointer("/metadata/name").and_then(Json::as_str).unwrap_or_default();
            match self.remove(&Created::of(object)) {
                Ok(()) => self.tell(&format!("deleted Job `{name}`")),
                Err(fault) => {
                    self.tell(&format!("error: {fault}"));
                    faults += 1;
                }
            }
        }
        Ok(faults)
    }
}

fn not_postprocessed() -> StatusReason {
    let message = "its job succeeded, but the step that followed the job was ended before `postprocess` had succeeded";
    StatusReason { code: ReasonCode::Interrupted, message: message.to_owned() }
}

fn interrupted() -> StatusReason {
    let message = "the step that followed the run was ended before the run: the Workflow was stopped, its deadline \
                   passed, or the step was killed too often";
    StatusReason { code: ReasonCode::Interrupted, message: message.to_owned() }
}

#[cfg(test)]
mod tests;
