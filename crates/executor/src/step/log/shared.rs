//! What a follower and its reader share: the pods of a replica as they come, and what became of their log.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::mark::Mark;
use crate::collect::Sink;
use crate::observe::container::Container;

/// The maximum number of faults kept of a log.
pub(super) const MAX_FAULTS: usize = 4;

/// A container as it was last seen.
#[expect(clippy::struct_excessive_bools, reason = "facts that become true one by one, in any order")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) pod: String,
    pub(super) uid: String,
    /// When it was created, in milliseconds.
    pub(super) created: i64,
    pub(super) container: String,
    /// How often the container was restarted.
    pub(super) restarts: u32,
    /// Whether it has run.
    pub(super) has_started: bool,
    /// Whether it has ended for good.
    pub(super) has_ended: bool,
    /// Whether the pod is gone.
    pub(super) is_gone: bool,
    /// Whether a later pod of the replica has started.
    pub(super) is_replaced: bool,
}

impl Instance {
    /// Records what was seen, which may be older than what is known; returns whether it is new.
    pub(super) fn see(&mut self, container: &Container) -> bool {
        let known = (self.restarts, self.has_started, self.has_ended);
        self.restarts = self.restarts.max(container.restarts);
        self.has_started |= container.has_started;
        self.has_ended |= container.has_ended;
        known != (self.restarts, self.has_started, self.has_ended)
    }
}

#[expect(clippy::struct_excessive_bools, reason = "facts that become true one by one, in any order")]
#[derive(Debug, Default)]
pub(super) struct State {
    /// The pods of the replica, one after the other.
    pub(super) pods: VecDeque<Instance>,
    /// Those whose logs were read.
    pub(super) read: BTreeSet<String>,
    /// Whether all existing pods were seen.
    pub(super) is_listed: bool,
    pub(super) is_closing: bool,
    /// Whether the log ends here although its container still runs.
    pub(super) is_cut: bool,
    pub(super) is_done: bool,
    pub(super) faults: Vec<String>,
    /// Why the reader cannot continue.
    pub(super) trouble: Option<String>,
}

/// What a follower and its reader share.
pub(super) struct Shared {
    state: Mutex<State>,
    pub(super) changed: Condvar,
    sink: Mutex<Option<Sink>>,
    bytes: AtomicU64,
}

impl Shared {
    /// Makes the state of a log that is not read yet; `faults` are known already.
    pub(super) fn new(faults: Vec<String>, sink: Option<Sink>) -> Self {
        let state = Mutex::new(State { faults, ..State::default() });
        Self { state, changed: Condvar::new(), sink: Mutex::new(sink), bytes: AtomicU64::new(0) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sink(&self) -> MutexGuard<'_, Option<Sink>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes the threads that wait for a change.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Waits for the next pod whose container has started, or returns none when there will be none. The pod of `mark` is
    /// the first, those created before it were read.
    pub(super) fn next_pod(&self, mark: &Mark) -> Option<Instance> {
        let mut state = self.state();
        loop {
            let is_awaited =
                !mark.uid.is_empty() && !mark.is_whole && !state.pods.iter().any(|pod| pod.uid == mark.uid);
            if is_awaited && !state.is_listed && !state.is_closing {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.pods.make_contiguous().sort_by_key(|pod| pod.created);
            let marked = state.pods.iter().position(|pod| pod.uid == mark.uid);
            if let Some(pod) = marked.and_then(|at| state.pods.remove(at)) {
                state.pods.push_front(pod);
            }
            match state.pods.front() {
                Some(pod) if pod.created < mark.created => drop(state.pods.pop_front()),
                Some(pod) if pod.has_started => return Some(pod.clone()),
                // It will not start any more.
                Some(pod) if pod.is_gone || pod.has_ended || state.is_closing => drop(state.pods.pop_front()),
                None if state.is_closing => return None,
                _ => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Says that the log of the pod has been read.
    pub(super) fn end_pod(&self) {
        self.change(|state| state.read.extend(state.pods.pop_front().map(|pod| pod.uid)));
    }

    /// Returns the pod that is read, as it is now.
    pub(super) fn now(&self) -> Option<Instance> {
        self.state().pods.front().cloned()
    }

    /// Waits until the pod that is read is another than `known`, but no longer than `within`.
    pub(super) fn wait(&self, known: &Instance, within: Duration) {
        let state = self.state();
        let is_known = |state: &mut State| state.pods.front() == Some(known);
        drop(self.changed.wait_timeout_while(state, within, is_known));
    }

    /// Says what is wrong with the log.
    pub(super) fn fail(&self, why: String) {
        let mut state = self.state();
        if state.faults.len() < MAX_FAULTS && !state.faults.contains(&why) {
            state.faults.push(why);
        }
    }

    /// Says why the reader cannot continue.
    pub(super) fn stumble(&self, why: String) {
        self.state().trouble = Some(why);
    }

    /// Says that the reader continues.
    pub(super) fn recover(&self) {
        self.state().trouble = None;
    }

    /// Returns why the reader cannot continue.
    pub(super) fn trouble(&self) -> Option<String> {
        self.state().trouble.clone()
    }

    /// Keeps the next bytes and the mark behind them; returns false when the log is no longer kept.
    pub(super) fn put(&self, bytes: &[u8], mark: &str) -> bool {
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut sink = self.sink();
        let Some(sink) = sink.as_mut() else { return false };
        if !bytes.is_empty() {
            sink.take(bytes);
        }
        sink.log.mark(mark);
        true
    }

    /// Returns how many bytes came, including those that were not kept.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns whether the log is still kept.
    pub(super) fn is_wanted(&self) -> bool {
        self.sink().is_some()
    }
}
