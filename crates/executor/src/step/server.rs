//! The server that a run loads: started by the first run that needs it, kept for those after it, and stopped with the last.

mod address;
mod identity;
mod kept;
mod ready;
mod teardown;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow};
use serde_json::Value as Json;

use super::attempt::{Attempt, Created, Moment, Outcome};
use super::auxiliary_job::Beside;
use super::create::{Claim, NoJob};
use super::follow::Ending;
use super::inputs::Inputs;
use super::logs::Logs;
use super::observations::Sight;
use super::result::Gathered;
use super::session::ClusterStep;
use super::snapshot;
use kept::Kept;
pub(super) use kept::{Loaded, Up};
use kubebench_cluster::Made;
use kubebench_compiler::workload::pod_sets;
use kubebench_contract::{Created as Objects, Server, text_at};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason, Timings};
pub(super) use ready::{Ready, Since};

/// Why there is no server.
pub(super) enum NoServer {
    /// The run ends with this.
    Ends(Box<Outcome>),
    /// It ends with this reason.
    NoJob(NoJob),
    /// Another pod of this step resumes.
    Left,
}

/// The server of one run, as it was compiled.
pub(super) struct Wanted<'a> {
    name: String,
    server: &'a Server,
    /// What is created.
    pub(super) objects: Objects,
}

