//! Why a run does not continue, or did not succeed, in words that say what to do.

use std::collections::{BTreeMap, BTreeSet};

use super::Pod;
use super::event::EventSummary;
use super::pod::{self, End, Phase, PodFacts, ServerTime};
use kubebench_compiler::workload::Purpose;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};

/// What a cause does to the run by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It may pass, or the job's controller decides.
    Holds,
    /// It ends the run, whatever the controller does about it.
    Ends,
    /// It ends the run, even where the controller takes the end for a success.
    Spoils,
}

/// One cause, of one replica or of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Why {
    pub(super) code: ReasonCode,
    pub(super) status: Status,
    pub(super) effect: Effect,
    /// `worker-0`, or empty for the job.
    pub(super) subject: String,
    /// What of it, with the verb.
    pub(super) what: String,
    /// When, where that is known.
    pub(super) at: Option<ServerTime>,
}

/// The codes from what explains most to what explains least; the first one found gives the status.
const RANKS: [&[ReasonCode]; 9] = [
    &[ReasonCode::Preempted],
    &[ReasonCode::NodeLost],
    &[ReasonCode::Timeout],
    &[ReasonCode::OutOfMemory, ReasonCode::Evicted],
    &[ReasonCode::Deleted],
    &[ReasonCode::ExitCode, ReasonCode::Signal, ReasonCode::Lost, ReasonCode::CannotStart, ReasonCode::Rejected],
    &[ReasonCode::ImagePull, ReasonCode::ConfigMissing, ReasonCode::MountFailed],
    &[ReasonCode::Quota, ReasonCode::Unschedulable, ReasonCode::Queued],
    &[ReasonCode::Restarting],
];

/// What a replica does by itself, so that its controller takes the others away.
const FAILURES: [ReasonCode; 5] =
    [ReasonCode::OutOfMemory, ReasonCode::Evicted, ReasonCode::ExitCode, ReasonCode::Signal, ReasonCode::Lost];

/// What JobSet, Trainer and KServe say of objects that they could not create.
const CREATION_FAILED: [&str; 4] =
    ["JobCreationFailed", "HeadlessServiceCreationFailed", "TrainJobResourcesCreationFailed", "InternalError"];

/// How many replicas a reason names.
const NAMED: usize = 3;

impl Why {
    pub(super) fn new(code: ReasonCode, status: Status, effect: Effect, subject: &str, what: String) -> Self {
        Self { code, status, effect, subject: subject.to_owned(), what, at: None }
    }

    /// Returns whether it ends the run.
    pub(super) fn ends(&self) -> bool {
        matches!(self.effect, Effect::Ends | Effect::Spoils)
    }

    fn holds(code: ReasonCode, subject: &str, what: String) -> Self {
        Self::new(code, Status::Failed, Effect::Holds, subject, what)
    }

    fn rank(&self) -> usize {
        RANKS.iter().position(|codes| codes.contains(&self.code)).unwrap_or(RANKS.len())
    }
}

/// Orders causes, so that the first is the one to name first.
pub(super) fn sort(whys: &mut [Why]) {
    whys.sort_by(|one, other| {
        let key = |why: &Why| (why.rank(), why.at.is_none(), why.at);
        key(one).cmp(&key(other)).then_with(|| (one.code.as_str(), &one.what).cmp(&(other.code.as_str(), &other.what)))
    });
}

/// Makes reasons of sorted causes; replicas to which the same happened share one.
pub(super) fn reasons(whys: &[Why]) -> Vec<StatusReason> {
    let mut subjects: BTreeMap<(&str, &str), BTreeSet<(&str, u32)>> = BTreeMap::new();
    for why in whys {
        subjects.entry((why.code.as_str(), &why.what)).or_default().insert(numbered(&why.subject));
    }
    let mut reasons = Vec::new();
    for why in whys {
        let Some(subjects) = subjects.remove(&(why.code.as_str(), why.what.as_str())) else { continue };
        let names: Vec<String> = subjects.iter().map(|(role, index)| format!("{role}-{index}")).take(NAMED).collect();
        let more = subjects.len().saturating_sub(NAMED);
        let message = match (why.subject.as_str(), more) {
            ("", _) => why.what.clone(),
            (_, 0) => format!("{}: {}", names.join(", "), why.what),
            (_, more) => format!("{} and {more} more: {}", names.join(", "), why.what),
        };
        reasons.push(StatusReason { code: why.code.clone(), message });
    }
    reasons
}

