//! `kubebench step run`: one run, from its objects to its result.
//!
//! What is known of it is kept on the volume at every turn, so that a step that was killed resumes where it was.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value as Json;

use super::attempt::{Attempt, Created, Moment, Outcome};
use super::create::{Claim, NoJob};
use super::follow::{Ending, Limits, News, is_absent};
use super::inputs::{self, Inputs};
use super::kept_alive::KeptAlive;
use super::logs::Logs;
use super::observations::Sight;
use super::result::Gathered;
use super::server::{Loaded, Ready, Since, unseen};
use super::session::ClusterStep;
use super::{Answer, Environment, logs, snapshot};
use crate::collect::Ended;
use crate::observe::Progress;
use kubebench_cluster::{Fault, Made};
use kubebench_compiler::model::Served;
use kubebench_contract::{Case, Created as Objects};
use kubebench_contract::{Run, text_at};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Exit, Status, StatusReason, Timings, Usage};
use kubebench_format::result::{BenchmarkResult, Composition};

/// The maximum number of attempts that one Workflow makes at a run whose job is lost.
const MAX_TRIES: u32 = 3;
/// What a run has lost that was not its own fault.
const RETRIED: [ReasonCode; 4] =
    [ReasonCode::JobLost, ReasonCode::NodeLost, ReasonCode::ServerReplaced, ReasonCode::Unseen];
/// How long the kubelet may take to say that a container has ended.
const NEWS: Duration = Duration::from_secs(5);
/// Between two looks at what comes in.
const LOOK: Duration = Duration::from_millis(100);
/// How long a controller may take to see what was created before the job, and between two tries.
const UNSEEN: Duration = Duration::from_mins(2);
/// See [`UNSEEN`].
const SIGHT: Duration = Duration::from_secs(5);
/// How long logs may pause before their end, after their containers ended.
const LOG_PATIENCE: Duration = Duration::from_mins(1);
/// The same for a step that was asked to end, which is killed after half a minute.
const HURRIED: Duration = Duration::from_secs(8);

/// Takes the run `id`.
///
/// # Errors
/// When the step has no inputs, or the volume or the cluster cannot be used at all.
pub fn run(environment: &Environment, id: &str) -> Result<Answer> {
    let inputs = inputs::read(environment)?;
    let (run, case) = inputs.config.run(id).map_err(|fault| anyhow::anyhow!("{fault}"))?;
    let (run, case) = (run.clone(), case.clone());
    let mut session = ClusterStep::open(environment, inputs.settings.clone())?;
    session.tell(&format!("run `{}`: case {}, {}", run.id, case.name, run.round()));
    let mut tries = 0;
    for number in 1.. {
        let job = inputs.config.job_of(&run, number, session.workflow.session());
        let known = session.attempt_of(&job)?;
        let is_ours = known.as_ref().is_some_and(|known| known.workflow.uid == session.workflow.uid);
        if let Some(result) = session.result_of(&job)? {
            session.remove_left(known);
            // A Workflow that was deleted and made again from git repeats what did not succeed, and nothing else.
            tries += u32::from(is_ours);
            let is_last = is_ours && (tries == MAX_TRIES || !is_lost(&result));
            if !is_last && result.run.status != Status::Succeeded && !session.is_to_end() {
                continue;
            }
            let whose = if is_ours { "" } else { ", from an earlier Workflow; raise `run` to measure it again" };
            session.tell(&format!("`{job}` already has its result{whose}"));
            return Ok(answer(&result));
        }
        let has_room = session.makes_room(inputs.config.list.runs.len());
        let mut attempt = match known {
            Some(known) if !is_ours => {
                session.tell(&format!("`{job}` was started by an earlier Workflow, which left no result"));
                session.conclude_left(known)?;
                continue;
            }
            Some(known) => {
                session.tell(&format!("resuming `{job}`, which an earlier pod of this step started"));
                known
            }
            None if has_room => session.begin(&inputs, &run, &case, number, &job)?,
            None => {
                let mut attempt = session.begin(&inputs, &run, &case, number, &job)?;
                attempt.outcome = Some(outcome_without_job(&attempt, Status::Failed, vec![volume_full()]));
                attempt
            }
        };
        tries += 1;
        let Some(result) = session.attempt(&inputs, &mut attempt)? else {
            session.tell("this pod is being evicted; its replacement will resume the run");
            return Ok(Answer::Left);
        };
        if tries == MAX_TRIES || !is_lost(&result) || session.is_to_end() {
            return Ok(answer(&result));
        }
        session
            .tell("the job or its server was deleted before the run ended: the next pod of this step retries the run");
        return Ok(Answer::Left);
    }
    Ok(Answer::Failed)
}

