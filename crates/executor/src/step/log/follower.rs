//! One log that is kept: starts the thread that reads it, reports the state of its container to that thread, and ends it.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::mark::Mark;
use super::reader::Reader;
use super::shared::{Instance, Shared};
use super::{Begun, Followed, LogName, LogOrigin};
use crate::observe::container::Container;
use kubebench_host::fault::caught;

/// How long nothing comes of a log that is cut until all counts as read that was written before.
const QUIET: Duration = Duration::from_secs(1);
/// How long one that is cut is read, though more comes.
const LONGEST_CUT: Duration = Duration::from_secs(5);
/// What a reader needs; there may be a thousand.
const STACK: usize = 256 << 10;

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
    /// Continues a log in its own thread.
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

    /// Resumes a log whose pod was not seen since the step was started again.
    pub(super) fn of_the_past(begun: Begun) -> Self {
        let has_ended = begun.sink.as_ref().is_none_or(|sink| sink.log.has_ended());
        let (mark, shared) = share(begun);
        if !has_ended && !mark.is_whole {
            shared.fail("its pod was gone when the step was restarted, so the rest is lost".to_owned());
        }
        shared.change(|state| state.is_done = true);
        Self { shared }
    }

    /// Records the container as it is now.
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

    /// Says that its container continues, and that the log is to end where it is.
    pub(super) fn cut(&self) {
        self.shared.change(|state| state.is_cut = true);
    }

    /// Returns whether a container that has ended has printed more than was read.
    pub(super) fn lags(&self) -> bool {
        let state = self.shared.state();
        !state.is_done && state.pods.iter().any(|pod| pod.has_started && pod.has_ended)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shared.bytes()
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
    (mark, Arc::new(Shared::new(faults, begun.sink)))
}
