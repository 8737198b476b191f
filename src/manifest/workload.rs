//! The object of one case: what `step run` creates for each of its runs.

use serde_json::{Map, Value as Json, json};

use super::{admission, given, instance, meta, overrides, patch, pipeline, pod};
use crate::diag::Diagnostics;
use crate::model::target::Queue;
use crate::model::{Api, Benchmark, Case, Given, Role, StepJob, Supporting, TemplateStep, Workload};

/// The objects of one case, without the name and labels of a run.
#[derive(Debug)]
pub(super) struct CaseObjects {
    /// The workload first, then what it needs.
    pub(super) objects: Vec<RunObject>,
    /// The Job after each run.
    pub(super) postprocess: Option<RunObject>,
}

/// An object that is created once a run, and where the run's name and labels go.
#[derive(Debug)]
pub(super) struct RunObject {
    /// The object.
    pub(super) object: Json,
    /// JSON Pointers that take the name of the run's job.
    pub(super) name_at: Vec<String>,
    /// JSON Pointers of mappings that take the labels of the run.
    pub(super) labels_at: Vec<String>,
}

/// Returns the objects of `case`.
pub(super) fn case_objects(benchmark: &Benchmark, case: &Case, diagnostics: &mut Diagnostics) -> CaseObjects {
    let workload = &case.workload;
    let found_before = diagnostics.as_slice().len();
    let mut objects = vec![main_object(benchmark, case)];
    objects.extend(
        workload
            .supporting
            .iter()
            .map(|Supporting { api, body, name }| run_object(benchmark, case, api, body.clone(), name.as_deref())),
    );
    if let (Some(_), Some(run)) = (&workload.given, objects.get_mut(workload.given_at())) {
        given::equip(run, benchmark, case);
    }
    for role in workload.roles.iter().filter(|_| workload.given.is_none()) {
        let Some(RunObject { object, name_at, labels_at }) = objects.get_mut(role.template_at.object) else { continue };
        let at = role.template_at.pointer();
        pod::refuse_reserved(role, diagnostics);
        put_at(object, &role.template_at.steps, pod::template(benchmark, Some(case), role, diagnostics));
        if workload.headless_service {
            name_at.push(format!("{at}/spec/subdomain"));
        }
        labels_at.push(format!("{at}/metadata/labels"));
    }
    if let Some(RunObject { object, .. }) = objects.get_mut(workload.given_at()) {
        submit_to_queue(benchmark, object);
        run_as_workflow(workload, object);
    }
    if let Some(RunObject { object, .. }) = objects.first_mut() {
        patch::apply_to_object(object, workload, diagnostics);
    }
    admit(&mut objects, benchmark, workload, found_before, diagnostics);
    if let (true, Some(main)) = (workload.takes_pods_of_cluster(), objects.first_mut()) {
        overrides::spread(main, benchmark.target.trainer);
    }
    if workload.headless_service {
        objects.push(headless_service(benchmark, case));
    }
    let postprocess = case.postprocess.as_ref().map(|job| step_job_of(benchmark, Some(case), job, diagnostics));
    CaseObjects { objects, postprocess }
}

/// Returns the workload's own object; where its spec is not given whole, without pod templates.
fn main_object(benchmark: &Benchmark, case: &Case) -> RunObject {
    let Workload { api, spec, name_at, given, .. } = &case.workload;
    let mut main = if let Some(Given { body, name }) = given {
        run_object(benchmark, case, api, body.clone(), name.as_deref())
    } else {
        let body = Map::from_iter([("spec".to_owned(), Json::Object(spec.clone()))]);
        run_object(benchmark, case, api, body, None)
    };
    main.name_at.extend(name_at.iter().cloned());
    main
}

/// Returns the object of `api` that is `body` but for its metadata; without a `name` it takes that of the run's job.
fn run_object(
    benchmark: &Benchmark,
    case: &Case,
    api: &Api,
    mut body: Map<String, Json>,
    name: Option<&str>,
) -> RunObject {
    let own = body.remove("metadata");
    body.insert("apiVersion".to_owned(), api.api_version.as_ref().into());
    body.insert("kind".to_owned(), api.kind.as_ref().into());
    body.insert("metadata".to_owned(), meta::created_over(own, benchmark, case, name));
    let name_at = if name.is_some() { Vec::new() } else { vec!["/metadata/name".to_owned()] };
    RunObject { object: Json::Object(body), name_at, labels_at: vec!["/metadata/labels".to_owned()] }
}

/// Returns the Job before the runs.
pub(super) fn step_job(benchmark: &Benchmark, job: &StepJob, diagnostics: &mut Diagnostics) -> RunObject {
    step_job_of(benchmark, None, job, diagnostics)
}

