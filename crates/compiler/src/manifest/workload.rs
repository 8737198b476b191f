//! The object of one case: what `step run` creates for each of its runs.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::run_object::RunObject;
use super::{admission, meta, overrides, patch, pipeline, placement, pod, template, user_manifest};
use crate::model::target::Queue;
use crate::model::{Api, Benchmark, Case, Endpoint, Given, OfServer, Role, Served, StepJob, Supporting, Workload};
use crate::workload::{add_to_pods, refuse_reserved};
use kubebench_contract::instance;
use kubebench_contract::labels;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::digest::{Canonical, Digest};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::Span;

/// The objects of one case, without the name and labels of a run.
#[derive(Debug)]
pub(super) struct CaseObjects {
    /// The workload first, then what it needs; where something loads a server, the Job that does.
    pub(super) objects: Vec<RunObject>,
    /// How the objects answer, where the run is to see them ready.
    pub(super) served: Option<Served>,
    /// The loaded server, which several cases may share.
    pub(super) server: Option<ServerObjects>,
    /// The Job after each run.
    pub(super) postprocess: Option<RunObject>,
}

/// A server that outlives its runs.
#[derive(Debug)]
pub(super) struct ServerObjects {
    /// What distinguishes it from the benchmark's other servers.
    pub(super) id: String,
    /// The server first, then what it needs.
    pub(super) objects: Vec<RunObject>,
    /// How it answers.
    pub(super) served: Served,
}

/// Returns the objects of `case`.
pub(super) fn case_objects(benchmark: &Benchmark, case: &Case, diagnostics: &mut Diagnostics) -> CaseObjects {
    let workload = &case.workload;
    let found_before = diagnostics.as_slice().len();
    let load = workload.load();
    // A loaded server does not belong to one case: others may load it too.
    let case_of = |object: usize| Some(case).filter(|_| load.is_none_or(|load| load == object));
    let mut objects = vec![main_object(benchmark, case_of(0), workload)];
    for (index, Supporting { api, body, name, labels_at }) in workload.supporting.iter().enumerate() {
        let mut object = run_object(benchmark, case_of(index + 1), api, body.clone(), name.as_deref());
        object.labels_at.extend(labels_at.iter().cloned());
        objects.push(object);
    }
    for place in workload.beside.iter().map(|role| role.template_at.object).collect::<BTreeSet<_>>() {
        if let Some(RunObject { object, .. }) = objects.get_mut(place) {
            user_manifest::label_pods(object, benchmark, case_of(place));
        }
    }
    let given_at = workload.given_at();
    if let (Some(_), Some(run)) = (&workload.given, objects.get_mut(given_at)) {
        user_manifest::equip(run, benchmark, case_of(given_at));
    }
    for role in workload.roles.iter().filter(|role| workload.describes(role)) {
        if let Some(of_target) = &benchmark.target.pods.spec {
            // The first is that of the target.
            for own in workload.patches_of_pod(role).into_iter().skip(1) {
                patch::report_conflicts(of_target, own, diagnostics);
            }
        }
        let at = &role.template_at;
        let Some(RunObject { object, name_at, labels_at, .. }) = objects.get_mut(at.object) else { continue };
        refuse_reserved(variables_of(role), diagnostics);
        let mut pods = pod::template(benchmark, case_of(at.object), role, diagnostics);
        placement::add(benchmark, &workload.placement, role, &mut pods);
        placement::check(role, &pods, diagnostics);
        template::put(object, at, pods);
        if workload.headless_service {
            name_at.push(format!("{}/subdomain", at.pod()));
        }
        labels_at.push(format!("{}/labels", at.metadata()));
    }
    if let Some(RunObject { object, .. }) = objects.get_mut(workload.given_at()) {
        submit_to_queue(benchmark, object);
        run_as_workflow(workload, object);
    }
    if let Some(RunObject { object, .. }) = objects.first_mut() {
        patch::apply_to_object(object, workload, diagnostics);
    }
    if let Some(RunObject { object, .. }) = load.and_then(|load| objects.get_mut(load)) {
        submit_to_queue(benchmark, object);
    }
    admit(&mut objects, benchmark, workload, found_before, diagnostics);
    for role in &workload.roles {
        if let Some(run) = objects.get_mut(role.template_at.object) {
            run.of_server.extend(of_server(&run.object, role));
        }
    }
    if let (true, Some(main)) = (workload.takes_pods_of_cluster(), objects.first_mut()) {
        overrides::spread(main, benchmark.target.trainer);
    }
    if workload.headless_service {
        objects.push(headless_service(benchmark, case));
    }
    let postprocess = case.postprocess.as_ref().map(|job| step_job_of(benchmark, Some(case), job, diagnostics));
    let Some(serving) = &workload.serving else {
        return CaseObjects { objects, served: None, server: None, postprocess };
    };
    let served = serving.served.clone();
    let Some(load) = load.filter(|load| *load < objects.len()) else {
        return CaseObjects { objects, served: Some(served), server: None, postprocess };
    };
    let load = objects.remove(load);
    let server = Some(ServerObjects { id: server_id(&objects, &served), objects, served });
    CaseObjects { objects: vec![load], served: None, server, postprocess }
}

