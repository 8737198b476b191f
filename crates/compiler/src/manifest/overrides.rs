//! What Kubebench says over the pods of a runtime that it does not carry: the pod template of the role, taken apart into the
//! fields of a TrainJob that reach them.

use serde_json::{Map, Value as Json, json};

use super::run_object::RunObject;
use crate::model::target::TrainerApi;

/// Whose entry it is among the patches of a runtime.
const MANAGER: &str = "kubebench.dev/benchmark";
/// The Job of a runtime whose pods train.
const NODE: &str = "node";
/// Where the template is until then.
const TEMPLATE: &str = "/spec/template";

/// Removes the pod template from the TrainJob's `spec`, and expresses it in the fields of `version`.
///
/// What Kubebench sets by itself and a version cannot express is left to the runtime.
pub(super) fn spread(run: &mut RunObject, version: TrainerApi) {
    let RunObject { object, name_at, labels_at, .. } = run;
    let Some(spec) = object.get_mut("spec").and_then(Json::as_object_mut) else { return };
    let Some(Json::Object(mut template)) = spec.remove("template") else { return };
    let Some(Json::Object(mut pod)) = template.remove("spec") else { return };
    let mut containers = pod.remove("containers").and_then(list).unwrap_or_default();
    let main = containers.iter_mut().filter_map(Json::as_object_mut).find(|container| is_node(container));
    if let (Some(main), Some(trainer)) = (main, spec.get_mut("trainer").and_then(Json::as_object_mut)) {
        take_program(main, trainer, name_at);
    }
    let (of_pod, of_container) = version.of_pod();
    let mut known = |containers: Vec<Json>| -> Vec<Json> {
        let containers = containers.into_iter().filter_map(object_of);
        let kept = containers.map(|container| only(container, of_container)).filter(|container| container.len() > 1);
        kept.map(Json::Object).collect()
    };
    let containers = known(containers);
    let first = pod.remove("initContainers").and_then(list).map(&mut known).unwrap_or_default();
    let mut pod = only(pod, of_pod);
    for (name, containers) in [("containers", containers), ("initContainers", first)] {
        if !containers.is_empty() {
            pod.insert(name.to_owned(), Json::Array(containers));
        }
    }
    labels_at.retain(|at| !at.starts_with(TEMPLATE));
    let metadata = template.remove("metadata").unwrap_or_default();
    let entry = match version {
        TrainerApi::V2_0 => {
            pod.insert("targetJobs".to_owned(), json!([{ "name": NODE }]));
            Json::Object(pod)
        }
        TrainerApi::V2_1 => json!({ "metadata": metadata, "spec": pod, "targetJobs": [{ "name": NODE }] }),
        TrainerApi::V2_2 | TrainerApi::V2_3 => {
            let template = json!({ "metadata": metadata, "spec": pod });
            let job = json!({ "name": NODE, "template": { "spec": { "template": template } } });
            let runtime = json!({ "template": { "spec": { "replicatedJobs": [job] } } });
            json!({ "manager": MANAGER, "trainingRuntimeSpec": runtime })
        }
    };
    let overrides = spec.entry(version.field()).or_insert_with(|| json!([]));
    let Some(overrides) = overrides.as_array_mut() else { return };
    let at = format!("/spec/{}/{}", version.field(), overrides.len());
    overrides.push(entry);
    labels_at.extend(match version {
        TrainerApi::V2_0 => None,
        TrainerApi::V2_1 => Some(format!("{at}/metadata/labels")),
        TrainerApi::V2_2 | TrainerApi::V2_3 => {
            let template = "trainingRuntimeSpec/template/spec/replicatedJobs/0/template/spec/template";
            Some(format!("{at}/{template}/metadata/labels"))
        }
    });
}

/// Moves what the trainer says from the main container. A label that not every version can give names the run there, so
/// here its name does.
fn take_program(main: &mut Map<String, Json>, trainer: &mut Map<String, Json>, name_at: &mut Vec<String>) {
    for (from, to) in [
        ("image", "image"),
        ("command", "command"),
        ("args", "args"),
        ("env", "env"),
        ("resources", "resourcesPerNode"),
    ] {
        if let Some(value) = main.remove(from) {
            trainer.insert(to.to_owned(), value);
        }
    }
    let variables = trainer.get_mut("env").and_then(Json::as_array_mut).into_iter().flatten();
    for (index, variable) in variables.enumerate() {
        if variable.get("name").is_some_and(|name| name == "KUBEBENCH_EXP_ID") {
            *variable = json!({ "name": "KUBEBENCH_EXP_ID" });
            name_at.push(format!("/spec/trainer/env/{index}/value"));
        }
    }
}

fn is_node(container: &Map<String, Json>) -> bool {
    container.get("name").is_some_and(|name| name == NODE)
}

fn only(mut object: Map<String, Json>, fields: &[&str]) -> Map<String, Json> {
    object.retain(|field, _| fields.contains(&field.as_str()));
    object
}

fn list(value: Json) -> Option<Vec<Json>> {
    if let Json::Array(items) = value { Some(items) } else { None }
}

fn object_of(value: Json) -> Option<Map<String, Json>> {
    if let Json::Object(object) = value { Some(object) } else { None }
}