/// Splits `worker-10`, so that it comes after `worker-9`.
fn numbered(subject: &str) -> (&str, u32) {
    let parts = subject.rsplit_once('-').and_then(|(role, index)| Some((role, index.parse().ok()?)));
    parts.unwrap_or((subject, 0))
}

/// Leaves out the deletions that explain nothing. Controllers delete the pods of a job that failed, and replicas fail when
/// somebody deletes one that they need: what came first is the cause.
pub(super) fn explain_deletions(whys: &mut Vec<Why>, has_failed: bool) {
    let is_cause = |why: &Why| if has_failed { why.code != ReasonCode::Deleted } else { FAILURES.contains(&why.code) };
    let deletions = || whys.iter().filter(|why| why.code == ReasonCode::Deleted);
    let Some(deleted) = deletions().map(|why| (why.at.is_none(), why.at)).min() else { return };
    let Some(failed) = whys.iter().filter(|why| is_cause(why)).map(|why| (why.at.is_none(), why.at)).min() else {
        return;
    };
    if let (Some(deleted), Some(failed)) = (deleted.1, failed.1)
        && deleted < failed
    {
        return;
    }
    let ends = deletions().any(Why::ends);
    whys.retain(|why| why.code != ReasonCode::Deleted);
    if ends {
        // The run ends with the pods that it needs, whatever its controller says.
        whys.iter_mut().filter(|why| FAILURES.contains(&why.code)).for_each(|why| why.effect = Effect::Ends);
    }
}

/// What is asked about one pod.
pub(super) struct Subject<'a> {
    pub(super) pod: &'a Pod,
    pub(super) facts: &'a PodFacts,
    pub(super) name: &'a str,
    /// Whether the run ends when it does.
    pub(super) decides: bool,
    /// The API server does not have it any more.
    pub(super) is_gone: bool,
    /// When it ended.
    pub(super) ended: Option<ServerTime>,
    pub(super) events: &'a [EventSummary<'a>],
    /// The container that does the work.
    pub(super) main: &'a str,
    /// What the pod is for.
    pub(super) purpose: Purpose,
}

