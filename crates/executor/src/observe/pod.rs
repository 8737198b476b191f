//! What a pod says of itself, read once.
//!
//! Two kinds of clocks write into a pod: the API server's (created, scheduled) and that of its node's kubelet (the rest).
//! They differ, so their times are of different types, and nothing subtracts one from the other.

use k8s_openapi::api::core::v1::{
    Container, ContainerState, ContainerStateTerminated, ContainerStatus, Pod, PodCondition,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use kubebench_compiler::workload::PodSet;
use kubebench_format::result::v1::Exit;

/// A moment by the API server's clock, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerTime(pub(super) i64);

/// A moment by the clock of the pod's node, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeTime(pub(super) i64);

/// How far a pod has come, as Kubernetes says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not all of its containers were started.
    Pending,
    /// At least one container runs.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, at least one badly; or its node refused it.
    Failed,
    /// Its node does not answer, or Kubernetes says nothing.
    Unknown,
}

/// How the main container ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The exit code; above 128 usually the number of a signal.
    pub code: i32,
    /// The signal that ended it, such as `SIGKILL`.
    pub signal: Option<&'static str>,
    /// Kubernetes' word: `Completed`, `Error`, `OOMKilled`, `ContainerCannotRun`, …
    pub reason: String,
    /// What the container runtime or the container's own termination message says. It may hold secrets.
    pub message: String,
}

/// The facts of one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodFacts {
    pub name: String,
    pub uid: String,
    pub role: String,
    /// Its number in the role, where anything says it.
    pub index: Option<u32>,
    /// How far it has come.
    pub phase: Phase,
    /// The node that it was bound to.
    pub node: Option<String>,
    /// When it was created.
    pub created: Option<ServerTime>,
    /// When it was bound to its node.
    pub scheduled: Option<ServerTime>,
    /// When the kubelet took it.
    pub accepted: Option<NodeTime>,
    /// When its init containers had ended.
    pub initialized: Option<NodeTime>,
    /// When its main container was started, for the first time that is still known.
    pub started: Option<NodeTime>,
    /// When its main container ended permanently.
    pub ended: Option<NodeTime>,
    /// The main container's image as the object names it.
    pub image: Option<String>,
    /// The digest of the image that ran, `sha256:…`.
    pub digest: Option<String>,
    /// How often its main container was restarted.
    pub restarts: u32,
    /// How its main container ended; none while it runs, or when that is unknown.
    pub end: Option<End>,
    /// How it ended before it was restarted.
    pub last_end: Option<End>,
    /// Whether it takes requests.
    pub is_ready: bool,
}

impl PodFacts {
    /// Reads `pod`, whose work is done by the container `main`, or by its first one; `job` is the job's name, and `sets`
    /// are the pods that it asks for.
    pub(crate) fn read(pod: &Pod, job: &str, main: &str, sets: &[PodSet]) -> Self {
        let name = pod.metadata.name.clone().unwrap_or_default();
        let status = pod.status.as_ref();
        let container = main_status(pod, main);
        let template = of_workflow(pod, job, &name, sets);
        // Argo ends the names of pods with a hash, and trials are distinguished by their jobs: such pods are numbered by age.
        let is_of_workflow = template.is_some();
        let role = template.unwrap_or_else(|| role(pod, job, &name));
        let set = sets.iter().find(|set| set.role == role);
        let is_numbered = !is_of_workflow && set.is_none_or(|set| set.completions > 0);
        // Any pod that replaces the only one, as KubeRay makes a new head, is that replica again.
        let only = set.is_some_and(|set| set.replicas == 1 && set.completions == 1);
        let scheduled = condition(pod, "PodScheduled").filter(|condition| condition.status == "True");
        let initialized = condition(pod, "Initialized").filter(|condition| condition.status == "True");
        let final_state = container.and_then(final_state);
        Self {
            index: is_numbered
                .then(|| index(pod, job, &name, &role))
                .flatten()
                .map(|index| index.saturating_add(before(pod, set.map_or(0, |set| set.completions))))
                .or(only.then_some(0)),
            role,
            uid: pod.metadata.uid.clone().unwrap_or_else(|| name.clone()),
            name,
            phase: match status.and_then(|status| status.phase.as_deref()) {
                Some("Pending") => Phase::Pending,
                Some("Running") => Phase::Running,
                Some("Succeeded") => Phase::Succeeded,
                Some("Failed") => Phase::Failed,
                _ => Phase::Unknown,
            },
            node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).filter(|node| !node.is_empty()),
            created: pod.metadata.creation_timestamp.as_ref().map(ServerTime::of),
            scheduled: scheduled.and_then(|condition| condition.last_transition_time.as_ref()).map(ServerTime::of),
            accepted: status.and_then(|status| status.start_time.as_ref()).and_then(node_time),
            initialized: initialized.and_then(|condition| condition.last_transition_time.as_ref()).and_then(node_time),
            started: container.and_then(first_start),
            ended: final_state.and_then(|state| state.finished_at.as_ref()).and_then(node_time),
            image: declared(pod, main),
            digest: container.and_then(|container| digest(&container.image_id)),
            restarts: container.map_or(0, |container| u32::try_from(container.restart_count).unwrap_or(0)),
            last_end: container.and_then(|container| container.last_state.as_ref()?.terminated.as_ref()).map(end),
            is_ready: condition(pod, "Ready").is_some_and(|condition| condition.status == "True"),
            end: final_state.filter(|state| state.reason.as_deref() != Some("ContainerStatusUnknown")).map(end),
        }
    }

    /// Returns whether its main container was ever started.
    pub fn has_started(&self) -> bool {
        self.started.is_some() || self.end.is_some()
    }

    /// Returns whether nothing of it runs any more.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed) || self.end.is_some()
    }

    /// Returns how its main container ended, for the result; the last lines are the log's.
    pub(crate) fn exit(&self, index: u32) -> Option<Exit> {
        let end = self.end.as_ref()?;
        let signal = end.signal.map(str::to_owned);
        let code = if signal.is_some() { None } else { Some(end.code) };
        Some(Exit { role: self.role.clone(), index, code, signal, last_lines: Vec::new() })
    }
}