/// Returns whether the job itself was lost, so that the run may be tried again.
fn is_lost(result: &BenchmarkResult) -> bool {
    let is_lost = |reason: &StatusReason| RETRIED.contains(&reason.code);
    result.run.status == Status::Preempted || result.run.reasons.first().is_some_and(is_lost)
}

fn answer(result: &BenchmarkResult) -> Answer {
    if result.run.status == Status::Succeeded { Answer::Succeeded } else { Answer::Failed }
}

/// Returns whether a Workflow ended at once because its controller had not seen its template yet, which was created for it.
fn lacks_template(outcome: &Outcome, objects: &Objects) -> bool {
    let templates = objects.before.iter().filter(|object| text_at(object, "/kind") == "WorkflowTemplate");
    let said = |name: &str| format!("workflowtemplates.argoproj.io \"{name}\" not found");
    outcome.ended.status == Status::Failed
        && templates.map(|object| said(text_at(object, "/metadata/name"))).any(|said| {
            let is_said =
                |reason: &StatusReason| reason.code == ReasonCode::JobFailed && reason.message.contains(&said);
            outcome.ended.reasons.iter().any(is_said)
        })
}

fn volume_full() -> StatusReason {
    let message = "the volume of results is full, so the run was not started: remove old runs from it (those with `recorded.json` are \
        in git), or ask for a larger claim with `results.claim.size`";
    StatusReason { code: ReasonCode::VolumeFull, message: message.to_owned() }
}

impl ClusterStep {
    fn begin(&self, inputs: &Inputs, run: &Run, case: &Case, number: u32, job: &str) -> Result<Attempt> {
        let attempt = Attempt::begin(&inputs.config, run, case, number, job, self.workflow.clone())?;
        snapshot::make(&self.experiments, job)?;
        attempt.keep(&self.experiments)?;
        Ok(attempt)
    }

    /// Makes the result of a run that is not to be made, unless this Workflow has made it before.
    pub(super) fn refuse_run(&mut self, inputs: &Inputs, run: &Run, reason: StatusReason) -> Result<()> {
        let (run, case) = inputs.config.run(&run.id).map_err(|fault| anyhow::anyhow!("{fault}"))?;
        for number in 1.. {
            let job = inputs.config.job_of(run, number, self.workflow.session());
            let known = self.attempt_of(&job)?;
            let is_ours = known.as_ref().is_none_or(|known| known.workflow.uid == self.workflow.uid);
            let has_result = self.result_of(&job)?.is_some();
            let mut attempt = match known {
                _ if has_result && is_ours => return Ok(()),
                _ if has_result => continue,
                Some(known) if !is_ours => {
                    self.conclude_left(known)?;
                    continue;
                }
                Some(known) => known,
                None => self.begin(inputs, run, case, number, &job)?,
            };
            attempt.outcome = Some(outcome_without_job(&attempt, Status::Failed, vec![reason]));
            return self.attempt(inputs, &mut attempt).map(drop);
        }
        Ok(())
    }

    /// Follows the run from its job's creation to its end; none when another pod is to resume it.
    pub(super) fn take_run(
        &mut self,
        inputs: &Inputs,
        attempt: &mut Attempt,
        objects: &mut Objects,
        gathered: &mut Gathered,
    ) -> Result<Option<Outcome>> {
        if let Some(loaded) = &attempt.loaded {
            objects.load(&loaded.up.endpoint);
        }
        let served = inputs.config.run(&attempt.run.id).ok().and_then(|(_, case)| case.served.clone());
        let mut outcome = loop {
            let (job, since) = match self.job(attempt, objects)? {
                Ok(job) => job,
                Err(no_job) => return Ok(self.without_job(attempt, no_job)),
            };
            let outcome = match &served {
                Some(served) => self.follow_server(attempt, job, served, since, gathered),
                None => self.follow_run(attempt, job, &objects.before, gathered),
            };
            if !outcome.as_ref().is_some_and(|outcome| lacks_template(outcome, objects))
                || attempt.age() > UNSEEN.as_secs_f64()
            {
                break outcome;
            }
            self.tell("Argo had not seen the WorkflowTemplate that was created just before: creating the job again");
            if self.waits(SIGHT) {
                break outcome;
            }
            if let Some(created) = attempt.created.take() {
                self.remove(&created)?;
            }
            self.keep(attempt);
        };
        if let (Some(outcome), Some(loaded)) = (&mut outcome, &attempt.loaded) {
            self.add_server(outcome, loaded);
        }
        Ok(outcome)
    }

