//! Follows one job until it has ended, by watches: what is seen of it, and when it has taken too long.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value as Json;

use super::kept_alive::KeptAlive;
use super::logs::Logs;
use super::observations::{From, Sight};
use super::session::{ClusterStep, Event};
use super::word;
use crate::observe::neighbor::Neighbors;
use crate::observe::{Progress, State};
use kubebench_cluster::{Fault, Resource, Seen, Watch};
use kubebench_compiler::workload::{self, Purpose, kind_of};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};
use kubebench_syntax::text::first_of;

/// How often the loop looks around when nothing happens.
const TICK: Duration = Duration::from_millis(500);
/// What explains an end may be seen after it: a pod's exit code after its job's condition.
const SETTLE: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 2000 });
/// How long replicas that do not decide have to end after those that do.
const LINGER: Duration = Duration::from_secs(5);
/// How long an obstacle may last that time usually does not remove, such as a missing image; never longer than half of the
/// timeout, whose end would hide it.
const OBSTACLE: Duration = Duration::from_mins(5);
/// How often at most it is kept who shares the nodes of a run.
const NEIGHBORS_KEPT: Duration = Duration::from_secs(10);
/// By which a job is Kueue's, and Kueue keeps a Workload of it.
const QUEUE_LABEL: &str = "/metadata/labels/kueue.x-k8s.io~1queue-name";
/// How many replicas a message names.
const NAMED: usize = 3;
const OBSTACLES: [ReasonCode; 4] =
    [ReasonCode::ConfigMissing, ReasonCode::ImagePull, ReasonCode::MountFailed, ReasonCode::Rejected];

/// How long a job may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Until all its pods are scheduled.
    pub(super) queue: Duration,
    /// From then on until all of them run, and from then on again.
    pub(super) run: Duration,
    /// How long it has waited already.
    pub(super) waited: Duration,
    /// How long all its pods ran already; none when they did not.
    pub(super) ran: Option<Duration>,
}

impl Limits {
    /// Returns how long an obstacle may last.
    fn obstacle(&self) -> Duration {
        OBSTACLE.min(self.run / 2)
    }
}

/// What the follower of a job gets to see before its end.
#[derive(Clone, Copy, Debug)]
pub(super) enum News<'a> {
    /// All its pods run, for the first time.
    Runs,
    /// These pods of others have shared a node with it by now.
    Neighbors(&'a Neighbors),
}

/// Why a job is not followed any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It ended.
    Itself(Status),
    /// It took too long to get going, or to end.
    TooLong(Status, StatusReason),
    /// The step is to end.
    Stopped,
}