fn step_job_of(benchmark: &Benchmark, case: Option<&Case>, job: &StepJob, diagnostics: &mut Diagnostics) -> RunObject {
    pod::refuse_reserved(&job.role, diagnostics);
    let object = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta::created(benchmark, case),
        "spec": {
            "activeDeadlineSeconds": job.timeout.seconds(),
            "backoffLimit": 0,
            "template": pod::template(benchmark, case, &job.role, diagnostics),
        },
    });
    RunObject {
        object,
        name_at: vec!["/metadata/name".to_owned()],
        labels_at: vec!["/metadata/labels".to_owned(), "/spec/template/metadata/labels".to_owned()],
    }
}

/// Completes the pods that patches reach, and reports those that Kubernetes refuses.
///
/// After a fault of the patches themselves nothing is said: what is misspelled there is missing here.
fn admit(
    objects: &mut [RunObject],
    benchmark: &Benchmark,
    workload: &Workload,
    found_before: usize,
    diagnostics: &mut Diagnostics,
) {
    let is_sound = diagnostics.as_slice().len() == found_before;
    if workload.given.is_some() {
        return;
    }
    let is_patched =
        |role: &&Role| workload.patch.is_some() || !role.pod_patches.is_empty() || !role.container_patches.is_empty();
    for role in workload.roles.iter().filter(is_patched) {
        let object = objects.get_mut(role.template_at.object).map(|run| &mut run.object);
        let pointer = format!("{}/spec", role.template_at.pointer());
        let Some(pod) = object.and_then(|object| object.pointer_mut(&pointer)) else { continue };
        admission::complete(pod, workload, role);
        if is_sound {
            admission::check(pod, benchmark, workload, role, diagnostics);
        }
    }
}

/// Puts `value` behind `steps` from the `spec` of `object`; lists have their elements already.
fn put_at(object: &mut Json, steps: &[TemplateStep], value: Json) {
    let Some(mut place) = object.get_mut("spec") else { return };
    for step in steps {
        let next = match (step, place) {
            (TemplateStep::Element { index, .. }, Json::Array(items)) => items.get_mut(*index),
            (TemplateStep::Field(field), Json::Object(fields)) => {
                Some(fields.entry(field.as_ref()).or_insert_with(|| Json::Object(Map::new())))
            }
            _ => None,
        };
        let Some(next) = next else { return };
        place = next;
    }
    *place = value;
}

/// Gives the pods of a measured Workflow that names no account one that may write what Argo demands of each.
fn run_as_workflow(workload: &Workload, object: &mut Json) {
    if let ("workflow", Some(Json::Object(spec))) = (workload.key, object.get_mut("spec")) {
        spec.entry("serviceAccountName").or_insert_with(|| pipeline::WORKFLOW.into());
    }
}

fn submit_to_queue(benchmark: &Benchmark, object: &mut Json) {
    let Queue::Kueue(queue) = &benchmark.target.queue else { return };
    // Kueue manages no Workflow and no Experiment, but the pods of one and the jobs of the other.
    let (parent, field) = match object.get("kind").and_then(Json::as_str) {
        Some("Workflow" | "WorkflowTemplate") => ("/spec", "podMetadata"),
        Some("Experiment") => ("/spec/trialTemplate/trialSpec", "metadata"),
        _ => ("", "metadata"),
    };
    let parent = object.pointer_mut(parent).and_then(Json::as_object_mut);
    let metadata = parent.map(|parent| parent.entry(field).or_insert_with(|| json!({})));
    let labels = metadata.and_then(Json::as_object_mut).map(|it| it.entry("labels").or_insert_with(|| json!({})));
    if let Some(labels) = labels.and_then(Json::as_object_mut) {
        labels.entry("kueue.x-k8s.io/queue-name").or_insert_with(|| queue.as_str().into());
    }
}

/// The name that lets the pods of an indexed Job find each other.
fn headless_service(benchmark: &Benchmark, case: &Case) -> RunObject {
    let object = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta::created(benchmark, Some(case)),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": true,
            "selector": meta::pod_labels(benchmark, Some(case)),
        },
    });
    RunObject {
        object,
        name_at: vec!["/metadata/name".to_owned()],
        labels_at: vec!["/metadata/labels".to_owned(), "/spec/selector".to_owned()],
    }
}

/// Returns the objects of a case under `name`, for `kubectl` and for reading.
pub fn standalone(benchmark: &Benchmark, case: &Case, name: &str) -> Vec<Json> {
    let objects = case_objects(benchmark, case, &mut Diagnostics::default()).objects;
    objects
        .into_iter()
        .map(|RunObject { mut object, name_at, labels_at }| {
            instance::name_at(&mut object, &name_at, name);
            instance::label_at(&mut object, &labels_at, &[(meta::RUN, name.to_owned())]);
            object
        })
        .collect()
}