    /// Says how a run ended that has no job; none when another pod is to resume it.
    pub(super) fn without_job(&mut self, attempt: &Attempt, no_job: NoJob) -> Option<Outcome> {
        let (status, reason) = match no_job {
            NoJob::Stopped if self.is_to_be_succeeded() => return None,
            NoJob::Stopped => (Status::Interrupted, self.interruption()),
            NoJob::Ends(status, reason) => (status, reason),
        };
        let mut outcome = outcome_without_job(attempt, status, vec![reason]);
        if let Some(loaded) = &attempt.loaded {
            // It was there for this run, and may be why there is no more of it.
            outcome.usage = Some(Usage { gpu_hours: Some(0.0), ..Usage::default() });
            self.add_server(&mut outcome, loaded);
        }
        Some(outcome)
    }

    /// Says of a run what its server says of it.
    pub(super) fn add_server(&mut self, outcome: &mut Outcome, loaded: &Loaded) {
        // That the server fell is seen a little later than by those who load it.
        let patience = if outcome.ended.status == Status::Failed { NEWS } else { Duration::ZERO };
        if matches!(outcome.ended.status, Status::Succeeded | Status::Failed | Status::TimedOut)
            && let Some(reason) = self.changed(loaded, patience)
        {
            if outcome.ended.status == Status::Succeeded {
                outcome.ended.status = Status::Failed;
            }
            outcome.ended.reasons.insert(0, reason);
        }
        if loaded.is_new {
            outcome.ended.timings.ready_seconds = loaded.up.timings.ready_seconds;
        }
        outcome.images.extend(loaded.up.images.iter().cloned());
        for node in &loaded.up.nodes {
            if !outcome.nodes.iter().any(|known| known.name == node.name) {
                outcome.nodes.push(node.clone());
            }
        }
        outcome.nodes.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some(usage) = &mut outcome.usage {
            // A server that this run started was held once it was scheduled; one that it found, all the time.
            let held = if loaded.is_new {
                let queued = loaded.up.timings.queue_seconds.unwrap_or_default();
                outcome.finished.seconds - loaded.up.began.seconds - queued
            } else {
                outcome.took_seconds
            };
            usage.add(&loaded.up.usage, held.max(0.0));
            usage.nodes = u32::try_from(outcome.nodes.len()).unwrap_or(u32::MAX);
        }
    }

    /// Follows the server of a run that ends when it is ready; returns none when another pod is to resume.
    fn follow_server(
        &mut self,
        attempt: &mut Attempt,
        job: Json,
        served: &Served,
        since: Since,
        gathered: &mut Gathered,
    ) -> Option<Outcome> {
        let mut sight = sight_of(attempt, job);
        let began = attempt.created_at.clone().unwrap_or_else(|| attempt.began.clone());
        let ready = self.until_ready(attempt, served, &mut sight, &mut gathered.logs, &began, since);
        let Ready { ending, progress, seconds, .. } = ready;
        self.note_neighbors(attempt, &sight);
        if ending == Ending::Stopped && self.is_to_be_succeeded() {
            return None;
        }
        let is_ready = ending == Ending::Itself(Status::Succeeded);
        let mut outcome = self.outcome(attempt, ending, progress);
        if is_ready {
            let timings = &mut outcome.ended.timings;
            timings.ready_seconds = seconds;
            timings.run_seconds = None;
            let held = (began.age() - timings.queue_seconds.unwrap_or_default()).max(0.0);
            outcome.usage.iter_mut().for_each(|usage| usage.hold(held));
            if seconds.is_none() {
                outcome.ended.status = Status::Interrupted;
                outcome.ended.reasons.insert(0, unseen());
            }
        }
        Some(outcome)
    }

