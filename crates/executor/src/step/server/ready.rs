//! When a server is ready: its controller says so, and it answers.

use std::time::{Duration, Instant};

use super::super::attempt::{Attempt, Created, Moment};
use super::super::follow::{Ending, Limits, is_absent};
use super::super::kept_alive::KeptAlive;
use super::super::logs::Logs;
use super::super::observations::{From, Sight};
use super::super::session::ClusterStep;
use super::address;
use super::kept::Up;
use crate::observe::{Progress, State};
use kubebench_cluster::Seen;
use kubebench_compiler::model::Served;
use kubebench_contract::{Server, text_at};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};

/// Between two requests to a server that is not ready.
pub(super) const PAUSE: Duration = Duration::from_millis(200);
/// How long a server that was ready may leave a request without an answer.
pub(super) const ANSWER: Duration = Duration::from_secs(30);
/// Between two looks at a server that is asked and does not answer.
const LOOK: Duration = Duration::from_secs(3);
/// A server that is ready before it was followed for so long may have been so before.
const AT_ONCE: Duration = Duration::from_secs(3);

/// Who has followed a server since it was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::step) enum Since {
    /// This step, without a gap.
    ThisStep,
    /// A step before this one, which is no more.
    AnotherStep,
    /// It is unknown when it was created: the step that did had no time to say so.
    Nobody,
}

/// What came of a server that was followed until it was ready.
pub(in crate::step) struct Ready {
    /// Why it is not followed any more: `Itself(Succeeded)` when it is ready.
    pub(in crate::step) ending: Ending,
    /// What was seen of it.
    pub(in crate::step) progress: Progress,
    /// Where it answers, once it does.
    pub(in crate::step) endpoint: Option<String>,
    /// How long that took from its creation, where that was seen.
    pub(in crate::step) seconds: Option<f64>,
}

impl ClusterStep {
    /// Follows the server `sight`, created at `began`, until it is ready and has answered.
    pub(in crate::step) fn until_ready(
        &mut self,
        attempt: &Attempt,
        served: &Served,
        sight: &mut Sight,
        logs: &mut Logs,
        began: &Moment,
        since: Since,
    ) -> Ready {
        let (waited, clock) = (Duration::from_secs_f64(began.age()), Instant::now());
        let within = Duration::from_secs(served.ready_seconds);
        let queue = Duration::from_secs(attempt.queue_timeout_seconds);
        let limits = Limits { queue, run: within, waited, ran: None };
        let (ending, progress) = self.follow(sight, logs, limits, KeptAlive::default(), &mut |_| Ok(()));
        let not_ready = |what: &str| {
            let message =
                format!("the server was not ready after {} s (`ready.timeout`): {what}", served.ready_seconds);
            Ending::TooLong(Status::Failed, StatusReason { code: ReasonCode::NotReady, message })
        };
        let mut ready = Ready { ending, progress, endpoint: None, seconds: None };
        match &ready.ending {
            Ending::Itself(Status::Succeeded) => {}
            Ending::TooLong(Status::TimedOut, _) => {
                ready.ending = not_ready("its controller or one of its pods did not report that it is ready");
                return ready;
            }
            _ => return ready,
        }
        let is_seen = match since {
            Since::ThisStep => true,
            Since::AnotherStep => clock.elapsed() > AT_ONCE,
            Since::Nobody => false,
        };
        let queued = Duration::from_secs_f64(ready.progress.timings.queue_seconds.unwrap_or_default());
        let left = within.saturating_sub((waited + clock.elapsed()).saturating_sub(queued)).max(ANSWER);
        match self.address_that_answers(served, sight, left) {
            Ok(endpoint) => {
                ready.endpoint = Some(endpoint);
                ready.seconds = is_seen.then(|| to_the_millisecond(waited + clock.elapsed()));
            }
            Err(_) if self.stop.is_some() => ready.ending = Ending::Stopped,
            Err(NoAnswer::Ended(status)) => {
                (ready.ending, ready.progress) = (Ending::Itself(status), sight.sum());
            }
            Err(NoAnswer::Silent(why)) => ready.ending = not_ready(&why),
        }
        ready
    }

    /// Asks the server until it answers; returns its address.
    fn address_that_answers(
        &mut self,
        served: &Served,
        sight: &mut Sight,
        within: Duration,
    ) -> Result<String, NoAnswer> {
        let (since, mut looked, mut inputs) = (Instant::now(), Instant::now(), String::new());
        loop {
            let object = sight.job();
            let answer = address::of(&self.cluster, &self.namespace, served, object).and_then(|endpoint| {
                address::ask(&endpoint, served, text_at(object, "/metadata/name")).map(|()| endpoint)
            });
            match answer {
                Ok(endpoint) => return Ok(endpoint),
                Err(why) if since.elapsed() > within || self.is_to_end() => return Err(NoAnswer::Silent(why)),
                Err(why) if why != inputs => {
                    self.tell(&format!("the server does not answer yet: {why}"));
                    inputs = why;
                }
                Err(_) => {}
            }
            if looked.elapsed() > LOOK {
                looked = Instant::now();
                if let Some(status) = self.end_of(sight) {
                    return Err(NoAnswer::Ended(status));
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Looks at a server that was ready, and returns how it has ended meanwhile, if it has.
    fn end_of(&mut self, sight: &mut Sight) -> Option<Status> {
        let created = Created::of(sight.job());
        let found = self.cluster.get(&created.resource()?, &self.namespace, &created.name);
        if is_absent(&found, &created.uid) {
            sight.take(From::Job, Seen::Gone { uid: created.uid });
        } else if let Ok(Some(object)) = found {
            sight.take(From::Job, Seen::Applied(object));
        }
        self.look(sight);
        match sight.sum().state {
            State::Ended(status) if status != Status::Succeeded => Some(status),
            _ => None,
        }
    }

    /// Asks a server that was ready until it answers.
    pub(super) fn answers(&mut self, server: &Server, up: &Up, within: Duration) -> Result<(), String> {
        let since = Instant::now();
        loop {
            match address::ask(&up.endpoint, &server.served, &up.name) {
                Ok(()) => return Ok(()),
                Err(why) if since.elapsed() > within || self.is_to_end() => return Err(why),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}

/// Why there is no answer.
enum NoAnswer {
    /// None came, and what came instead.
    Silent(String),
    /// The server has ended.
    Ended(Status),
}

fn to_the_millisecond(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}