/// Returns the condition `name` of a pod.
pub(super) fn condition<'a>(pod: &'a Pod, name: &str) -> Option<&'a PodCondition> {
    let conditions = pod.status.as_ref()?.conditions.as_deref()?;
    conditions.iter().find(|condition| condition.type_ == name)
}

/// Returns when the deletion of `pod` was requested, which starts its grace period.
pub(super) fn deleted(pod: &Pod) -> Option<ServerTime> {
    let ServerTime(gone) = ServerTime::of(pod.metadata.deletion_timestamp.as_ref()?);
    let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or_default();
    Some(ServerTime(gone.saturating_sub(grace.saturating_mul(1000))))
}

/// Leaves in `newer` the first request for its deletion that `earlier` knows of. When the containers have ended the kubelet
/// asks again, without a grace period, and its time replaces the first.
pub(crate) fn keep_first_deletion(newer: &mut Pod, earlier: &Pod) {
    if let (Some(last), Some(first)) = (deleted(newer), deleted(earlier))
        && first < last
    {
        newer.metadata.deletion_timestamp.clone_from(&earlier.metadata.deletion_timestamp);
        newer.metadata.deletion_grace_period_seconds = earlier.metadata.deletion_grace_period_seconds;
    }
}

/// Returns when the cluster marked `pod` as one that it takes away.
pub(super) fn disrupted(pod: &Pod) -> Option<ServerTime> {
    let target = condition(pod, "DisruptionTarget").filter(|condition| condition.status == "True")?;
    target.last_transition_time.as_ref().map(ServerTime::of)
}

/// Returns the status of the container that does the work.
pub(super) fn main_status<'a>(pod: &'a Pod, main: &str) -> Option<&'a ContainerStatus> {
    let statuses = pod.status.as_ref()?.container_statuses.as_deref()?;
    let first = first_container(pod).map(|container| container.name.as_str());
    let named = |name: &str| statuses.iter().find(|status| status.name == name);
    named(main).or_else(|| named(first?))
}

/// Returns the first container that the pod's own description has: Argo puts its `wait` before them.
fn first_container(pod: &Pod) -> Option<&Container> {
    let containers = &pod.spec.as_ref()?.containers;
    let is_argos = |container: &&Container| container.name == "wait" && label(pod, WORKFLOW).is_some();
    containers.iter().find(|container| !is_argos(container))
}

fn declared(pod: &Pod, main: &str) -> Option<String> {
    let containers = &pod.spec.as_ref()?.containers;
    let container = containers.iter().find(|container| container.name == main).or(first_container(pod))?;
    container.image.clone()
}

fn label<'a>(pod: &'a Pod, name: &str) -> Option<&'a str> {
    let of = |texts: &'a Option<std::collections::BTreeMap<String, String>>| texts.as_ref()?.get(name);
    // Before Kubernetes 1.28 the index of a Job's pod is an annotation alone.
    of(&pod.metadata.labels).or_else(|| of(&pod.metadata.annotations)).map(String::as_str)
}

const ROLE_LABELS: [&str; 4] = [
    "kubebench.dev/role",
    "training.kubeflow.org/replica-type",
    "training.kubeflow.org/job-role",
    "jobset.sigs.k8s.io/replicatedjob-name",
];
const INDEX_LABELS: [&str; 3] =
    ["training.kubeflow.org/replica-index", "batch.kubernetes.io/job-completion-index", "volcano.sh/task-index"];

fn role(pod: &Pod, job: &str, name: &str) -> String {
    let labeled = ROLE_LABELS.iter().find_map(|name| label(pod, name)).map(str::to_lowercase);
    // `<job>-<role>` and `<job>-<role>-<index>` are the operators' names.
    let from_name = || name.strip_prefix(job)?.strip_prefix('-')?.split('-').next().map(str::to_owned);
    labeled.or_else(from_name).unwrap_or_default()
}

