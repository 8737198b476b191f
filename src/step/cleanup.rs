//! `kubebench step cleanup`: whatever happened, no job of this Workflow stays, and every run that began has a result.

use anyhow::Result;
use serde_json::Value as Json;

use super::attempt::{self, Attempt, Created};
use super::follow::{Ending, is_absent};
use super::result::{Gathered, lost};
use super::run::{LOG_PATIENCE, outcome_without_job};
use super::seen::Sight;
use super::session::Session;
use super::{Answer, Environment, snapshot, told};
use crate::edge::cluster::{Resource};
use crate::edge::experiment;
use crate::follow::State;
use crate::result::v1::{Status, StatusReason};
use crate::workload::KINDS;

/// Cleans up after the Workflow; may be called any number of times.
///
/// # Errors
/// When the step was not told what it needs, or the volume or the cluster cannot be used at all.
pub fn run(environment: &Environment) -> Result<Answer> {
    let mut session = Session::open(environment, told::settings(environment)?)?;
    let mut faults = 0;
    let begun = experiment::run_folders(&session.experiments, |_| true)?;
    for job in begun {
        let Ok(Some(attempt)) = Attempt::read(&session.experiments, &job) else { continue };
        if attempt.workflow.uid != session.workflow.uid || attempt.benchmark != session.benchmark {
            continue;
        }
        if attempt::result_of(&session.experiments, &job)?.is_some() {
            continue;
        }
        session.tell(&format!("`{job}` has no result: its step was ended before it"));
        if let Err(error) = session.conclude_left(attempt) {
            session.tell(&format!("error: {error:#}"));
            faults += 1;
        }
    }
    faults += session.delete_left()?;
    Ok(if faults == 0 { Answer::Succeeded } else { Answer::Failed })
}

impl Session {
    /// Makes the result of a run that nobody follows any more.
    fn conclude_left(&mut self, mut attempt: Attempt) -> Result<()> {
        let folder = attempt.folder(&self.experiments);
        if let Some(workload) = snapshot::workload(&folder) {
            self.know_secrets(&workload);
        }
        let reserve = self.hold_reserve();
        let mut gathered = Gathered::new(self, &attempt, &snapshot::rules(&folder))?;
        if attempt.outcome.is_none() {
            let outcome = match self.left_job(&attempt)? {
                Some(job) => {
                    let mut sight = Sight::of(job);
                    self.look(&mut sight);
                    let progress = sight.sum();
                    gathered.logs.see(&progress, &sight);
                    let ending = match progress.state {
                        State::Ended(status) => Ending::Itself(status),
                        _ => Ending::TooLong(Status::Interrupted, interrupted()),
                    };
                    self.outcome(&attempt, ending, progress)
                }
                None if attempt.created.is_some() => {
                    let reason = lost("neither its job nor the step that followed it was there any more at the end of the Workflow");
                    outcome_without_job(&attempt, Status::Interrupted, vec![reason])
                }
                None => outcome_without_job(&attempt, Status::Interrupted, vec![interrupted()]),
            };
            attempt.outcome = Some(outcome);
            attempt.keep(&self.experiments)?;
        }
        if let Some(created) = attempt.created.clone() {
            self.remove(&created, &attempt.job)?;
        }
        self.end_logs(&mut attempt, &mut gathered, LOG_PATIENCE)?;
        self.conclude(&attempt, gathered, reserve).map(drop)
    }

    fn left_job(&self, attempt: &Attempt) -> Result<Option<Json>> {
        let Some((created, resource)) = attempt.created.as_ref().and_then(|made| Some((made, made.resource()?))) else {
            return Ok(None);
        };
        let found = self.cluster.get(&resource, &self.namespace, &attempt.job);
        Ok(if is_absent(&found, &created.uid) { None } else { found? })
    }

    /// Deletes the jobs that this Workflow owns; returns how many could not be.
    fn delete_left(&mut self) -> Result<usize> {
        let mut faults = 0;
        let selector = format!("kubebench.dev/benchmark={}", self.benchmark);
        let jobs = std::iter::once(Resource::jobs());
        for resource in KINDS.iter().map(Resource::of_kind).chain(jobs) {
            let found = match self.cluster.list(&resource, &self.namespace, &selector) {
                Ok(found) => found,
                // A cluster does not have the kinds that no benchmark of it uses.
                Err(fault) if fault.is_unknown_kind() => continue,
                Err(fault) => return Err(fault.into()),
            };
            for object in found.iter().filter(|object| self.is_owner(object)) {
                let name = object.pointer("/metadata/name").and_then(Json::as_str).unwrap_or_default();
                let created = Created { api_version: resource.api_version(), ..Created::of(object) };
                match self.remove(&created, name) {
                    Ok(()) => self.tell(&format!("deleted {} `{name}`", created.kind)),
                    Err(fault) => {
                        self.tell(&format!("error: {fault}"));
                        faults += 1;
                    }
                }
            }
        }
        Ok(faults)
    }
}

fn interrupted() -> StatusReason {
    let message = "the step that followed it was ended before the run was: the Workflow was stopped, its deadline passed, or \
                   the step was killed too often";
    StatusReason { code: "interrupted".to_owned(), message: message.to_owned() }
}