    /// Returns the job: created now, or found where an earlier pod of this step has created it.
    fn job(&mut self, attempt: &mut Attempt, objects: &Objects) -> Result<Result<(Json, Since), NoJob>> {
        if let Some(created) = attempt.created.clone() {
            let Some(resource) = created.resource() else { anyhow::bail!("`{}` has no kind", attempt.job) };
            let found = self.cluster.get(&resource, &self.namespace, &created.name);
            if is_absent(&found, &created.uid) {
                let what = "the job was deleted while the step that followed it was restarted";
                return Ok(Err(NoJob::new(Status::Interrupted, ReasonCode::JobLost, what.to_owned())));
            }
            return match found {
                Ok(Some(job)) => {
                    let since = if attempt.created_at.is_some() { Since::AnotherStep } else { Since::Nobody };
                    Ok(Ok((job, since)))
                }
                Ok(None) | Err(Fault::Stopped) => Ok(Err(NoJob::Stopped)),
                Err(fault) => Err(fault.into()),
            };
        }
        let (waited, queue) = (attempt.waited(), Duration::from_secs(attempt.queue_timeout_seconds));
        let claim = Claim { job: &attempt.job, waited, queue };
        for object in &objects.before {
            if let Err(no_job) = self.create(&claim, object)? {
                return Ok(Err(no_job));
            }
        }
        let (job, since) = match self.create(&claim, &objects.workload)? {
            Ok(Made::New(job)) => (job, Since::ThisStep),
            Ok(Made::There(job)) => (job, Since::Nobody),
            Err(no_job) => return Ok(Err(no_job)),
        };
        let created = Created::of(&job);
        let verb = if since == Since::ThisStep { "created" } else { "found" };
        self.tell(&format!("{verb} {} `{}`", created.kind, created.name));
        attempt.created = Some(created);
        attempt.created_at = (since == Since::ThisStep).then(Moment::now);
        self.keep(attempt);
        Ok(Ok((job, since)))
    }

    /// Deletes what an attempt with a result has left.
    fn remove_left(&mut self, attempt: Option<Attempt>) {
        if let Some(Attempt { job, created: Some(created), .. }) = attempt {
            self.remove(&created).unwrap_or_else(|fault| self.note_left(&job, &fault));
        }
    }

    /// Deletes what was created before the workload.
    pub(super) fn remove_before(&mut self, objects: &Objects, job: &str) {
        for object in &objects.before {
            let name = text_at(object, "/metadata/name");
            let there =
                Created::of(object).resource().map(|resource| self.cluster.get(&resource, &self.namespace, name));
            if let Some(Ok(Some(there))) = there
                && self.owns(&there, job)
                && let Err(fault) = self.remove(&Created::of(&there))
            {
                self.tell(&format!(
                    "note: `{name}` cannot be deleted now, so it is deleted with its Workflow: {fault}"
                ));
            }
        }
    }