/// The label that Argo gives every pod of a Workflow, with the name of that.
const WORKFLOW: &str = "workflows.argoproj.io/workflow";
/// The role of pods whose template is part of a step itself and has no name.
const INLINE: &str = "inline";
/// The role of the pod that does what needs none of its own: requests of `http` templates, and plugins.
const AGENT: &str = "agent";

/// Returns the role of a pod of the measured Workflow `job`: the name of its template, which Argo puts between that of the
/// Workflow and a hash. `sets` begin with the entry point, whose pod has the name of the Workflow itself.
fn of_workflow(pod: &Pod, job: &str, name: &str, sets: &[PodSet]) -> Option<String> {
    if label(pod, WORKFLOW)? != job {
        return None;
    }
    let rest = name.strip_prefix(job)?;
    if rest.is_empty() {
        return sets.first().map(|set| set.role.clone());
    }
    let rest = rest.strip_prefix('-')?;
    let Some((template, hash)) = rest.rsplit_once('-') else { return Some(INLINE.to_owned()) };
    if hash == AGENT {
        return Some(AGENT.to_owned());
    }
    Some(template.to_owned())
}

fn index(pod: &Pod, job: &str, name: &str, role: &str) -> Option<u32> {
    let of_spark = || label(pod, "spark-exec-id")?.parse::<u32>().ok()?.checked_sub(1);
    let labeled = INDEX_LABELS.iter().find_map(|name| label(pod, name)).and_then(|text| text.parse().ok());
    let labeled = labeled.or_else(of_spark);
    if labeled.is_none() && role == "launcher" {
        return Some(0);
    }
    let from_name = || name.strip_prefix(job)?.strip_prefix('-')?.strip_prefix(role)?.strip_prefix('-')?.parse().ok();
    labeled.or_else(from_name)
}

/// Returns how many pods of its role the Jobs before its own number: of a JobSet each Job counts from 0.
fn before(pod: &Pod, completions: u32) -> u32 {
    number(pod, "jobset.sigs.k8s.io/job-index").saturating_mul(completions)
}

/// Returns how often its JobSet was started again before it was made.
pub(super) fn restarts_before(pod: &Pod) -> u32 {
    let labels = ["jobset.sigs.k8s.io/restart-attempt", "jobset.sigs.k8s.io/job-restart-attempt"];
    labels.iter().map(|name| number(pod, name)).fold(0, u32::max)
}

fn number(pod: &Pod, name: &str) -> u32 {
    label(pod, name).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Returns the digest in an `imageID`: `docker-pullable://repo@sha256:…`, `repo@sha256:…`, `docker://sha256:…` or bare.
pub(super) fn digest(image_id: &str) -> Option<String> {
    let start = image_id.rfind("sha256:")?;
    let digest = image_id.get(start..)?;
    let hex = digest.strip_prefix("sha256:")?;
    let is_hex = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_hex.then(|| digest.to_owned())
}

fn state(container: &ContainerStatus) -> Option<&ContainerState> {
    container.state.as_ref()
}

fn final_state(container: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    state(container)?.terminated.as_ref()
}

fn first_start(container: &ContainerStatus) -> Option<NodeTime> {
    let last = container.last_state.as_ref().and_then(|state| state.terminated.as_ref());
    let starts = [
        last.and_then(|terminated| terminated.started_at.as_ref()),
        state(container).and_then(|state| state.running.as_ref()).and_then(|running| running.started_at.as_ref()),
        final_state(container).and_then(|terminated| terminated.started_at.as_ref()),
    ];
    starts.into_iter().flatten().filter_map(node_time).min()
}

fn end(terminated: &ContainerStateTerminated) -> End {
    let code = terminated.exit_code;
    let number = terminated.signal.filter(|signal| *signal > 0).unwrap_or(code.saturating_sub(128));
    let is_start_failure = matches!(terminated.reason.as_deref(), Some("ContainerCannotRun" | "StartError"));
    let signal = usize::try_from(number).ok().filter(|_| !is_start_failure).and_then(|number| SIGNALS.get(number));
    End {
        code,
        signal: signal.copied().filter(|name| !name.is_empty()),
        reason: terminated.reason.clone().unwrap_or_default(),
        message: terminated.message.clone().unwrap_or_default(),
    }
}

/// Linux's signals by number, as x86-64 and arm64 count them.
const SIGNALS: [&str; 32] = [
    "",
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

impl ServerTime {
    /// Reads a time that the API server wrote.
    pub(super) fn of(time: &Time) -> Self {
        Self(time.0.as_millisecond())
    }
}

/// A kubelet that knows no time writes that of 1970.
pub(super) fn node_time(time: &Time) -> Option<NodeTime> {
    Some(time.0.as_millisecond()).filter(|time| *time > 0).map(NodeTime)
}

#[cfg(test)]
mod tests;
