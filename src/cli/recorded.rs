//! What became of results that were to be recorded, for people and for programs.

use anyhow::Result;
use serde_json::{Value as Json, json};

use super::ExitStatus;
use super::args::Global;
use super::findings::tell;
use kubebench_git::Destination;
use kubebench_git::record::{Conflict, Kind, NotRecorded, Recorded};
use kubebench_host::terminal;

/// Returns how what happens on the way is said.
pub(super) fn teller(global: &Global) -> fn(&str) {
    if global.quiet { |_| {} } else { terminal::tell }
}

/// Says what became of results, and returns the status for it.
pub(super) fn tell_outcome(
    global: &Global,
    destination: &Destination,
    outcome: Result<Recorded, NotRecorded>,
) -> ExitStatus {
    let recorded = match outcome {
        Ok(recorded) => recorded,
        Err(fault) => return tell_failure(&fault),
    };
    for note in &recorded.notes {
        tell(global, &format!("note: {note}"));
    }
    for conflict in &recorded.conflicts {
        terminal::tell(&format!("error: {conflict}\n  {}", Conflict::HELP));
    }
    tell(global, &recorded.summary(&destination.branch));
    if recorded.conflicts.is_empty() { ExitStatus::Yes } else { ExitStatus::Refused }
}

/// Returns the answer for programs.
pub(super) fn answer(recorded: &Recorded) -> Json {
    let Recorded { added, already, conflicts, commit, place, .. } = recorded;
    let refused: Vec<&str> = conflicts.iter().map(|conflict| conflict.path.as_str()).collect();
    json!({ "schemaVersion": 1, "added": added, "already": already, "refused": refused, "commit": commit, "place": place })
}

/// Says why nothing was recorded, and returns the status for it.
pub(super) fn tell_failure(fault: &NotRecorded) -> ExitStatus {
    terminal::tell(&format!("error: {fault}"));
    if let Some(help) = &fault.help {
        terminal::tell(&format!("  {help}"));
    }
    match fault.kind {
        Kind::Refused => ExitStatus::Refused,
        Kind::TryAgain => ExitStatus::NotRecorded,
    }
}