    /// Follows the job of a run to its end; returns none when another pod is to resume.
    fn follow_run(
        &mut self,
        attempt: &mut Attempt,
        job: Json,
        before: &[Json],
        gathered: &mut Gathered,
    ) -> Option<Outcome> {
        let kept_alive = KeptAlive::beside(before.iter().chain([&job]));
        let mut sight = sight_of(attempt, job);
        let limits = Limits {
            queue: Duration::from_secs(attempt.queue_timeout_seconds),
            run: Duration::from_secs(attempt.timeout_seconds),
            waited: attempt.waited(),
            ran: attempt.running_since.as_ref().map(|since| Duration::from_secs_f64(since.age())),
        };
        let experiments = self.experiments.clone();
        let mut news = |news: News<'_>| {
            match news {
                News::Runs => attempt.running_since = Some(Moment::now()),
                News::Neighbors(met) => attempt.neighbors.clone_from(met),
            }
            attempt.keep(&experiments)
        };
        let earlier = gathered.logs.places();
        let (ending, mut progress) = self.follow(&mut sight, &mut gathered.logs, limits, kept_alive, &mut news);
        self.note_neighbors(attempt, &sight);
        if ending == Ending::Stopped && self.is_to_be_succeeded() {
            return None;
        }
        let is_server = |uid: &str| attempt.loaded.as_ref().is_some_and(|loaded| loaded.up.pods.contains_key(uid));
        if earlier.keys().any(|uid| sight.pod(uid).is_none() && !is_server(uid)) {
            // For how long pods of the run were there that only an earlier step has seen is unknown.
            progress.usage.forget_hours();
        }
        let composition = self.composition(&sight, &progress);
        Some(Outcome { composition, ..self.outcome(attempt, ending, progress) })
    }

    /// Keeps who has shared the nodes of a run by now.
    fn note_neighbors(&mut self, attempt: &mut Attempt, sight: &Sight) {
        if let Some(met) = sight.neighbors().filter(|met| **met != attempt.neighbors) {
            attempt.neighbors.clone_from(met);
            self.keep(attempt);
        }
    }

    /// Says how a run ended that was followed until `ending`.
    pub(super) fn outcome(&self, attempt: &Attempt, ending: Ending, progress: Progress) -> Outcome {
        let mut reasons = progress.reasons;
        let status = match ending {
            Ending::Stopped => {
                reasons = vec![self.interruption()];
                Status::Interrupted
            }
            Ending::Itself(status) => {
                if reasons.first().is_some_and(|reason| reason.code == ReasonCode::Deleted)
                    && let Some(reason) = self.deletion()
                {
                    reasons = vec![reason];
                }
                status
            }
            Ending::TooLong(status, reason) => {
                // What was in the way explains more than that it took too long.
                let place = if status == Status::TimedOut { 0 } else { reasons.len() };
                reasons.insert(place, reason);
                status
            }
        };
        let (nodes, cluster_version) = self.machines(&progress.nodes);
        let (exits, restarts, timings) = (progress.exits, progress.restarts, progress.timings);
        Outcome {
            ended: Ended { status, reasons, exits, restarts, timings },
            finished: Moment::now(),
            took_seconds: attempt.age(),
            images: progress.images,
            usage: Some(progress.usage),
            nodes,
            cluster_version,
            composition: Composition::default(),
            logs: None,
        }
    }

    /// Waits until the logs of what has ended are read: with the pods go their logs.
    pub(super) fn catch_up(&mut self, logs: &Logs) {
        let (mut bytes, mut since) = (logs.bytes(), Instant::now());
        while logs.lags() {
            if logs.bytes() != bytes {
                (bytes, since) = (logs.bytes(), Instant::now());
            }
            if since.elapsed() > self.log_patience() {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Returns how long logs may pause now.
    pub(super) fn log_patience(&mut self) -> Duration {
        if self.is_to_end() { HURRIED } else { LOG_PATIENCE }
    }

    /// Waits for the rest of the logs, and keeps what became of them.
    pub(super) fn end_logs(&mut self, attempt: &mut Attempt, gathered: &mut Gathered) {
        let patience = self.log_patience();
        let Some(outcome) = &mut attempt.outcome else { return };
        if outcome.logs.is_some() {
            return;
        }
        // What serves continues.
        let served: Vec<String> = attempt.loaded.iter().flat_map(Loaded::roles).cloned().collect();
        gathered.logs.cut(&served);
        let logs = gathered.end_logs(patience);
        if outcome.ended.status != Status::Succeeded {
            // What a replica printed last before it was stopped says where it hung.
            let exits = &mut outcome.ended.exits;
            for log in logs.iter().filter(|log| log.is_main && !log.last_lines.is_empty()) {
                if !exits.iter().any(|exit| exit.role == log.role && exit.index == log.index) {
                    let (role, index) = (log.role.clone(), log.index);
                    exits.push(Exit { role, index, code: None, signal: None, last_lines: Vec::new() });
                }
            }
            exits.sort_by(|one, other| (&one.role, one.index).cmp(&(&other.role, other.index)));
        }
        for exit in &mut outcome.ended.exits {
            let log = logs.iter().find(|log| log.is_main && log.role == exit.role && log.index == exit.index);
            if let Some(log) = log {
                exit.last_lines.clone_from(&log.last_lines);
            }
        }
        outcome.logs = Some(logs);
        // Before it is kept that the logs are whole: a step that comes back reads none of them again.
        if let Some(loaded) = attempt.loaded.clone() {
            let output = attempt.folder(&self.experiments).join("output");
            self.leave_server(&loaded, logs::marks(&output, &served))
                .unwrap_or_else(|error| self.tell(&format!("note: {error:#}")));
        }
        self.keep(attempt);
        logs::forget(&attempt.folder(&self.experiments).join("output"));
    }

    /// Says that an object stays for now.
    pub(super) fn note_left(&self, job: &str, fault: &Fault) {
        self.tell(&format!("note: `{job}` cannot be deleted now, so the step `cleanup` deletes it: {fault}"));
    }
}

/// Begins to look at the job of a run, and at who shares its nodes.
fn sight_of(attempt: &Attempt, job: Json) -> Sight {
    let mut sight = Sight::of(job);
    sight.look_around(attempt.neighbors.clone(), attempt.loaded.as_ref());
    sight
}

pub(super) fn outcome_without_job(attempt: &Attempt, status: Status, reasons: Vec<StatusReason>) -> Outcome {
    Outcome {
        ended: Ended { status, reasons, exits: Vec::new(), restarts: 0, timings: Timings::default() },
        finished: Moment::now(),
        took_seconds: attempt.age(),
        images: Vec::new(),
        usage: None,
        nodes: Vec::new(),
        cluster_version: None,
        composition: Composition::default(),
        logs: None,
    }
}

#[cfg(test)]
mod tests;
