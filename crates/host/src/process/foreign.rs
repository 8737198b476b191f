//! Processes below this one that are not of a run.

use std::collections::BTreeMap;

use super::tree;

/// What ran below this process before the run, and what that started since: `exec` hands children on, and orphans of
/// theirs are adopted as those of the run are.
pub struct Foreign {
    /// When each was started, by its id, which another process may get later.
    started: BTreeMap<i32, String>,
}

impl Foreign {
    /// Records all that runs below this process now.
    pub fn now() -> Self {
        let mut found = Self { started: BTreeMap::new() };
        found.add(tree::below_me());
        found
    }

    /// Adds what they have started since.
    pub fn refresh(&mut self) {
        // The usual case costs nothing.
        if !self.started.is_empty() {
            let known = self.ids();
            self.add(tree::descendants(&known, &[]));
        }
    }

    /// Returns the ids of those that still run.
    pub(super) fn ids(&self) -> Vec<i32> {
        let is_same = |(pid, started): &(&i32, &String)| start_of(**pid).as_ref() == Some(*started);
        self.started.iter().filter(is_same).map(|(pid, _)| *pid).collect()
    }

    fn add(&mut self, pids: Vec<i32>) {
        self.started.extend(pids.into_iter().filter_map(|pid| Some((pid, start_of(pid)?))));
    }
}

/// Returns when a process was started, in ticks since the machine was.
fn start_of(pid: i32) -> Option<String> {
    tree::stat(pid)?.into_iter().nth(19)
}
