//! The object of one case: what `step run` creates for each of its runs.

use serde_json::{Map, Value as Json, json};

use super::object::object;
use super::{admission, instance, meta, patch, pod};
use crate::diag::Diagnostics;
use crate::model::target::Queue;
use crate::model::{Benchmark, Case, Role, StepJob, Workload};

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
    let mut spec = Json::Object(workload.spec.clone());
    let mut labels_at = vec!["/metadata/labels".to_owned()];
    let mut name_at = vec!["/metadata/name".to_owned()];
    for role in &workload.roles {
        pod::refuse_reserved(role, diagnostics);
        let template = pod::template(benchmark, Some(case), role, diagnostics);
        insert_at(&mut spec, &role.template_at, template);
        let at = format!("/spec/{}", role.template_at.join("/"));
        if workload.headless_service {
            name_at.push(format!("{at}/spec/subdomain"));
        }
        labels_at.push(format!("{at}/metadata/labels"));
    }
    let mut job = object([
        ("apiVersion", workload.api.api_version.into()),
        ("kind", workload.api.kind.into()),
        ("metadata", meta::created(benchmark, Some(case))),
        ("spec", spec),
    ]);
    submit_to_queue(benchmark, &mut job);
    patch::apply_to_object(&mut job, workload, diagnostics);
    admit(&mut job, benchmark, workload, found_before, diagnostics);
    let mut objects = vec![RunObject { object: job, name_at, labels_at }];
    if workload.headless_service {
        objects.push(headless_service(benchmark, case));
    }
    let postprocess = case.postprocess.as_ref().map(|job| step_job_of(benchmark, Some(case), job, diagnostics));
    CaseObjects { objects, postprocess }
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
    job: &mut Json,
    benchmark: &Benchmark,
    workload: &Workload,
    found_before: usize,
    diagnostics: &mut Diagnostics,
) {
    let is_sound = diagnostics.as_slice().len() == found_before;
    let is_patched =
        |role: &&Role| workload.patch.is_some() || !role.pod_patches.is_empty() || !role.container_patches.is_empty();
    for role in workload.roles.iter().filter(is_patched) {
        let pointer = format!("/spec/{}/spec", role.template_at.join("/"));
        let Some(pod) = job.pointer_mut(&pointer) else { continue };
        admission::complete(pod, workload, role);
        if is_sound {
            admission::check(pod, benchmark, workload, role, diagnostics);
        }
    }
}

fn insert_at(spec: &mut Json, steps: &[&str], value: Json) {
    let mut place = spec;
    for step in steps {
        if !place.is_object() {
            *place = Json::Object(Map::new());
        }
        let Json::Object(object) = place else { return };
        place = object.entry(*step).or_insert(Json::Null);
    }
    *place = value;
}

fn submit_to_queue(benchmark: &Benchmark, object: &mut Json) {
    if let (Queue::Kueue(queue), Some(labels)) =
        (&benchmark.target.queue, object.pointer_mut("/metadata/labels").and_then(Json::as_object_mut))
    {
        labels.insert("kueue.x-k8s.io/queue-name".to_owned(), queue.as_str().into());
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