impl Subject<'_> {
    /// Returns why this pod does not continue or did not end well; the first cause is the one that explains the others.
    pub(super) fn why(&self) -> Option<Why> {
        if self.purpose == Purpose::Serves {
            let taken = self.disruption().or_else(|| self.deletion());
            return taken.or_else(|| self.fall()).or_else(|| self.failure()).or_else(|| self.delay());
        }
        if self.has_succeeded() {
            // One that is asked to end may end well before its work is done, and what it measured is not the whole.
            let effect = if self.decides { Effect::Spoils } else { Effect::Holds };
            let taken = self.disruption().or_else(|| self.deletion()).filter(|_| self.had_to_end());
            return taken.map(|why| Why { effect, ..why });
        }
        self.disruption().or_else(|| self.deletion()).or_else(|| self.failure()).or_else(|| self.delay())
    }

    /// Returns whether it ended well.
    pub(super) fn has_succeeded(&self) -> bool {
        self.purpose == Purpose::Works && self.has_ended_well()
    }

    fn has_ended_well(&self) -> bool {
        self.facts.end.as_ref().map_or(self.facts.phase == Phase::Succeeded, |end| end.code == 0)
    }

    fn status_text(&self) -> (&str, &str) {
        let status = self.pod.status.as_ref();
        let reason = status.and_then(|status| status.reason.as_deref()).unwrap_or_default();
        (reason, status.and_then(|status| status.message.as_deref()).unwrap_or_default())
    }

    /// A pod that did no work yet is replaced without harm.
    fn effect(&self) -> Effect {
        if self.facts.has_started() { Effect::Ends } else { Effect::Holds }
    }

    /// The cluster took the pod or its node away.
    fn disruption(&self) -> Option<Why> {
        let node = self.facts.node.as_deref().map_or_else(|| "its node".to_owned(), |node| format!("node `{node}`"));
        let (reason, message) = self.status_text();
        let made = |code, status, what: String| Some(Why::new(code, status, self.effect(), self.name, what));
        let preempted = |code, what: String| made(code, Status::Preempted, what);
        match reason {
            "Evicted" => {
                let what = format!("evicted by {node}: {}", sentence(message));
                return made(ReasonCode::Evicted, Status::Failed, what);
            }
            "NodeLost" => return preempted(ReasonCode::NodeLost, format!("{node} was lost: {}", sentence(message))),
            "NodeShutdown" | "Shutdown" => {
                return preempted(ReasonCode::NodeLost, format!("{node} was shut down: {}", sentence(message)));
            }
            _ => {}
        }
        let target = pod::condition(self.pod, "DisruptionTarget").filter(|condition| condition.status == "True");
        if let Some(target) = target {
            let why = sentence(target.message.as_deref().unwrap_or_default());
            return match target.reason.as_deref().unwrap_or_default() {
                "PreemptionByScheduler" => {
                    preempted(ReasonCode::Preempted, format!("preempted by the scheduler: {why}"))
                }
                "DeletionByTaintManager" => {
                    preempted(ReasonCode::NodeLost, format!("{node} was lost or drained by a taint: {why}"))
                }
                "DeletionByPodGC" => preempted(ReasonCode::NodeLost, format!("{node} is gone: {why}")),
                "EvictionByEvictionAPI" => preempted(
                    ReasonCode::Preempted,
                    format!("evicted through the Eviction API, as by a drain of {node}: {why}"),
                ),
                "TerminationByKubelet" => {
                    preempted(ReasonCode::NodeLost, format!("terminated by {node}, as at its shutdown: {why}"))
                }
                other => preempted(ReasonCode::Preempted, format!("disrupted ({other}): {why}")),
            };
        }
        let marked = self
            .events
            .iter()
            .find(|event| event.reason == "TaintManagerEviction" && event.message.starts_with("Marking"));
        if marked.is_some() && (self.is_gone || self.pod.metadata.deletion_timestamp.is_some()) {
            return preempted(ReasonCode::NodeLost, format!("{node} was lost or drained by a taint"));
        }
        None
    }

    /// Returns whether its end followed its deletion. Times are whole seconds: in the same one a failure comes first.
    fn had_to_end(&self) -> bool {
        let is_well = self.facts.end.as_ref().is_none_or(|end| end.code == 0);
        let removal = [pod::disrupted(self.pod), pod::deleted(self.pod)].into_iter().flatten().min().zip(self.ended);
        removal.is_some_and(|(deleted, ended)| deleted < ended || is_well && deleted == ended)
    }

    /// The pod was deleted.
    fn deletion(&self) -> Option<Why> {
        let is_deleted = self.is_gone || self.pod.metadata.deletion_timestamp.is_some();
        let signal = self.facts.end.as_ref().and_then(|end| end.signal);
        // A pod that ended for its own reasons may be deleted afterwards.
        let ended_itself = self.facts.is_over() && !matches!(signal, Some("SIGTERM" | "SIGKILL")) && !self.had_to_end();
        let is_killed_for_memory = self.facts.end.as_ref().is_some_and(|end| end.reason == "OOMKilled");
        if !is_deleted || ended_itself || is_killed_for_memory {
            return None;
        }
        let what = "the pod was deleted while the run needed it".to_owned();
        let at = pod::deleted(self.pod);
        Some(Why { at, ..Why::new(ReasonCode::Deleted, Status::Interrupted, self.effect(), self.name, what) })
    }

    /// Its processes failed, or its node refused it.
    fn failure(&self) -> Option<Why> {
        let (reason, message) = self.status_text();
        if let Some(end) = &self.facts.end {
            if reason == "DeadlineExceeded"
                && !matches!(end.reason.as_str(), "OOMKilled" | "ContainerCannotRun" | "StartError")
            {
                return Some(self.deadline());
            }
            let (code, what) = end_of(end);
            return Some(Why::holds(code, self.name, what));
        }
        if self.facts.phase != Phase::Failed {
            return None;
        }
        if reason == "DeadlineExceeded" {
            return Some(self.deadline());
        }
        let statuses = self.pod.status.as_ref().and_then(|status| status.init_container_statuses.as_deref());
        let failed = statuses.unwrap_or_default().iter().find_map(|status| {
            let end = status.state.as_ref()?.terminated.as_ref().filter(|end| end.exit_code != 0)?;
            Some(format!("its init container `{}` exited with {}", status.name, end.exit_code))
        });
        if let Some(what) = failed {
            return Some(Why::holds(ReasonCode::ExitCode, self.name, what));
        }
        if !reason.is_empty() && !self.facts.has_started() {
            let what = format!("the node refused the pod ({reason}): {}", sentence(message));
            return Some(Why::holds(ReasonCode::CannotStart, self.name, what));
        }
        let what = "exited, but the kubelet reported no exit status".to_owned();
        Some(Why::holds(ReasonCode::Lost, self.name, what))
    }

    /// A server has ended: it is not the same one, even if it is started again.
    fn fall(&self) -> Option<Why> {
        let end = self.facts.end.as_ref().or(self.facts.last_end.as_ref())?;
        let (code, what) = end_of(end);
        Some(Why::new(
            code,
            Status::Failed,
            Effect::Spoils,
            self.name,
            format!("{what}, but a server must keep running"),
        ))
    }

    fn deadline(&self) -> Why {
        let what = "stopped at its pod's deadline".to_owned();
        Why::new(ReasonCode::Timeout, Status::TimedOut, Effect::Holds, self.name, what)
    }

    /// Something keeps it from running.
    pub(super) fn delay(&self) -> Option<Why> {
        if let Some(condition) = pod::condition(self.pod, "PodScheduled").filter(|condition| condition.status != "True")
        {
            let message = sentence(condition.message.as_deref().unwrap_or_default());
            return Some(match condition.reason.as_deref() {
                Some("SchedulingGated") => {
                    Why::holds(ReasonCode::Queued, self.name, format!("waiting for its queue: {message}"))
                }
                _ => Why::holds(ReasonCode::Unschedulable, self.name, format!("cannot be scheduled: {message}")),
            });
        }
        let status = self.pod.status.as_ref()?;
        let main = pod::main_status(self.pod, self.main);
        let others = [&status.init_container_statuses, &status.container_statuses].into_iter().flatten().flatten();
        let waiting = main.into_iter().chain(others).find_map(|container| {
            let waiting = container.state.as_ref()?.waiting.as_ref()?;
            let reason = waiting
                .reason
                .as_deref()
                .filter(|reason| !matches!(*reason, "ContainerCreating" | "PodInitializing"))?;
            self.waiting(reason, &container.image, waiting.message.as_deref().unwrap_or_default())
        });
        waiting.or_else(|| self.by_events())
    }

    fn waiting(&self, reason: &str, image: &str, message: &str) -> Option<Why> {
        let made = |code, what: String| Some(Why::holds(code, self.name, what));
        let message = sentence(message);
        match reason {
            "InvalidImageName" | "ErrImageNeverPull" => {
                let what = format!("the image `{image}` cannot be pulled ({reason}): {message}");
                Some(Why::new(ReasonCode::ImagePull, Status::Failed, Effect::Ends, self.name, what))
            }
            _ if reason.contains("ImagePull")
                || matches!(reason, "RegistryUnavailable" | "ImageInspectError" | "SignatureValidationFailed") =>
            {
                // The two take turns, and the second says nothing of the cause.
                let cause = self.events.iter().filter(|event| event.reason == "Failed").map(|event| event.message);
                let cause = cause
                    .filter(|message| message.starts_with("Failed to pull image"))
                    .max_by_key(|message| message.len());
                let cause = cause.filter(|_| reason == "ImagePullBackOff").map_or(message, sentence);
                made(
                    ReasonCode::ImagePull,
                    // What follows `secret:` would be taken for one.
                    format!(
                        "the image `{image}` cannot be pulled: {cause}; check its name and tag, and the pull secret"
                    ),
                )
            }
            "CreateContainerConfigError" => made(
                ReasonCode::ConfigMissing,
                format!("a Secret or ConfigMap of its environment is missing: {message}"),
            ),
            "CrashLoopBackOff" => made(ReasonCode::Restarting, format!("its container keeps exiting: {message}")),
            _ => made(ReasonCode::CannotStart, format!("the container cannot be started ({reason}): {message}")),
        }
    }

    /// What events say of a pod whose own status says nothing.
    fn by_events(&self) -> Option<Why> {
        if self.facts.has_started() {
            return None;
        }
        let last = |reasons: &[&str]| EventSummary::last(self.events, |event| reasons.contains(&event.reason));
        if let Some(event) = last(&["FailedMount", "FailedAttachVolume", "FailedMapVolume"]) {
            return Some(Why::holds(
                ReasonCode::MountFailed,
                self.name,
                format!("a volume cannot be mounted: {}", sentence(event.message)),
            ));
        }
        let event = last(&["FailedCreatePodSandBox"])?;
        Some(Why::holds(
            ReasonCode::CannotStart,
            self.name,
            format!("its node cannot set up the pod: {}", sentence(event.message)),
        ))
    }
}

