//! Objects are created: once, even when asked again, and with patience for obstacles that may pass.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value as Json;

use super::attempt::Created;
use super::session::{ClusterStep, is_leaving};
use kubebench_cluster::{Fault, Made, Refusal};
use kubebench_contract::text_at;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};

/// The pause between two tries to create a job for which there is no quota, or no free name, now.
const QUOTA_STEP: Duration = Duration::from_secs(10);
/// How long one call that creates is tried before that is reported.
const CALL: Duration = Duration::from_secs(20);
/// How long an API server, or a webhook that it asks, may be away when a job is to be created.
const PATIENCE: Duration = Duration::from_mins(10);
/// How long a webhook may take to see what was created before.
const SIGHT: Duration = Duration::from_mins(1);

/// For whom an object is created, and how long there may be no quota for it.
pub(super) struct Claim<'a> {
    /// The run's job, or the server, by its name.
    pub(super) job: &'a str,
    /// How long that has been waited for already.
    pub(super) waited: Duration,
    /// `queueTimeout`
    pub(super) queue: Duration,
}

/// Why a run has no job.
pub(super) enum NoJob {
    /// It ends with this.
    Ends(Status, StatusReason),
    /// The step is to end before there is one.
    Stopped,
}

impl NoJob {
    pub(super) fn new(status: Status, code: ReasonCode, message: String) -> Self {
        Self::Ends(status, StatusReason { code, message })
    }
}

impl ClusterStep {
    /// Creates an object, or finds the one that this run has created before.
    pub(super) fn create(&mut self, claim: &Claim<'_>, object: &Json) -> Result<Result<Made, NoJob>> {
        let cluster = self.cluster.clone().patience(CALL);
        let since = Instant::now();
        let mut inputs = "";
        loop {
            let fault = match cluster.create(&self.namespace, object) {
                Ok(Made::New(made)) => return Ok(Ok(Made::New(made))),
                Ok(Made::There(there)) if self.owns(&there, claim.job) && !is_leaving(&there) => {
                    return Ok(Ok(Made::There(there)));
                }
                // What keeps its name may be left of the run before.
                Ok(Made::There(there)) if self.is_owner(&there) && since.elapsed() < PATIENCE => {
                    self.remove(&Created::of(&there))?;
                    // Asked to end, it does not wait until the object is gone.
                    if self.is_to_end() {
                        return Ok(Err(NoJob::Stopped));
                    }
                    continue;
                }
                // That of a Workflow which was deleted goes soon after it.
                Ok(Made::There(there)) if is_leaving(&there) && since.elapsed() < PATIENCE => {
                    if self.waits(QUOTA_STEP) {
                        return Ok(Err(NoJob::Stopped));
                    }
                    continue;
                }
                Ok(Made::There(there)) => {
                    let what = format!(
                        "a {} `{}` that this Workflow does not own already exists, so the run cannot start: find out \
                         who created it, and delete it",
                        text_at(&there, "/kind"),
                        text_at(&there, "/metadata/name")
                    );
                    return Ok(Err(NoJob::new(Status::Failed, ReasonCode::ForeignObject, what)));
                }
                Err(Fault::Stopped) => return Ok(Err(NoJob::Stopped)),
                Err(fault) => fault,
            };
            let waits_for = match &fault {
                Fault::Refused(refusal) if is_quota(refusal) => {
                    if claim.waited + since.elapsed() > claim.queue {
                        let what = format!(
                            "gave up after {} s (`queueTimeout`) because the quota was used up: {refusal}",
                            claim.queue.as_secs()
                        );
                        return Ok(Err(NoJob::new(Status::Failed, ReasonCode::Quota, what)));
                    }
                    "quota"
                }
                // A webhook may see an object only after those that were created before it.
                Fault::Refused(refusal) if is_unseen(refusal, object) && since.elapsed() < SIGHT => {
                    "Trainer to see the runtime"
                }
                Fault::Refused(refusal) if !may_pass(refusal) || since.elapsed() > PATIENCE => {
                    return Ok(Err(NoJob::new(Status::Failed, ReasonCode::Rejected, refused(refusal, object))));
                }
                Fault::Unreachable(_) if since.elapsed() > PATIENCE => return Err(fault.into()),
                _ => "an answer",
            };
            if inputs != waits_for {
                self.tell(&format!("waiting for {waits_for}: {fault}"));
                inputs = waits_for;
            }
            if self.waits(QUOTA_STEP) {
                return Ok(Err(NoJob::Stopped));
            }
        }
    }

    /// Returns whether `object` is of this Workflow, for the job or the server called `job`.
    pub(super) fn owns(&self, object: &Json, job: &str) -> bool {
        self.is_owner(object) && text_at(object, "/metadata/labels/kubebench.dev~1run") == job
    }
}

/// Returns whether the same may be granted later: the API server is busy, or a webhook that it asks does not answer.
fn may_pass(refusal: &Refusal) -> bool {
    matches!(refusal.code, 408 | 429 | 500..=599)
}

/// Says why `object` cannot be created.
fn refused(refusal: &Refusal, object: &Json) -> String {
    if refusal.code == 404 && refusal.reason.is_empty() {
        let (kind, version) = (text_at(object, "/kind"), text_at(object, "/apiVersion"));
        return format!(
            "the cluster does not serve {kind} of {version}: install its operator, or set `apis` of the target to what \
             the cluster serves; `kubebench doctor` checks it"
        );
    }
    refusal.to_string()
}

/// Returns whether Trainer's webhook has not seen the runtime yet that was created just before.
fn is_unseen(refusal: &Refusal, object: &Json) -> bool {
    text_at(object, "/spec/runtimeRef/kind") == "TrainingRuntime"
        && refusal.message.contains("must be created before the TrainJob is created")
}

pub(super) fn is_quota(refusal: &Refusal) -> bool {
    refusal.code == 403 && refusal.message.contains("exceeded quota")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_by_itself_is_waited_for() {
        let passes = |code| may_pass(&Refusal { code, ..Refusal::default() });
        for code in [408, 429, 500, 502, 503, 504, 599] {
            assert!(passes(code), "{code}");
        }
        for code in [0, 400, 401, 403, 404, 409, 422, 499, 600] {
            assert!(!passes(code), "{code}");
        }
    }
}
