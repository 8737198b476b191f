//! The logs that show why something did not succeed, for people.

use std::path::{Path, PathBuf};

use super::wait::Waited;
use crate::local::Folders;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Run, Status};
use kubebench_syntax::redact::Redactor;

/// The log of one replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaLog {
    /// The role and the index, such as `worker-0`.
    pub replica: String,
    /// The file with all of it.
    pub path: PathBuf,
    /// Its last lines, without secrets and without what a terminal obeys.
    pub last_lines: Vec<String>,
    end: End,
}

/// How the replica ended; the one that failed first comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Failed,
    Stopped,
    Succeeded,
}

/// Returns the logs of all replicas that were started.
pub(super) fn of_all(waited: &Waited, folders: &Folders, redactor: &Redactor) -> Vec<ReplicaLog> {
    let started = waited.finished.iter().filter(|finished| finished.ended.was_started());
    let mut logs: Vec<ReplicaLog> = started
        .map(|finished| ReplicaLog {
            replica: format!("{}-{}", finished.process.role, finished.process.index),
            path: Path::new(&folders.output()).join(&finished.log),
            // All at once, as a secret may have several lines.
            last_lines: redactor.text(&finished.last_lines.join("\n")).lines().map(str::to_owned).collect(),
            end: match (finished.ended.is_success(), finished.ended.by_itself) {
                (true, _) => End::Succeeded,
                (false, true) => End::Failed,
                (false, false) => End::Stopped,
            },
        })
        .collect();
    logs.sort_by_key(|log| log.end);
    logs
}

/// Returns those of `logs` that show why a run ended as `run` says.
pub(super) fn that_explain(run: &Run, mut logs: Vec<ReplicaLog>) -> Vec<ReplicaLog> {
    match run.status {
        Status::Failed => logs.retain(|log| log.end != End::Succeeded),
        Status::TimedOut => {}
        Status::Invalid if run.reasons.iter().any(|reason| reason.code == ReasonCode::MetricMissing) => {}
        _ => logs.clear(),
    }
    logs
}
