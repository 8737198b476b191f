//! What a reader of a log gets to know of its container, and what it tells.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::reader::{Mark, Reader};
use super::{Begun, Followed, LogName, LogOrigin};
use crate::collect::Sink;
use crate::observe::container::Container;
use kubebench_host::fault::caught;

/// More is not kept of what is wrong with a log.
pub(super) const MAX_FAULTS: usize = 4;
/// How long nothing comes of a log that is cut until all counts as read that was written before.
const QUIET: Duration = Duration::from_secs(1);
/// How long one that is cut is read, though more comes.
const LONGEST_CUT: Duration = Duration::from_secs(5);
/// What a reader needs; there may be a thousand.
const STACK: usize = 256 << 10;

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
    /// Takes in what was seen, which may be older than what is known; returns whether it is new.
    fn see(&mut self, container: &Container) -> bool {
        let known = (self.restarts, self.has_started, self.has_ended);
        self.restarts = self.restarts.max(container.restarts);
        self.has_started |= container.has_started;
        self.has_ended |= container.has_ended;
        known != (self.restarts, self.has_started, self.has_ended)
    }
}

#[expect(clippy::struct_excessive_bools, reason = "facts that become true one by one, in any order")]
#[derive(Debug, Default)]
struct State {
    /// The pods of the replica, one after the other.
    pods: VecDeque<Instance>,
    /// Those whose logs were read.
    read: BTreeSet<String>,
    /// Whether all pods were seen that there are.
    is_listed: bool,
    is_closing: bool,
    /// Whether its container goes on, and it is to end where it is.
    is_cut: bool,
    is_done: bool,
    faults: Vec<String>,
    /// What holds the reader up.
    trouble: Option<String>,
}

/// What a follower and its reader share.
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    sink: Mutex<Option<Sink>>,
    bytes: AtomicU64,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sink(&self) -> MutexGuard<'_, Option<Sink>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known, and wakes whoever waits for that.
    fn change(&self, change: impl FnOnce(&mut State)) {
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

    /// Says what holds the reader up.
    pub(super) fn stumble(&self, why: String) {
        self.state().trouble = Some(why);
    }

    /// Says that the reader is held up no more.
    pub(super) fn recover(&self) {
        self.state().trouble = None;
    }

    /// Returns what holds the reader up.
    pub(super) fn trouble(&self) -> Option<String> {
        self.state().trouble.clone()
    }

    /// Keeps the next bytes, and says where the log goes on behind them; false when nobody wants them any more.
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

    /// Returns whether somebody wants the log still.
    pub(super) fn is_wanted(&self) -> bool {
        self.sink().is_some()
    }
}

/// A pod.
pub(super) struct PodName<'a> {
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    pub(super) created: i64,
}

/// One log that is kept.
pub(super) struct Follower {
    shared: Arc<Shared>,
}

impl Follower {
    /// Goes on with a log in a thread of its own.
    pub(super) fn start(origin: &Arc<dyn LogOrigin>, name: &LogName, begun: Begun) -> Self {
        let has_ended = begun.sink.as_ref().is_none_or(|sink| sink.log.has_ended());
        let (mark, shared) = share(begun);
        if has_ended {
            shared.change(|state| state.is_done = true);
            return Self { shared };
        }
        let reader = Reader::new(Arc::clone(origin), Arc::clone(&shared), name, mark);
        let run = move || {
            let shared = Arc::clone(reader.shared());
            if let Err(fault) = caught(|| reader.run()) {
                shared.fail(format!("a bug in kubebench interrupted reading it: {fault}"));
            }
            shared.change(|state| state.is_done = true);
        };
        let started = std::thread::Builder::new().name("log".to_owned()).stack_size(STACK).spawn(run);
        if let Err(error) = started {
            shared.fail(format!("no thread can be started to read it: {error}"));
            shared.change(|state| state.is_done = true);
        }
        Self { shared }
    }

    /// Takes up a log whose pod nobody has seen since the step was started again.
    pub(super) fn of_the_past(begun: Begun) -> Self {
        let has_ended = begun.sink.as_ref().is_none_or(|sink| sink.log.has_ended());
        let (mark, shared) = share(begun);
        if !has_ended && !mark.is_whole {
            shared.fail("its pod was gone when the step was restarted, so the rest is lost".to_owned());
        }
        shared.change(|state| state.is_done = true);
        Self { shared }
    }

