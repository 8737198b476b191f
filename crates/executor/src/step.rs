//! The steps of a Workflow, each one call of `kubebench step` in a pod: `docs/reference/steps.md` is the contract.
//!
//! ```text
//! environment, inputs             variables and mounts     → what is to be done
//! attempt, snapshot, volume_state a run                    → its folder on the volume, which outlives the step
//! session, create                 the API server           → objects made and deleted
//! server                          what a run loads         → up, ready, kept for the next run, stopped
//! follow, observations, logs      watches and log streams  → how it ended
//! result, evidence                what it left             → its result file
//! whole                           all of that, even after a bug
//! ```

use kubebench_syntax::invariant::Invariant as _;

mod attempt;
mod auxiliary_job;
pub mod cleanup;
mod composition;
mod cost;
mod create;
mod environment;
mod evidence;
mod follow;
mod inputs;
mod kept_alive;
pub mod log;
mod logs;
mod observations;
pub mod prepare;
pub mod record;
mod result;
pub mod run;
mod run_list;
mod server;
mod session;
mod snapshot;
pub mod suite;
pub mod summary;
mod volume_state;
mod whole;

#[cfg(test)]
mod tests;

pub use environment::Environment;

use kubebench_format::result::v1::Status;

/// What a step says by its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All is well.
    Succeeded,
    /// It was done, and did not go well; trying again gives the same.
    Failed,
    /// Another pod resumes where this one was.
    Left,
}

/// Returns the word that results have for a status.
fn word(status: Status) -> String {
    serde_json::to_value(status)
        .ok()
        .and_then(|word| word.as_str().map(str::to_owned))
        .expected("a word for each status")
}
