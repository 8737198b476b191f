//! The auxiliary Jobs: `prepare` before the first, `postprocess` after each.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value as Json;

use super::attempt::{Attempt, Created};
use super::create::is_quota;
use super::follow::{Ending, Limits};
use super::inputs::Inputs;
use super::kept_alive::KeptAlive;
use super::logs::{self, Logs};
use super::observations::Sight;
use super::session::{ClusterStep, is_leaving};
use super::word;
use crate::collect;
use kubebench_cluster::{Fault, Made};
use kubebench_contract::text_at;
use kubebench_extract::rules::Rules;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};

/// Between the end of a Job by its own deadline and that by the step's.
const SLACK: Duration = Duration::from_mins(1);
/// How long the Job of another Workflow may be in the way.
const LEAVING: Duration = Duration::from_mins(3);
/// Between two looks at it.
const PAUSE: Duration = Duration::from_secs(1);
/// For a Job without a deadline.
const NO_DEADLINE: u64 = 24 * 3600;

/// What became of an auxiliary Job.
pub(super) enum Beside {
    Succeeded,
    /// It did not, and why.
    Failed(String),
    /// The step is to end.
    Stopped,
}

/// What became of the Job after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The attempt says it, if there was one.
    Done,
    /// Another pod resumes it.
    Left,
}

impl ClusterStep {
    /// Runs the Job after the run, where there is one and the run succeeded.
    pub(super) fn postprocess(&mut self, inputs: &Inputs, attempt: &mut Attempt) -> Result<After> {
        if attempt.outcome.as_ref().is_none_or(|outcome| outcome.ended.status != Status::Succeeded) {
            return Ok(After::Done);
        }
        let job = inputs.config.postprocess(&attempt.run.id, attempt.number, &self.naming());
        let Some(job) = job.map_err(|fault| anyhow::anyhow!("{fault}"))? else { return Ok(After::Done) };
        self.know_secrets(&job);
        let output = attempt.folder(&self.experiments).join("output");
        let queue = Duration::from_secs(attempt.queue_timeout_seconds);
        let (status, code, message) = match self.beside("postprocess", &job, &output, queue)? {
            Beside::Succeeded => {
                attempt.awaits_postprocess = false;
                self.keep(attempt);
                return Ok(After::Done);
            }
            Beside::Failed(why) => (Status::Failed, ReasonCode::PostprocessFailed, why),
            Beside::Stopped if self.is_to_be_succeeded() => return Ok(After::Left),
            Beside::Stopped => {
                let reason = self.interruption();
                (Status::Interrupted, ReasonCode::Interrupted, reason.message)
            }
        };
        if let Some(outcome) = &mut attempt.outcome {
            outcome.ended.status = status;
            outcome.ended.reasons.push(StatusReason { code, message });
        }
        self.keep(attempt);
        Ok(After::Done)
    }

    /// Runs `job`, whose logs go below `output`, and deletes it.
    pub(super) fn beside(&mut self, name: &str, job: &Json, output: &Path, queue: Duration) -> Result<Beside> {
        let since = Instant::now();
        let made = loop {
            match self.cluster.create(&self.namespace, job) {
                Ok(Made::New(made)) => break made,
                Ok(Made::There(there)) if self.is_owner(&there) && !is_leaving(&there) => break there,
                // That of a Workflow which was deleted goes soon after it.
                Ok(Made::There(_)) if since.elapsed() < queue.min(LEAVING) => {
                    if self.waits(PAUSE) {
                        return Ok(Beside::Stopped);
                    }
                }
                Ok(Made::There(there)) => {
                    let object = text_at(&there, "/metadata/name");
                    return Ok(Beside::Failed(format!(
                        "a Job `{object}` that this Workflow does not own already exists, so `{name}` cannot start: \
                         find out who created it, and delete it"
                    )));
                }
                Err(Fault::Stopped) => return Ok(Beside::Stopped),
                // What the run's own job has freed is not counted at once.
                Err(Fault::Refused(refusal)) if is_quota(&refusal) && since.elapsed() < queue => {
                    if self.waits(PAUSE) {
                        return Ok(Beside::Stopped);
                    }
                }
                Err(Fault::Refused(refusal)) => return Ok(Beside::Failed(format!("`{name}` was refused: {refusal}"))),
                Err(fault) => return Err(fault.into()),
            }
        };
        let created = Created::of(&made);
        let text = |at: &str| made.pointer(at).and_then(Json::as_str).unwrap_or_default().to_owned();
        let object = text("/metadata/name");
        self.tell(&format!("`{name}` runs as {} `{object}`", created.kind));
        let deadline = made.pointer("/spec/activeDeadlineSeconds").and_then(Json::as_u64).unwrap_or(NO_DEADLINE);
        let limits = Limits { queue, run: Duration::from_secs(deadline) + SLACK, waited: Duration::ZERO, ran: None };
        let mut logs = Logs::new(self, output.to_owned(), &Rules::none(), collect::LOG_LIMIT);
        let kept_alive = KeptAlive::beside([&made]);
        let mut sight = Sight::of(made);
        let (ending, progress) = self.follow(&mut sight, &mut logs, limits, kept_alive, &mut |_| Ok(()));
        if ending == Ending::Stopped && self.is_to_be_succeeded() {
            return Ok(Beside::Stopped);
        }
        // A log ends with its container: while that runs, not before the Job is gone.
        self.catch_up(&logs);
        self.remove(&created).unwrap_or_else(|fault| self.note_left(&object, &fault));
        let kept = logs.end(self.log_patience());
        logs::forget(output);
        let why = |status: Status, more: Option<StatusReason>| {
            let reasons = more.into_iter().chain(progress.reasons.iter().cloned());
            let reasons: Vec<String> = reasons.map(|reason| reason.message).collect();
            let last = kept.iter().filter(|(log, _)| log.is_main).flat_map(|(log, _)| &log.last_lines).next_back();
            let last = last.map_or_else(String::new, |line| format!("; its last line: {line}"));
            Beside::Failed(format!("`{name}` did not succeed ({}): {}{last}", word(status), reasons.join("; ")))
        };
        Ok(match ending {
            Ending::Itself(Status::Succeeded) => Beside::Succeeded,
            Ending::Itself(status) => why(status, None),
            Ending::TooLong(status, reason) => why(status, Some(reason)),
            Ending::Stopped => Beside::Stopped,
        })
    }
}

#[cfg(test)]
mod tests;