    /// Takes in the container as it is now.
    pub(super) fn see(&self, pod: &PodName<'_>, container: &Container) {
        let mut state = self.shared.state();
        if state.is_done || state.read.contains(pod.uid) {
            return;
        }
        let mut is_news = false;
        if !state.pods.iter().any(|known| known.uid == pod.uid) {
            is_news = true;
            state.pods.push_back(Instance {
                pod: pod.name.to_owned(),
                uid: pod.uid.to_owned(),
                created: pod.created,
                container: container.name.clone(),
                restarts: 0,
                has_started: false,
                has_ended: false,
                is_gone: false,
                is_replaced: false,
            });
        }
        for known in &mut state.pods {
            if known.uid == pod.uid {
                is_news |= known.see(container);
            } else if known.created < pod.created {
                known.is_replaced |= container.has_started;
            }
        }
        drop(state);
        if is_news {
            self.shared.changed.notify_all();
        }
    }

    /// Says that a pod is gone.
    pub(super) fn lose(&self, uid: &str) {
        let mut state = self.shared.state();
        let Some(pod) = state.pods.iter_mut().find(|pod| pod.uid == uid && !pod.is_gone) else { return };
        pod.is_gone = true;
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Says that all pods were seen that there are.
    pub(super) fn list(&self) {
        if !self.shared.state().is_listed {
            self.shared.change(|state| state.is_listed = true);
        }
    }

    /// Says that no pods will come any more.
    pub(super) fn close(&self) {
        self.shared.change(|state| state.is_closing = true);
    }

    /// Says that its container goes on, and it is to end where it is.
    pub(super) fn cut(&self) {
        self.shared.change(|state| state.is_cut = true);
    }

    /// Returns whether a container that has ended has printed more than was read.
    pub(super) fn lags(&self) -> bool {
        let state = self.shared.state();
        !state.is_done && state.pods.iter().any(|pod| pod.has_started && pod.has_ended)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Takes the log away from its reader, as the death of the step does.
    #[cfg(test)]
    pub(super) fn kill(self) {
        drop(self.shared.sink().take());
    }

    /// Waits for the end of the log, but no longer than `until`, and ends it.
    pub(super) fn finish(self, name: LogName, until: Instant) -> Option<Followed> {
        let mut state = self.shared.state();
        let until = if state.is_cut { until.min(Instant::now() + LONGEST_CUT) } else { until };
        let (mut bytes, mut quiet_since) = (self.bytes(), Instant::now());
        while !state.is_done {
            let mut left = until.saturating_duration_since(Instant::now());
            if state.is_cut {
                if self.bytes() != bytes {
                    (bytes, quiet_since) = (self.bytes(), Instant::now());
                }
                left = left.min(QUIET.saturating_sub(quiet_since.elapsed()));
            }
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut faults = std::mem::take(&mut state.faults);
        if !state.is_done && !state.is_cut {
            let why = state.trouble.take().unwrap_or_else(|| "its end did not arrive in time".to_owned());
            faults.push(format!("it was not read to its end: {why}"));
        }
        drop(state);
        let (mut log, scan, last_lines) = self.shared.sink().take()?.finish();
        log.blame(Some(faults.join("; ")).filter(|fault| !fault.is_empty()));
        let kept = log.finish();
        faults.extend(kept.fault.map(|fault| fault.to_string()));
        let fault = Some(faults.join("; ")).filter(|fault| !fault.is_empty());
        Some(Followed { name, scan, last_lines, dropped: kept.dropped, fault })
    }
}

fn share(begun: Begun) -> (Mark, Arc<Shared>) {
    let (mark, strange) = match begun.mark.as_str() {
        "" => (Mark::default(), None),
        text => serde_json::from_str(text).map_or_else(|error| (Mark::default(), Some(error)), |mark| (mark, None)),
    };
    let strange = strange.map(|error| format!("how far it was read is unknown, so it may repeat lines: {error}"));
    let has_ended = begun.sink.as_ref().is_some_and(|sink| sink.log.has_ended());
    // Those of a log that has ended are reported when it is finished again.
    let known = mark.faults.iter().filter(|_| !has_ended).cloned();
    let faults = known.chain(begun.fault).chain(strange).collect();
    let state = Mutex::new(State { faults, ..State::default() });
    let (sink, bytes) = (Mutex::new(begun.sink), AtomicU64::new(0));
    (mark, Arc::new(Shared { state, changed: Condvar::new(), sink, bytes }))
}
