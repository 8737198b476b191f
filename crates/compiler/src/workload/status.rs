//! How the object of a kind says what became of it: the conditions that its controller writes.
//!
//! A condition counts only while its status is `True`: controllers keep those that no longer hold, with `False`.

use serde_json::Value as Json;

use super::condition::Condition;
pub(super) use super::pod_set::PodSet;
use super::{embedded_pods, kind_of};
use kubebench_contract::PodMetadata;
pub(super) use kubebench_contract::text_at;

/// The annotation that says when an object has succeeded, where its kind does not.
pub(super) const SUCCESS: &str = "kubebench.dev/success";
/// The annotation that says when it has failed.
pub(super) const FAILURE: &str = "kubebench.dev/failure";
/// The role of what loads a server.
pub(super) const LOAD: &str = "load";
const SUCCESS_AT: &str = "/metadata/annotations/kubebench.dev~1success";
const FAILURE_AT: &str = "/metadata/annotations/kubebench.dev~1failure";

/// Kinds that create other jobs and pods one after another, and end by themselves.
const COMPOSED: [&str; 2] = ["experiment", "workflow"];

/// What a job's controller reports about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Pending,
    /// It is held back, usually by a queue, and has no pods.
    Suspended,
    /// It runs, as far as its controller knows.
    Running,
    /// It ended well, or, if it serves, it is ready.
    Succeeded,
    /// It failed for good.
    Failed {
        /// The controller's word, such as `DeadlineExceeded`.
        reason: String,
        /// The controller's sentence.
        message: String,
    },
}

/// The replicas whose end is the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deciders {
    roles: Vec<String>,
    replicas: Replicas,
}

/// Which replicas of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replicas {
    All,
    First,
}

impl Deciders {
    /// Returns whether replica `index` of `role` is one of them.
    pub fn hold(&self, role: &str, index: u32) -> bool {
        self.roles.iter().any(|decider| decider == role) && (self.replicas == Replicas::All || index == 0)
    }
}

/// Returns the outcome that the object reports: by its conditions, else as its kind defines.
pub fn outcome(object: &Json) -> Outcome {
    let carried = |annotation: &str| Condition::parse(object.pointer(annotation)?.as_str()?).ok();
    let (success, failure) = (carried(SUCCESS_AT), carried(FAILURE_AT));
    if let Some(failure) = failure.filter(|failure| failure.holds(object)) {
        let (reason, message) = failure.why(object);
        return Outcome::Failed { reason, message };
    }
    match (&success, kind_of(object)) {
        (Some(success), _) if success.holds(object) => Outcome::Succeeded,
        (Some(_), Some(kind)) => match (kind.outcome)(object) {
            Outcome::Succeeded => Outcome::Running,
            other => other,
        },
        (None, Some(kind)) => (kind.outcome)(object),
        (_, None) => read(object, &[], &[], &["Running", "Ready"]),
    }
}

/// Returns which replicas' end is the end of the run; none of an object of an unknown kind.
pub fn deciders(object: &Json) -> Deciders {
    kind_of(object).map_or_else(|| all_of([]), |kind| (kind.deciders)(object))
}

/// Returns whether the object's controller decides which of its pods are needed, and deletes the others.
pub fn is_composed(object: &Json) -> bool {
    kind_of(object).is_some_and(|kind| COMPOSED.contains(&kind.key))
}

/// Returns the pods that the object requests, by role: as its kind defines, or, in an object of an unknown kind, everything that
/// describes pods.
pub fn pod_sets(object: &Json) -> Vec<PodSet> {
    kind_of(object).map_or_else(|| embedded_pods::pod_sets(object), |kind| (kind.pods)(object))
}

/// Adds labels and annotations to all pods that `object` describes; what they have already stays.
pub fn add_to_pods(object: &mut Json, metadata: &PodMetadata) {
    // Pods that a runtime of another object describes have no place in this one.
    let described = pod_sets(object).into_iter().filter(|set| !set.template.is_empty());
    let at: Vec<String> = described.map(|set| format!("{}/labels", set.form.metadata(&set.template))).collect();
    metadata.add_to(object, &at);
}

/// Returns how many pods there are of `sets` at once: one at least, where nothing says how many.
pub fn count(sets: &[PodSet]) -> u32 {
    sets.iter().map(|set| set.replicas).fold(0, u32::saturating_add).max(u32::from(!sets.is_empty()))
}

/// Returns the label selector of the pods of a run's object. Pods of a runtime of the cluster may lack the labels of the run:
/// they have those of the JobSet, which has the name of the TrainJob.
pub fn selector(object: &Json) -> String {
    let name = text_at(object, "/metadata/name");
    if text_at(object, "/kind") == "TrainJob" {
        return format!("jobset.sigs.k8s.io/jobset-name={name}");
    }
    format!("kubebench.dev/run={}", text_at(object, "/metadata/labels/kubebench.dev~1run"))
}