/// Returns what identifies a server: its whole content.
fn server_id(objects: &[RunObject], served: &Served) -> String {
    let objects: Vec<Canonical<'_>> = objects.iter().map(|run| Canonical::of(&run.object)).collect();
    let texts = [serde_json::to_string(&objects), serde_json::to_string(served)];
    let texts = texts.map(|text| text.expected("JSON of our own types"));
    Digest::of_fields(texts.iter().map(String::as_str)).short()
}

/// Returns where the main container of `role` learns something of the server.
fn of_server(object: &Json, role: &Role) -> Vec<(String, OfServer)> {
    let of_server = |name: &str| role.of_server.iter().find(|(own, _)| *own == name).map(|(_, what)| what.clone());
    let at = &role.template_at;
    let container = template::main_of(object, &at.pointer(), &at.form, &role.container_name);
    let Some(env) = container.map(|container| format!("{container}/env")) else { return Vec::new() };
    let variables = object.pointer(&env).and_then(Json::as_array).into_iter().flatten().enumerate();
    let found = variables.filter_map(|(index, variable)| {
        Some((format!("{env}/{index}/value"), of_server(variable.get("name")?.as_str()?)?))
    });
    found.collect()
}

/// Returns the workload's own object; where its spec is not given whole, without pod templates.
fn main_object(benchmark: &Benchmark, case: Option<&Case>, workload: &Workload) -> RunObject {
    let Workload { api, spec, name_at, labels_at, annotations, given, .. } = workload;
    let mut main = if let Some(Given { body, name }) = given {
        run_object(benchmark, case, api, body.clone(), name.as_deref())
    } else {
        let mut body = Map::from_iter([("spec".to_owned(), Json::Object(spec.clone()))]);
        if !annotations.is_empty() {
            body.insert("metadata".to_owned(), json!({ "annotations": annotations }));
        }
        run_object(benchmark, case, api, body, None)
    };
    main.name_at.extend(name_at.iter().cloned());
    main.labels_at.extend(labels_at.iter().cloned());
    main
}

/// Returns the object of `api` that is `body` with metadata; without a `name` it gets that of the run's job.
fn run_object(
    benchmark: &Benchmark,
    case: Option<&Case>,
    api: &Api,
    mut body: Map<String, Json>,
    name: Option<&str>,
) -> RunObject {
    let own = body.remove("metadata");
    body.insert("apiVersion".to_owned(), api.api_version.as_ref().into());
    body.insert("kind".to_owned(), api.kind.as_ref().into());
    body.insert("metadata".to_owned(), meta::created_over(own, benchmark, case, name));
    let name_at = if name.is_some() { Vec::new() } else { vec!["/metadata/name".to_owned()] };
    let labels_at = vec!["/metadata/labels".to_owned()];
    RunObject { object: Json::Object(body), name_at, labels_at, of_server: Vec::new() }
}

/// Returns the Job before the runs.
pub(super) fn step_job(benchmark: &Benchmark, job: &StepJob, diagnostics: &mut Diagnostics) -> RunObject {
    step_job_of(benchmark, None, job, diagnostics)
}

