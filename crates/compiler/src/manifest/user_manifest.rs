//! What a pod of the user's own object gets: labels, the variables of the run, and the volume of results where the spec asks
//! for it. Nothing else of it is touched.

use k8s_openapi::api::core::v1::{Volume, VolumeMount};
use serde_json::{Map, Value as Json, json};

use super::pod::Sees;
use super::run_object::RunObject;
use super::{meta, pod, template};
use crate::model::{Benchmark, Case, TemplateForm};
use crate::workload::{PodSet, kind_of, pod_sets};
use kubebench_contract::labels;
use kubebench_contract::{text_at, users};
use kubebench_syntax::invariant::Invariant as _;

/// Equips all that describes pods in `run`, the measured object of `case`, or what several cases load.
pub(super) fn equip(run: &mut RunObject, benchmark: &Benchmark, case: Option<&Case>) {
    let RunObject { object, labels_at, .. } = run;
    let container = kind_of(object).map_or("", |kind| kind.container);
    for set in pod_sets(object) {
        let main = template::main_of(object, &set.template, &set.form, container);
        // Pods of a Workflow, and of a runtime of the cluster, are described elsewhere.
        if main.is_some() || set.form != TemplateForm::Template {
            equip_pods(object, &set, main.as_deref(), (benchmark, case));
            labels_at.push(format!("{}/labels", set.form.metadata(&set.template)));
        }
    }
    for at in workflows(object) {
        workflow(object, &at, (benchmark, case));
        labels_at.push(format!("{at}/podMetadata/labels"));
    }
}

/// Gives the pods of `object`, which is created with the measured one, the labels by which the network policy knows them.
pub(super) fn label_pods(object: &mut Json, benchmark: &Benchmark, case: Option<&Case>) {
    for set in pod_sets(object) {
        label(object, &set, meta::pod_labels(benchmark, case));
    }
}

/// Adds labels to those of the pods `set`.
fn label(object: &mut Json, set: &PodSet, labels: Json) {
    let metadata = set.form.metadata(&set.template);
    let (owner, field) = metadata.rsplit_once('/').expected("a pointer to a field");
    let owner = object.pointer_mut(owner).and_then(Json::as_object_mut);
    let own = owner.and_then(|owner| mapping(owner, field)).and_then(|metadata| mapping(metadata, "labels"));
    if let (Some(own), Json::Object(labels)) = (own, labels) {
        own.extend(labels);
    }
}

/// Returns where the `spec` of a Workflow is in `object`: its own, or that of an Experiment's trials.
pub(super) fn workflows(object: &Json) -> Vec<String> {
    const PLACES: [&str; 2] = ["", "/spec/trialTemplate/trialSpec"];
    let is_workflow = |at: &&str| {
        let text = |field: &str| text_at(object, &format!("{at}/{field}"));
        text("apiVersion").starts_with("argoproj.io/") && matches!(text("kind"), "Workflow" | "WorkflowTemplate")
    };
    PLACES.into_iter().filter(is_workflow).map(|at| format!("{at}/spec")).collect()
}

/// Equips the pods of the Workflow whose `spec` is at `pointer`.
fn workflow(object: &mut Json, pointer: &str, (benchmark, case): (&Benchmark, Option<&Case>)) {
    let Some(Json::Object(spec)) = object.pointer_mut(pointer) else { return };
    if let (Some(labels), Json::Object(ours)) = (
        mapping(spec, "podMetadata").and_then(|metadata| mapping(metadata, "labels")),
        meta::pod_labels(benchmark, case),
    ) {
        labels.extend(ours);
    }
    if !benchmark.mount_in_job {
        return;
    }
    let (volume, mounts) = pod::results(benchmark, Sees::Run);
    add_volume(spec, &volume);
    let templates = spec.get_mut("templates").and_then(Json::as_array_mut).into_iter().flatten();
    for template in templates.filter_map(Json::as_object_mut) {
        // Of a template that says something of its own, that alone counts.
        if template.contains_key("securityContext") {
            join_group(template);
        }
        for field in ["container", "script"] {
            if let Some(Json::Object(container)) = template.get_mut(field) {
                say_variables(container, benchmark);
                add_mounts(container, &mounts);
            }
        }
    }
}

/// Equips the pods `set`, whose work is done by the container at `main`.
fn equip_pods(object: &mut Json, set: &PodSet, main: Option<&str>, (benchmark, case): (&Benchmark, Option<&Case>)) {
    let mut labels = meta::pod_labels(benchmark, case);
    if let Json::Object(labels) = &mut labels {
        labels.insert(labels::ROLE.to_owned(), set.role.as_str().into());
    }
    label(object, set, labels);
    let Some(Json::Object(main)) = main.and_then(|main| object.pointer_mut(main)) else { return };
    say_variables(main, benchmark);
    if !benchmark.mount_in_job {
        return;
    }
    let (volume, mounts) = pod::results(benchmark, Sees::Run);
    add_mounts(main, &mounts);
    if let Some(pod) = object.pointer_mut(&set.pod()).and_then(Json::as_object_mut) {
        add_volume(pod, &volume);
    }
}

/// Adds the volume of results to a pod, and the group that may write what of it the pod sees.
fn add_volume(pod: &mut Map<String, Json>, volume: &Volume) {
    if let Some(volumes) = list(pod, "volumes") {
        volumes.push(json!(volume));
    }
    join_group(pod);
}

fn join_group(pod: &mut Map<String, Json>) {
    let group = json!(users::GROUP);
    let context = mapping(pod, "securityContext");
    if let Some(groups) = context.and_then(|context| list(context, "supplementalGroups"))
        && !groups.contains(&group)
    {
        groups.push(group);
    }
}

/// Mounts what a container sees of the volume of results, but where it mounts something itself.
fn add_mounts(container: &mut Map<String, Json>, mounts: &[VolumeMount]) {
    let Some(own) = list(container, "volumeMounts") else { return };
    let is_taken = |mount: &VolumeMount| own.iter().any(|own| text_at(own, "/mountPath") == mount.mount_path);
    let free: Vec<Json> = mounts.iter().filter(|mount| !is_taken(mount)).map(|mount| json!(mount)).collect();
    own.extend(free);
}

/// Puts the variables of the run before those of a container that says none of them.
fn say_variables(container: &mut Map<String, Json>, benchmark: &Benchmark) {
    let Some(variables) = list(container, "env") else { return };
    let is_said = |name: &str| variables.iter().any(|variable| variable.get("name").is_some_and(|own| own == name));
    let ours =
        pod::own_variables(benchmark, pod::of_workload(benchmark)).into_iter().filter(|ours| !is_said(&ours.name));
    // The user's may refer to them, which Kubernetes resolves only backwards.
    let ours: Vec<Json> = ours.map(|variable| json!(variable)).collect();
    variables.splice(0..0, ours);
}

/// Returns the value under `field`; an absent one, or `null`, becomes `empty`.
fn under<'a>(object: &'a mut Map<String, Json>, field: &str, empty: Json) -> &'a mut Json {
    let value = object.entry(field).or_insert(Json::Null);
    if value.is_null() {
        *value = empty;
    }
    value
}

fn mapping<'a>(object: &'a mut Map<String, Json>, field: &str) -> Option<&'a mut Map<String, Json>> {
    under(object, field, Json::Object(Map::new())).as_object_mut()
}

fn list<'a>(object: &'a mut Map<String, Json>, field: &str) -> Option<&'a mut Vec<Json>> {
    under(object, field, Json::Array(Vec::new())).as_array_mut()
}