/// Returns the number at a JSON Pointer, as far as it is one of pods.
pub fn count_at(object: &Json, at: &str) -> Option<u32> {
    object.pointer(at).and_then(Json::as_u64).and_then(|number| u32::try_from(number).ok())
}

/// Returns the pods of a kind with `<framework>ReplicaSpecs`.
pub(super) fn replica_specs(object: &Json) -> Vec<PodSet> {
    let fields = object.get("spec").and_then(Json::as_object).into_iter().flatten();
    let specs = fields.filter(|(field, _)| field.ends_with("ReplicaSpecs"));
    let roles =
        specs.flat_map(|(field, roles)| roles.as_object().into_iter().flatten().map(move |role| (field, role.0)));
    roles
        .map(|(field, role)| {
            let replicas = count_at(object, &format!("/spec/{field}/{role}/replicas")).unwrap_or(1);
            let template = format!("/spec/{field}/{role}/template");
            PodSet::new(role.to_lowercase(), replicas, replicas, template)
        })
        .collect()
}

/// Returns the pods of a batch/v1 Job.
pub(super) fn batch_pods(object: &Json) -> Vec<PodSet> {
    let parallelism = count_at(object, "/spec/parallelism").unwrap_or(1);
    let completions = count_at(object, "/spec/completions").unwrap_or(parallelism);
    vec![PodSet::new(batch_role(object), parallelism.min(completions), completions, "/spec/template")]
}

/// Returns the role of the pods of a batch/v1 Job: what loads a server is a Job too.
pub(super) fn batch_role(object: &Json) -> &str {
    match text_at(object, "/spec/template/metadata/labels/kubebench.dev~1role") {
        LOAD => LOAD,
        _ => "job",
    }
}

/// Reads a job of the training operator, or an MPIJob of either operator.
///
/// `Failed` of an MPIJob v2beta1 may turn to `False` after a worker was evicted and replaced. Reading it as a failure
/// before that is right for a benchmark, whose times are lost.
pub(super) fn kubeflow(object: &Json) -> Outcome {
    read(object, &["Failed"], &["Succeeded"], &["Running", "Restarting"])
}

/// Reads a batch/v1 Job. `FailureTarget` and `SuccessCriteriaMet` are final: they come before pods are ended, `Failed`
/// and `Complete` after.
pub(super) fn batch(object: &Json) -> Outcome {
    let outcome = read(object, &["Failed", "FailureTarget"], &["Complete", "SuccessCriteriaMet"], &[]);
    let is_ready = object.pointer("/status/ready").and_then(Json::as_u64).is_some_and(|ready| ready > 0);
    if outcome == Outcome::Pending && is_ready { Outcome::Running } else { outcome }
}

/// Decides by all pods of these roles.
pub(super) fn all_of<'a>(roles: impl IntoIterator<Item = &'a str>) -> Deciders {
    Deciders { roles: roles.into_iter().map(str::to_owned).collect(), replicas: Replicas::All }
}

/// Decides by the first pod of a role.
pub(super) fn first_of(role: &str) -> Deciders {
    Deciders { roles: vec![role.to_owned()], replicas: Replicas::First }
}

/// Reads conditions: those of `failed` before those of `succeeded`, and both before a queue's.
pub(super) fn read(object: &Json, failed: &[&str], succeeded: &[&str], running: &[&str]) -> Outcome {
    if let Some(condition) = condition(object, failed) {
        let field = |name: &str| condition.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        return Outcome::Failed { reason: field("reason"), message: field("message") };
    }
    if condition(object, succeeded).is_some() {
        return Outcome::Succeeded;
    }
    // A queue sets the field before the controller has written any status.
    let is_asked =
        ["/spec/suspend", "/spec/runPolicy/suspend"].iter().any(|at| object.pointer(at) == Some(&true.into()));
    if condition(object, &["Suspended"]).is_some() || is_asked {
        return Outcome::Suspended;
    }
    if condition(object, running).is_some() { Outcome::Running } else { Outcome::Pending }
}

/// Returns the first condition of `types` that holds, in the order of `types`.
fn condition<'a>(object: &'a Json, types: &[&str]) -> Option<&'a Json> {
    types.iter().find_map(|wanted| condition_of(object, wanted, "True"))
}

/// Returns the condition of the type `wanted`, if it has this status.
pub fn condition_of<'a>(object: &'a Json, wanted: &str, status: &str) -> Option<&'a Json> {
    let mut conditions = object.pointer("/status/conditions").and_then(Json::as_array)?.iter();
    conditions.find(|condition| text_at(condition, "/type") == wanted && text_at(condition, "/status") == status)
}

#[cfg(test)]
mod tests;