impl ClusterStep {
    /// Follows the job `sight` until it has ended. What comes of its logs is in `logs`; `news` receives what is to be
    /// kept of it until then.
    pub(super) fn follow(
        &mut self,
        sight: &mut Sight,
        logs: &mut Logs,
        limits: Limits,
        mut kept_alive: KeptAlive,
        news: &mut dyn FnMut(News<'_>) -> Result<()>,
    ) -> (Ending, Progress) {
        sight.remember(logs.places());
        // What was followed before, a server for one, may have sent more than was read.
        self.is_to_end();
        let _watches = self.watch(sight);
        let began = Instant::now();
        let mut running_since = limits.ran.map(|_| began);
        let mut scheduled_since: Option<Instant> = None;
        let longest_obstacle = limits.obstacle();
        let mut obstacle: Option<Instant> = None;
        let mut ended: Option<Instant> = None;
        let mut inputs = String::new();
        let mut neighbors_kept: Option<Instant> = None;
        let mut progress = sight.sum();
        loop {
            let event = self.events.1.recv_timeout(TICK).ok();
            let more = std::iter::from_fn(|| self.events.1.try_recv().ok());
            let events: Vec<Event> = event.into_iter().chain(more).collect();
            // What others do changes nothing of the job.
            let has_seen = events.iter().any(|event| !matches!(event, Event::Seen(From::Namespace, _)));
            for event in events {
                match event {
                    Event::Seen(from, seen) => {
                        if let Some(text) = sight.take(from, seen) {
                            self.tell(&format!("note: {text}"));
                        }
                    }
                    Event::Stop(stop) => self.hear(stop),
                }
            }
            if has_seen {
                progress = sight.sum();
                logs.see(&progress, sight);
            }
            self.tell_progress(&progress, &mut inputs);
            if progress.is_scheduled() {
                scheduled_since.get_or_insert_with(Instant::now);
            }
            if progress.state == State::Running && running_since.is_none() {
                running_since = Some(Instant::now());
                news(News::Runs).unwrap_or_else(|error| self.tell(&format!("note: {error:#}")));
            }
            let known = sight.neighbors().map_or(0, Neighbors::len);
            sight.meet(&progress);
            if let Some(met) = sight.neighbors().filter(|met| met.len() > known)
                && neighbors_kept.is_none_or(|since| since.elapsed() >= NEIGHBORS_KEPT)
            {
                neighbors_kept = Some(Instant::now());
                news(News::Neighbors(met)).unwrap_or_else(|error| self.tell(&format!("note: {error:#}")));
            }
            if let State::Ended(status) = progress.state {
                let since = *ended.get_or_insert_with(Instant::now);
                let is_whole = progress.replicas.iter().all(|replica| replica.is_gone || replica.pod.is_over());
                let patience = match kind_of(sight.job()).map(|kind| kind.purpose) {
                    // It is ready, and continues.
                    Some(Purpose::Serves) if status == Status::Succeeded => Duration::ZERO,
                    _ if is_whole => SETTLE,
                    _ => LINGER,
                };
                if since.elapsed() >= patience || self.stop.is_some() {
                    let progress = self.last_look(sight, progress);
                    // Of a job that ended while it was not watched, these may be the first pods that are seen.
                    logs.see(&progress, sight);
                    return (Ending::Itself(status), progress);
                }
                continue;
            }
            ended = None;
            if self.stop.is_some() {
                return (Ending::Stopped, progress);
            }
            let ran = running_since.map(|since| since.elapsed() + limits.ran.unwrap_or_default());
            if ran.is_some_and(|ran| ran > limits.run) && !sight.is_blind() {
                let what = format!("stopped after its timeout of {} s", limits.run.as_secs());
                return (too_long(Status::TimedOut, ReasonCode::Timeout, what), progress);
            }
            if let Some(reason) = kept_alive.reason(&progress, sight).filter(|_| !sight.is_blind()) {
                return (Ending::TooLong(Status::Failed, reason), progress);
            }
            let first = progress.reasons.first();
            let is_obstacle = first.is_some_and(|reason| OBSTACLES.contains(&reason.code));
            obstacle = if is_obstacle { obstacle.or_else(|| Some(Instant::now())) } else { None };
            if obstacle.is_some_and(|since| since.elapsed() > longest_obstacle) && !sight.is_blind() {
                let what = format!("gave up after {} s, during which this did not change", longest_obstacle.as_secs());
                return (too_long(Status::Failed, ReasonCode::CannotStart, what), progress);
            }
            if running_since.is_some() || sight.is_blind() || !sight.is_listed() {
                continue;
            }
            match scheduled_since {
                Some(since) if since.elapsed() > limits.run => {
                    let what = format!(
                        "stopped {} s (its timeout) after its pods were scheduled: {}",
                        limits.run.as_secs(),
                        missing(&progress)
                    );
                    return (too_long(Status::TimedOut, ReasonCode::Timeout, what), progress);
                }
                None if began.elapsed() + limits.waited > limits.queue => {
                    let what =
                        format!("gave up after {} s (`queueTimeout`): {}", limits.queue.as_secs(), missing(&progress));
                    return (too_long(Status::Failed, ReasonCode::QueueTimeout, what), progress);
                }
                _ => {}
            }
        }
    }

    fn watch(&self, sight: &Sight) -> Vec<kubebench_cluster::Watching> {
        let job = sight.job();
        let text = |at: &str| job.pointer(at).and_then(Json::as_str).unwrap_or_default();
        let events = &self.events.0;
        let mut watches = Vec::new();
        if let Some(resource) = Resource::of(job) {
            let watch = Watch::all(&self.namespace, resource).named(text("/metadata/name"));
            watches.push(self.cluster.watch(watch, events.clone(), |seen| Event::Seen(From::Job, seen)));
        }
        let pods = Watch::all(&self.namespace, Resource::pods()).labels(&workload::selector(job));
        watches.push(self.cluster.watch(pods, events.clone(), |seen| Event::Seen(From::Pods, seen)));
        if sight.looks_around() {
            let pods = Watch::all(&self.namespace, Resource::pods());
            watches.push(self.cluster.watch(pods, events.clone(), |seen| Event::Seen(From::Namespace, seen)));
        }
        let inputs = Watch::all(&self.namespace, Resource::events());
        watches.push(self.cluster.watch(inputs, events.clone(), |seen| Event::Seen(From::Events, seen)));
        let queue = job.pointer(QUEUE_LABEL).and_then(|_| self.workloads());
        if let Some(workloads) = queue {
            let label = format!("kueue.x-k8s.io/job-uid={}", text("/metadata/uid"));
            let watch = Watch::all(&self.namespace, workloads).labels(&label);
            watches.push(self.cluster.watch(watch, events.clone(), |seen| Event::Seen(From::Queue, seen)));
        }
        watches
    }

    /// Returns what Kueue keeps of each job, in the version that this cluster's prefers.
    fn workloads(&self) -> Option<Resource> {
        let group = self.cluster.read("/apis/kueue.x-k8s.io").ok().flatten()?;
        let version = group.pointer("/preferredVersion/version").and_then(Json::as_str)?;
        Some(Resource::workloads(version))
    }

    /// Reads the job and its pods again, so that the end is explained by what there is and not by what had come.
    fn last_look(&self, sight: &mut Sight, progress: Progress) -> Progress {
        self.look(sight);
        let again = sight.sum();
        if matches!(again.state, State::Ended(_)) { again } else { progress }
    }

    /// Reads the pods and the events of a job as they are now.
    pub(super) fn look(&self, sight: &mut Sight) {
        match self.cluster.list(&Resource::pods(), &self.namespace, &workload::selector(sight.job())) {
            Ok(pods) => sight.relist(&pods),
            Err(fault) => self.tell(&format!("note: the pods cannot be read again: {fault}")),
        }
        match self.cluster.list(&Resource::events(), &self.namespace, "") {
            Ok(events) => events.into_iter().for_each(|event| drop(sight.take(From::Events, Seen::Applied(event)))),
            Err(fault) => self.tell(&format!("note: the events cannot be read again: {fault}")),
        }
    }

    fn tell_progress(&self, progress: &Progress, inputs: &mut String) {
        let state = match progress.state {
            State::Waiting => "waits".to_owned(),
            State::Running => "runs".to_owned(),
            State::Ended(status) => format!("has ended: {}", word(status)),
        };
        let nodes =
            if progress.nodes.is_empty() { String::new() } else { format!(" on {}", progress.nodes.join(", ")) };
        let why = progress.reasons.first().map_or_else(String::new, |reason| format!(": {}", reason.message));
        let text = format!("the job {state}{nodes}{why}");
        if *inputs != text {
            self.tell(&text);
            *inputs = text;
        }
    }
}

/// Says what a job lacks to run.
fn missing(progress: &Progress) -> String {
    if progress.reasons.iter().any(|reason| reason.code == ReasonCode::Queued) {
        return "its queue had not admitted it".to_owned();
    }
    let there: Vec<_> = progress.replicas.iter().filter(|replica| !replica.is_gone).collect();
    let (wanted, made) = (progress.wanted as usize, there.len());
    if made == 0 {
        let none = if wanted == 1 {
            "its pod was not created".to_owned()
        } else {
            format!("none of its {wanted} pods was created")
        };
        return format!("{none}: check the events of the job and the log of its operator");
    }
    if made < wanted {
        return format!("only {made} of its {wanted} pods were created: check the events of the job");
    }
    let (mut nowhere, mut idle) = (Vec::new(), Vec::new());
    for replica in there {
        let name = format!("{}-{}", replica.role, replica.index);
        match &replica.pod.node {
            None => nowhere.push(name),
            Some(node) if !replica.pod.has_started() => idle.push(format!("{name} on node `{node}`")),
            Some(_) => {}
        }
    }
    let (names, what) = if nowhere.is_empty() { (idle, "not started") } else { (nowhere, "no node") };
    let of = if wanted == 1 { String::new() } else { format!(" of its {wanted} pods") };
    format!("{}{of} had {what}", first_of(&names, NAMED))
}

fn too_long(status: Status, code: ReasonCode, message: String) -> Ending {
    Ending::TooLong(status, StatusReason { code, message })
}

/// Returns whether the object does not exist any more, or another one has its name.
pub(super) fn is_absent(found: &Result<Option<Json>, Fault>, uid: &str) -> bool {
    match found {
        Ok(Some(object)) => super::session::uid_of(object) != uid,
        Ok(None) => true,
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::observations::{From, Sight};
    use super::Limits;
    use crate::observe::State;
    use kubebench_cluster::Seen;
    use kubebench_format::result::v1::Status;

    #[test]
    fn an_obstacle_is_waited_for_five_minutes_or_half_of_the_timeout() {
        for (run, expected) in [(3600, 300), (601, 300), (600, 300), (240, 120)] {
            let run = Duration::from_secs(run);
            let limits = Limits { queue: Duration::ZERO, run, waited: Duration::ZERO, ran: None };
            assert_eq!(limits.obstacle(), Duration::from_secs(expected), "{run:?}");
        }
    }

    #[test]
    fn trouble_is_reported_once() {
        let mut sight = Sight::of(json!({"metadata": {"name": "x-1", "uid": "u"}}));
        let trouble = || Seen::Trouble("nobody answers".to_owned());
        assert!(sight.take(From::Pods, trouble()).is_some());
        assert!(sight.take(From::Pods, trouble()).is_none());
        assert!(sight.is_blind());
        assert!(sight.take(From::Pods, Seen::Fine).is_some());
        assert!(!sight.is_blind());
    }

    /// The kubelet deletes a pod again when its containers have ended.
    #[test]
    fn the_first_deletion_counts() {
        let version = |deleted: &str, grace: u32, code: Option<u32>| {
            let ended = |code: u32| json!({"terminated": {"exitCode": code, "startedAt": "2026-11-22T01:00:00Z", "finishedAt": "2026-11-22T01:00:10Z"}});
            let state = code.map_or_else(|| json!({"running": {"startedAt": "2026-11-22T01:00:00Z"}}), ended);
            Seen::Applied(json!({
                "metadata": {"name": "x-1-abcde", "uid": "p", "labels": {"kubebench.dev/role": "job"},
                    "creationTimestamp": "2026-11-22T01:00:00Z", "deletionTimestamp": deleted, "deletionGracePeriodSeconds": grace},
                "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "i"}]},
                "status": {"phase": "Running", "startTime": "2026-11-22T01:00:00Z", "containerStatuses": [{"name": "main",
                    "image": "i", "imageID": "", "ready": true, "restartCount": 0, "state": state}],
                    "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-22T01:00:00Z"}]}
            }))
        };
        let mut sight =
            Sight::of(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x-1", "uid": "u"},
            "spec": {"parallelism": 1}, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}));
        sight.take(From::Pods, version("2026-11-22T01:00:35Z", 30, None));
        sight.take(From::Pods, version("2026-11-22T01:00:12Z", 0, Some(0)));
        let progress = sight.sum();
        assert_eq!(progress.state, State::Ended(Status::Interrupted), "{progress:#?}");
    }
}