fn variables_of(role: &Role) -> impl Iterator<Item = (&str, Span)> {
    role.env.iter().map(|(name, (_, span))| (name.as_str(), *span))
}

fn step_job_of(benchmark: &Benchmark, case: Option<&Case>, job: &StepJob, diagnostics: &mut Diagnostics) -> RunObject {
    refuse_reserved(variables_of(&job.role), diagnostics);
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
        of_server: Vec::new(),
    }
}

/// Completes the pods that patches reach, and reports those that Kubernetes refuses.
///
/// After an error in the patches themselves nothing is reported: what is misspelled there is missing here.
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
        let Some(RunObject { object, .. }) = objects.get_mut(role.template_at.object) else { continue };
        template::with_pod(object, &role.template_at, |pod| {
            admission::complete(pod, workload, role);
            if is_sound {
                admission::check(pod, benchmark, workload, role, diagnostics);
            }
        });
    }
}

/// Gives the pods of a measured Workflow that names no account one that may write what Argo demands of each.
fn run_as_workflow(workload: &Workload, object: &mut Json) {
    if let ("workflow", Some(Json::Object(spec))) = (workload.key, object.get_mut("spec")) {
        spec.entry("serviceAccountName").or_insert_with(|| pipeline::WORKFLOW.into());
    }
}

fn submit_to_queue(benchmark: &Benchmark, object: &mut Json) {
    let Queue::Kueue { name: queue, .. } = &benchmark.target.queue else { return };
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
        of_server: Vec::new(),
    }
}

/// Returns the objects of a case under `name`, for `kubectl` and for reading, and those of the server that it loads, whose name
/// follows from the run digest.
pub fn standalone(benchmark: &Benchmark, case: &Case, name: &str, run_digest: &Digest) -> Vec<Json> {
    let CaseObjects { objects, server, .. } = case_objects(benchmark, case, &mut Diagnostics::default());
    let carried = benchmark.target.carried_by_runs();
    let named = |RunObject { mut object, name_at, labels_at, .. }: RunObject, name: &str| {
        instance::name_at(&mut object, &name_at, name);
        instance::label_at(&mut object, &labels_at, &[(labels::RUN, name.to_owned())]);
        carried.add_to(&mut object, &labels_at);
        add_to_pods(&mut object, &carried);
        object
    };
    let Some(ServerObjects { id, objects: of_server, served }) = server else {
        return objects.into_iter().map(|object| named(object, name)).collect();
    };
    let server_name = instance::server_name(&benchmark.name, &run_digest.hex(), &id, instance::Session::Once);
    let mut all: Vec<Json> = of_server.into_iter().map(|object| named(object, &server_name)).collect();
    let main = all.first().and_then(|server| server.pointer("/metadata/name")?.as_str().map(str::to_owned));
    let main = main.unwrap_or(server_name);
    let endpoint = known_endpoint(&served.endpoint, &main, &benchmark.target.namespace);
    let of_run = objects.into_iter().map(|run| {
        let at = |wanted: &OfServer| -> Vec<String> {
            run.of_server.iter().filter(|(_, what)| what == wanted).map(|(at, _)| at.clone()).collect()
        };
        let (endpoint_at, name_at) = (at(&OfServer::Endpoint), at(&OfServer::Name));
        let mut object = named(run, name);
        instance::name_at(&mut object, &name_at, &main);
        if let Some(endpoint) = &endpoint {
            instance::name_at(&mut object, &endpoint_at, endpoint);
        }
        object
    });
    let of_run: Vec<Json> = of_run.collect();
    all.splice(0..0, of_run);
    all
}

/// Returns the address of the server `name`, as far as it is known before the server exists.
fn known_endpoint(endpoint: &Endpoint, name: &str, namespace: &str) -> Option<String> {
    match endpoint {
        Endpoint::Service { suffix, port } => Some(format!("http://{name}{suffix}.{namespace}.svc:{}", (*port)?)),
        Endpoint::Shared { name, port } => Some(format!("http://{name}.{namespace}.svc:{port}")),
        Endpoint::Status { .. } => None,
    }
}
