//! Changes that began before a session from which on people look: none of them is open, and their levels are the baseline of what follows.

use super::{Baseline, Mark, Policy, Turn, WINDOW, baseline_of_commits};

/// Finds the baseline where no change is open that began with one of the first `settled` sessions: each is accepted, however large. Returns
/// also where these began, the oldest first.
pub fn baseline_after(
    values: &[f64],
    begins: &[usize],
    policy: Policy,
    marks: &[Mark],
    settled: usize,
) -> (Baseline, Vec<usize>) {
    let mut all = marks.to_vec();
    let mut accepted = Vec::new();
    loop {
        let mut found = baseline_of_commits(values, begins, policy, &all);
        let Some(at) = began(&found).filter(|at| *at < settled) else {
            found.pending = found.pending.filter(|pending| pending.from >= settled);
            accepted.sort_unstable();
            return (found, accepted);
        };
        let is_known = accepted.contains(&at);
        if !is_known {
            accepted.push(at);
            all.push(Mark { at, at_most: None });
            continue;
        }
        // By its median nothing got worse there, so that the mark begins no level.
        close(&mut found, at, values.len());
        accepted.sort_unstable();
        return (found, accepted);
    }
}

/// Returns where the change began that is open, or that the newest sessions alone do not show.
fn began(found: &Baseline) -> Option<usize> {
    let suspected = found.pending.map(|pending| pending.from);
    let is_change = |at: &usize| found.changes.iter().any(|change| change.at == *at && change.turn == Turn::Worse);
    found.open.map(|open| open.from).or(suspected.filter(is_change))
}

/// Makes the level that began with a session the normal one.
fn close(found: &mut Baseline, at: usize, sessions: usize) {
    (found.open, found.pending) = (None, None);
    found.held.clear();
    found.sessions = (at.max(sessions.saturating_sub(WINDOW))..sessions).collect();
    for change in found.changes.iter_mut().filter(|change| change.at >= at && change.turn == Turn::Worse) {
        change.turn = Turn::Accepted;
    }
}