/// Says how a container ended.
fn end_of(end: &End) -> (ReasonCode, String) {
    match (end.reason.as_str(), end.signal) {
        ("OOMKilled", _) => (
            ReasonCode::OutOfMemory,
            "killed because it used more memory than its limit; raise `resources.memory`".to_owned(),
        ),
        ("ContainerCannotRun" | "StartError", _) => {
            (ReasonCode::CannotStart, format!("the container cannot be started: {}", sentence(&end.message)))
        }
        (_, Some(signal)) => (ReasonCode::Signal, format!("terminated by {signal}")),
        (_, None) => (ReasonCode::ExitCode, format!("exited with {}", end.code)),
    }
}

/// Says that the pods that are there are not those that began.
pub(super) fn started_again(times: u32) -> Option<Why> {
    let count = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    let what = format!("all of its pods were restarted {count} after a failure: the work of the first start is lost");
    (times > 0).then(|| Why::new(ReasonCode::StartedAgain, Status::Failed, Effect::Spoils, "", what))
}

/// Reads from events of the job why it lacks pods.
pub(super) fn missing_pods(events: &[EventSummary<'_>], job: &str) -> Option<Why> {
    let is_refused = |event: &EventSummary<'_>| {
        event.is_warning && (event.reason.starts_with("FailedCreate") || CREATION_FAILED.contains(&event.reason))
    };
    if let Some(event) = EventSummary::last(events, is_refused) {
        let message = without_chance(&sentence(event.message), job);
        if message.contains("exceeded quota") {
            return Some(Why::holds(ReasonCode::Quota, "", format!("the namespace's quota is used up: {message}")));
        }
        let is_final = ["denied the request", "violates PodSecurity", "is forbidden: ", " is invalid: "];
        let may_pass = ["failed calling webhook", "error looking up"];
        let contains = |words: &&str| message.contains(*words);
        if is_final.iter().any(contains) && !may_pass.iter().any(contains) {
            let what = format!("the cluster refuses the job's pods: {message}");
            return Some(Why::new(ReasonCode::Rejected, Status::Failed, Effect::Ends, "", what));
        }
        return Some(Why::holds(ReasonCode::Rejected, "", format!("the job's pods cannot be created: {message}")));
    }
    // An operator that finds the object invalid reports it only in an event, and then waits forever.
    let is_invalid = |event: &EventSummary<'_>| {
        event.is_warning && ["Validation", "Invalid"].iter().any(|word| event.reason.contains(word))
    };
    let event = EventSummary::last(events, is_invalid)?;
    let what = format!("the operator refuses the job ({}): {}", event.reason, sentence(event.message));
    Some(Why::new(ReasonCode::Rejected, Status::Failed, Effect::Ends, "", what))
}

/// Returns a message without the five letters that the Job controller draws for each try to create a pod, so that the same
/// refusal is reported once.
fn without_chance(message: &str, job: &str) -> String {
    let begin = format!("\"{job}-");
    let Some((before, rest)) = message.split_once(&begin) else { return message.to_owned() };
    match rest.split_once('"') {
        Some((drawn, after)) if drawn.len() == 5 && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            format!("{before}{begin}…\"{after}")
        }
        _ => message.to_owned(),
    }
}

/// Returns a message of Kubernetes as a part of a sentence of ours: on one line, without its full stop, of bearable length.
pub(super) fn sentence(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let text = words.join(" ");
    let text = text.trim_end_matches('.');
    if text.is_empty() {
        return "no reason is given".to_owned();
    }
    if text.chars().count() <= 500 {
        return text.to_owned();
    }
    text.chars().take(499).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
