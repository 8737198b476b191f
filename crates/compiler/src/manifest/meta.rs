//! Names, labels and annotations: the only place that sets them.

use serde_json::{Map, Value as Json};

use super::object::object;
use crate::model::{Benchmark, Case, Suite, Target};
use kubebench_contract::labels::{BENCHMARK, CASE, SUITE};

const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
const SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";

/// Returns the metadata of an object that Argo CD or Flux applies, of a benchmark or of all that a target has.
pub(super) fn applied(target: &Target, name: &str, benchmark: Option<&Benchmark>) -> Json {
    applied_of(target, name, benchmark.map(|benchmark| object([(BENCHMARK, benchmark.name.as_str().into())])))
}

/// Returns the same of an object of a suite.
pub(super) fn applied_of_suite(suite: &Suite, name: &str) -> Json {
    applied_of(&suite.target, name, Some(suite_labels(suite)))
}

/// Returns the labels of what belongs to a suite.
pub(super) fn suite_labels(suite: &Suite) -> Json {
    object([BENCHMARK, SUITE].map(|label| (label, suite.name.as_str().into())))
}

fn applied_of(target: &Target, name: &str, owner: Option<Json>) -> Json {
    let managed = ("app.kubernetes.io/managed-by", Json::from("kubebench"));
    // Flux would expand `${…}` in user text.
    let literal = ("kustomize.toolkit.fluxcd.io/substitute", "disabled".into());
    let annotations = match owner {
        Some(_) => object([literal]),
        // A Workflow that Argo sees before the objects that it refers to fails permanently.
        None => object([(SYNC_WAVE, "-1".into()), literal]),
    };
    let mut labels = owner.unwrap_or_else(|| Json::Object(Map::new()));
    if let Json::Object(labels) = &mut labels {
        labels.insert(managed.0.to_owned(), managed.1);
    }
    object([
        ("name", name.into()),
        ("namespace", target.namespace.as_str().into()),
        ("labels", labels),
        ("annotations", annotations),
    ])
}

/// Returns the metadata of an object that outlives its file in git: its content cannot be recreated.
pub(super) fn kept(mut metadata: Json) -> Json {
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
    object([("namespace", benchmark.target.namespace.as_str().into()), ("labels", pod_labels(benchmark, case))])
}

/// The same of an object that says something of itself: `own` keeps its labels and annotations, and `name` if there is one.
pub(super) fn created_over(own: Option<Json>, benchmark: &Benchmark, case: Option<&Case>, name: Option<&str>) -> Json {
    let mut metadata = created(benchmark, case);
    let Json::Object(fields) = &mut metadata else { return metadata };
    for (key, value) in
        own.and_then(|own| if let Json::Object(own) = own { Some(own) } else { None }).into_iter().flatten()
    {
        match (key.as_str(), fields.get_mut(&key), value) {
            ("labels", Some(Json::Object(ours)), Json::Object(theirs)) => ours.extend(theirs),
            ("labels" | "namespace", _, _) => {}
            (_, _, value) => drop(fields.insert(key, value)),
        }
    }
    if let Some(name) = name {
        fields.insert("name".to_owned(), name.into());
    }
    metadata
}

/// Returns the labels of jobs and their pods.
pub(super) fn pod_labels(benchmark: &Benchmark, case: Option<&Case>) -> Json {
    let of_benchmark = (BENCHMARK, benchmark.name.as_str().into());
    match case {
        Some(case) => object([of_benchmark, (CASE, case.id.as_str().into())]),
        None => object([of_benchmark]),
    }
}

/// Marks an object that is too large for the annotation of a client-side apply.
pub(super) fn require_server_side_apply(object: &mut Json) {
    if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Json::as_object_mut) {
        annotations.insert(SYNC_OPTIONS.to_owned(), "ServerSideApply=true".into());
    }
}
