//! Names, labels and annotations: the only place that sets them.

use serde_json::{Value as Json, json};

use crate::model::{Benchmark, Case, Target};

/// The benchmark that an object or pod belongs to.
pub(super) const BENCHMARK: &str = "kubebench.dev/benchmark";
/// The case that a job or pod belongs to.
pub(super) const CASE: &str = "kubebench.dev/case";
/// The run that a job or pod belongs to; its name is the job's. Set when the job is created.
pub(super) const RUN: &str = "kubebench.dev/run";
/// The step that a pod of the workflow executes.
pub(super) const STEP: &str = "kubebench.dev/step";
/// The role of a pod.
pub(super) const ROLE: &str = "kubebench.dev/role";
/// The prefix of every label that Kubebench owns.
pub(super) const PREFIX: &str = "kubebench.dev/";

const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

/// Returns the metadata of an object that Argo CD or Flux applies.
pub(super) fn applied(target: &Target, name: &str, benchmark: Option<&Benchmark>) -> Json {
    let mut labels = json!({ "app.kubernetes.io/managed-by": "kubebench" });
    if let (Some(labels), Some(benchmark)) = (labels.as_object_mut(), benchmark) {
        labels.insert(BENCHMARK.to_owned(), benchmark.name.as_str().into());
    }
    json!({
        "name": name,
        "namespace": target.namespace,
        "labels": labels,
        // Flux would expand `${…}` in user text.
        "annotations": { "kustomize.toolkit.fluxcd.io/substitute": "disabled" },
    })
}

/// Returns the metadata of an object that outlives its place in git: what it holds cannot be made again.
pub(super) fn kept(target: &Target, name: &str, benchmark: &Benchmark) -> Json {
    let mut metadata = applied(target, name, Some(benchmark));
    if let Some(annotations) = metadata.pointer_mut("/annotations").and_then(Json::as_object_mut) {
        annotations.insert(SYNC_OPTIONS.to_owned(), "Prune=false,Delete=false".into());
        annotations.insert("argocd.argoproj.io/compare-options".to_owned(), "IgnoreExtraneous".into());
        annotations.insert("kustomize.toolkit.fluxcd.io/prune".to_owned(), "disabled".into());
        annotations.insert("helm.sh/resource-policy".to_owned(), "keep".into());
    }
    metadata
}

/// Returns the metadata of a job that a Workflow creates: its name and the labels of the run are set then.
pub(super) fn created(benchmark: &Benchmark, case: Option<&Case>) -> Json {
    json!({ "namespace": benchmark.target.namespace, "labels": pod_labels(benchmark, case) })
}

/// Returns the labels of jobs and their pods.
pub(super) fn pod_labels(benchmark: &Benchmark, case: Option<&Case>) -> Json {
    let mut labels = json!({ BENCHMARK: benchmark.name });
    if let (Some(labels), Some(case)) = (labels.as_object_mut(), case) {
        labels.insert(CASE.to_owned(), case.id.as_str().into());
    }
    labels
}

/// Marks an object that is too large for the annotation of a client-side apply.
pub(super) fn require_server_side_apply(object: &mut Json) {
    if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Json::as_object_mut) {
        annotations.insert(SYNC_OPTIONS.to_owned(), "ServerSideApply=true".into());
    }
}
