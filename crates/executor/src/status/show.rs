//! The status as people read it.

use std::time::Duration;

use super::{RunState, RunStatus, WorkflowStatus};
use kubebench_syntax::text::columns;
use kubebench_syntax::words::lasted;

/// How many runs that failed are named.
const NAMED: usize = 5;

/// Writes `sessions`; `elapsed` gives the seconds since a time, where that is known.
pub fn show(sessions: &[WorkflowStatus], elapsed: &dyn Fn(&str) -> Option<u64>) -> String {
    let mut shown = String::new();
    for (index, session) in sessions.iter().enumerate() {
        if index > 0 {
            shown.push('\n');
        }
        one(&mut shown, session, elapsed);
    }
    shown
}

fn one(shown: &mut String, session: &WorkflowStatus, elapsed: &dyn Fn(&str) -> Option<u64>) {
    let ago = |time: &str| elapsed(time).map(|seconds| lasted(Duration::from_secs(seconds)));
    let phase = session.phase.to_lowercase();
    let when = match &session.finished {
        Some(finished) => ago(finished).map(|ago| format!(" {ago} ago")),
        None => ago(&session.since).map(|ago| format!(" for {ago}")),
    };
    let when = when.unwrap_or_default();
    push(shown, &format!("{}  {phase}{when}  (Workflow {})", session.benchmark, session.workflow));
    push(shown, &format!("  {}", counts(session)));
    if !session.waits_for.is_empty() {
        push(shown, &format!("  waits for {}: `concurrency` of the target", session.waits_for.join(", ")));
    }
    if !session.message.is_empty() {
        push(shown, &format!("  Argo says: {}", session.message));
    }
    for note in &session.notes {
        push(shown, &format!("  note: {note}"));
    }
    if let Some(step) = &session.step {
        push(shown, &format!("  step {step} is running"));
    }
    let active: Vec<&RunStatus> = session.runs.iter().filter(|run| run.state.is_active()).collect();
    let rows: Vec<[String; 5]> = active.iter().map(|run| row(run, &ago)).collect();
    for (run, line) in active.iter().zip(columns(&rows)) {
        push(shown, &format!("  {line}"));
        details(shown, run);
    }
    let failed: Vec<&RunStatus> = session.runs.iter().filter(|run| run.state == RunState::Failed).collect();
    for run in failed.iter().take(NAMED) {
        let why = run.reasons.first().map(|reason| format!(": {}", reason.message)).unwrap_or_default();
        push(shown, &format!("  failed: {}{why}", run.name()));
    }
    if let Some(more) = failed.len().checked_sub(NAMED).filter(|more| *more > 0) {
        push(shown, &format!("  failed: {more} more"));
    }
    push(shown, &format!("  next: {}", session.next));
}

fn push(shown: &mut String, line: &str) {
    shown.push_str(line);
    shown.push('\n');
}

fn counts(session: &WorkflowStatus) -> String {
    let count = |state: RunState| session.count(|other| other == state);
    let mut text = format!("{} of {} runs done", count(RunState::Done), session.runs.len());
    let others = [
        (count(RunState::Failed), "failed"),
        (session.count(RunState::is_active), "active"),
        (count(RunState::Left), "not started"),
        (count(RunState::Skipped), "skipped"),
    ];
    for (count, word) in others.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {word}"));
    }
    text
}

/// Name, state, since when, pods, nodes.
fn row(run: &RunStatus, ago: &dyn Fn(&str) -> Option<String>) -> [String; 5] {
    let since = run.since.as_deref().and_then(ago).unwrap_or_default();
    let pods = run.job.as_ref().map(|job| format!("{} of {} pods", job.started, job.wanted)).unwrap_or_default();
    let nodes = run.job.as_ref().map(|job| match job.nodes.as_slice() {
        [] => String::new(),
        [node] => format!("on {node}"),
        [node, rest @ ..] => format!("on {node} and {} more", rest.len()),
    });
    [run.name(), run.state.shown().to_owned(), since, pods, nodes.unwrap_or_default()]
}

fn details(shown: &mut String, run: &RunStatus) {
    for reason in &run.reasons {
        push(shown, &format!("    held up: {}", reason.message));
    }
    if let Some(line) = run.job.as_ref().and_then(|job| job.last_line.as_ref()) {
        push(shown, &format!("    > {line}"));
    }
}