impl ClusterStep {
    /// Returns the server that the run of an attempt loads, if it loads one.
    pub(super) fn wanted<'t>(&self, inputs: &'t Inputs, attempt: &Attempt) -> Result<Option<Wanted<'t>>> {
        let (_, case) = inputs.config.run(&attempt.run.id).map_err(|fault| anyhow!("{fault}"))?;
        let Some(id) = &case.server else { return Ok(None) };
        let objects = self.equip(inputs.config.server(id, &self.naming()).map_err(|fault| anyhow!("{fault}"))?);
        let name = inputs.config.server_name(id, self.workflow.session());
        Ok(inputs.config.list.servers.get(id).map(|server| Wanted { name, server, objects }))
    }

    /// Sees that the server of the run is ready and warm, and that no other one is up.
    pub(super) fn serve(
        &mut self,
        inputs: &Inputs,
        wanted: Option<&Wanted<'_>>,
        attempt: &mut Attempt,
        gathered: &mut Gathered,
    ) -> Result<Result<(), NoServer>> {
        if attempt.created.is_some() {
            // An earlier pod of this step began to load it: what it is now is reported at the end.
            self.continue_with_server(attempt, gathered);
            return Ok(Ok(()));
        }
        if !inputs.config.list.servers.is_empty() {
            self.stop_other_servers(wanted.map(|wanted| wanted.name.as_str()));
        }
        let Some(wanted) = wanted else { return Ok(Ok(())) };
        let mut kept = self.kept(&wanted.name);
        if let (Some(kept), Some(loaded)) = (&mut kept, &attempt.loaded)
            && loaded.up.folder == wanted.name
        {
            // This run knows it to be up, and was ended before it had recorded that.
            kept.up.get_or_insert_with(|| loaded.up.clone());
        }
        if kept.as_ref().is_some_and(|kept| !self.is_as_it_was(kept, wanted.server)) {
            self.tell(&format!("the server `{}` changed since it started; restarting it", wanted.name));
            let down = self.stop_server(&wanted.name);
            if self.is_to_end() {
                return Ok(Err(NoServer::NoJob(NoJob::Stopped)));
            }
            down?;
            kept = None;
        }
        let was_up = kept.as_ref().is_some_and(|kept| kept.up.is_some());
        let since = if kept.is_some() { Since::AnotherStep } else { Since::ThisStep };
        let mut kept = match kept {
            Some(kept) => kept,
            None => match self.create_server(attempt, wanted)? {
                Ok(kept) => kept,
                Err(none) => return Ok(Err(none)),
            },
        };
        if !was_up {
            match self.bring_up(attempt, wanted, &kept, since, gathered)? {
                Ok(up) => kept.up = Some(up),
                Err(none) => {
                    if !matches!(none, NoServer::Left) {
                        self.catch_up(&gathered.logs);
                        self.stop_server_or_report(&wanted.name);
                    }
                    return Ok(Err(none));
                }
            }
        }
        let Some(up) = kept.up.clone() else { return Ok(Ok(())) };
        let is_new = !was_up || attempt.loaded.as_ref().is_some_and(|loaded| loaded.is_new);
        // What this run started is its own, also where another pod of this step warms it up.
        attempt.loaded = Some(Loaded { up: up.clone(), is_new, warmups: kept.warmups, since: Moment::now() });
        self.keep(attempt);
        if was_up {
            self.see_server(&kept, &mut gathered.logs);
        } else {
            self.keep_server(&wanted.name, &kept)?;
        }
        while kept.warmups < wanted.server.warmups {
            if let Err(none) = self.warm_up(inputs, attempt, &mut kept, &up.endpoint)? {
                return Ok(Err(none));
            }
            self.keep_server(&wanted.name, &kept)?;
        }
        attempt.loaded = Some(Loaded { up, is_new, warmups: kept.warmups, since: Moment::now() });
        self.keep(attempt);
        Ok(Ok(()))
    }

    /// Creates the objects of a server.
    fn create_server(&mut self, attempt: &Attempt, wanted: &Wanted<'_>) -> Result<Result<Kept, NoServer>> {
        let all: Vec<&Json> = wanted.objects.before.iter().chain([&wanted.objects.workload]).collect();
        let mut kept = Kept::begin(&self.workflow.uid, all.iter().map(|object| Created::of(object)).collect());
        // A step that resumes after this one finds what may be there already.
        snapshot::make(&self.experiments, &wanted.name)?;
        self.keep_server(&wanted.name, &kept)?;
        let queue = Duration::from_secs(attempt.queue_timeout_seconds);
        let claim = Claim { job: &wanted.name, waited: Duration::ZERO, queue };
        let mut made = None;
        for object in all {
            match self.create(&claim, object)? {
                Ok(Made::New(object) | Made::There(object)) => made = Some(object),
                Err(no_job) => {
                    self.stop_server_or_report(&wanted.name);
                    return Ok(Err(NoServer::NoJob(no_job)));
                }
            }
        }
        let Some(made) = made else { return Err(anyhow!("`{}` has no object", wanted.name)) };
        kept.began = Moment::now();
        let created = Created::of(&made);
        self.tell(&format!("created {} `{}`, which the run loads", created.kind, created.name));
        kept.created = Some(created);
        self.keep_server(&wanted.name, &kept)?;
        Ok(Ok(kept))
    }

    /// Follows a server until it is ready.
    fn bring_up(
        &mut self,
        attempt: &Attempt,
        wanted: &Wanted<'_>,
        kept: &Kept,
        since: Since,
        gathered: &mut Gathered,
    ) -> Result<Result<Up, NoServer>> {
        let Some(object) = self.server_of(kept)? else {
            let what = "the server was deleted before it was ready, by something other than Kubebench";
            return Ok(Err(NoServer::NoJob(NoJob::new(Status::Interrupted, ReasonCode::JobLost, what.to_owned()))));
        };
        let mut sight = Sight::of(object);
        let ready =
            self.until_ready(attempt, &wanted.server.served, &mut sight, &mut gathered.logs, &kept.began, since);
        let Ready { ending, progress, endpoint, seconds } = ready;
        let Some(endpoint) = endpoint else {
            if ending == Ending::Stopped && self.is_to_be_succeeded() {
                return Ok(Err(NoServer::Left));
            }
            return Ok(Err(NoServer::Ends(Box::new(self.outcome(attempt, ending, progress)))));
        };
        let after = seconds.map_or_else(String::new, |seconds| format!(" after {seconds:.1} s"));
        self.tell(&format!("the server is ready{after}, at {endpoint}"));
        let object = sight.job();
        let Some(pods) = self.pods_of(object) else {
            // Whether it has changed could not be said later.
            return Ok(Err(NoServer::NoJob(NoJob::new(
                Status::Interrupted,
                ReasonCode::Unseen,
                "the pods of the server could not be listed when it was ready".to_owned(),
            ))));
        };
        let (nodes, _) = self.machines(&progress.nodes);
        Ok(Ok(Up {
            name: text_at(object, "/metadata/name").to_owned(),
            folder: wanted.name.clone(),
            kind: text_at(object, "/kind").to_owned(),
            endpoint,
            began: kept.began.clone(),
            timings: Timings { ready_seconds: seconds, run_seconds: None, ..progress.timings },
            pods,
            images: progress.images,
            nodes,
            roles: pod_sets(object).into_iter().map(|set| set.role).collect(),
            usage: progress.usage,
        }))
    }

    /// Resumes the logs of the server that an attempt loaded before this step was started again.
    pub(super) fn continue_with_server(&mut self, attempt: &Attempt, gathered: &mut Gathered) {
        if let Some(kept) = attempt.loaded.as_ref().and_then(|loaded| self.kept(&loaded.up.folder)) {
            self.see_server(&kept, &mut gathered.logs);
        }
    }

    /// Takes the pods of a server that was up already into the logs of this run, which continue where the last one left them.
    fn see_server(&mut self, kept: &Kept, logs: &mut Logs) {
        logs.continue_from(kept.marks.clone());
        if let Ok(Some(object)) = self.server_of(kept) {
            let mut sight = Sight::of(object);
            sight.remember(logs.places());
            self.look(&mut sight);
            let progress = sight.sum();
            logs.see(&progress, &sight);
        }
    }

    /// Loads the server once, so that what is measured is not its first load.
    fn warm_up(
        &mut self,
        inputs: &Inputs,
        attempt: &Attempt,
        kept: &mut Kept,
        endpoint: &str,
    ) -> Result<Result<(), NoServer>> {
        let number = kept.warmups + 1;
        let objects = inputs.config.warmup(&attempt.run.id, attempt.number, number, &self.naming());
        let mut objects = objects.map_err(|fault| anyhow!("{fault}"))?;
        objects.load(endpoint);
        self.know_secrets(&objects.workload);
        // It may mount a folder of its own.
        snapshot::make(&self.experiments, text_at(&objects.workload, "/metadata/labels/kubebench.dev~1run"))?;
        let output: PathBuf = attempt.folder(&self.experiments).join(format!("warmup-{number}"));
        let queue = Duration::from_secs(attempt.queue_timeout_seconds);
        let ends = |status, code: ReasonCode, message| Ok(Err(NoServer::NoJob(NoJob::new(status, code, message))));
        match self.beside(&format!("warmup-{number}"), &objects.workload, &output, queue)? {
            Beside::Succeeded => {
                kept.warmups = number;
                Ok(Ok(()))
            }
            Beside::Failed(why) => ends(Status::Failed, ReasonCode::WarmupFailed, why),
            Beside::Stopped if self.is_to_be_succeeded() => Ok(Err(NoServer::Left)),
            Beside::Stopped => Ok(Err(NoServer::NoJob(NoJob::Stopped))),
        }
    }
}

/// Returns why a run that was to measure how long its server takes does not.
pub(super) fn unseen() -> StatusReason {
    let message = "the server became ready while no step followed it, so how long it took is unknown";
    StatusReason { code: ReasonCode::Unseen, message: message.to_owned() }
}

#[cfg(test)]
mod tests;
