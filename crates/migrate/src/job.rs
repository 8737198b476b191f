//! Job manifests of the operators that kubeflow/kubebench used, in any of their versions: TFJob, PyTorchJob, MPIJob and Job.

use super::job_fields::{run_policy, taken_count};
use super::ledger::{At, Ledger};
use super::pod::{self, OF_CLUSTER, count};
use super::spec_builder::{Draft, Metrics, Role, Workload};
use super::text::{Item, Map};
use super::{mpi, named};
use crate::pod::NEVER_RESTARTS;
use kubebench_compiler::api;
use kubebench_syntax::yaml::Value;

const PORT_OF_OPERATOR: &str = "the operator chooses the port and passes it to the pods";

/// The kinds of job that can be read.
const KINDS: [(&str, &str); 4] =
    [("TFJob", "kubeflow.org"), ("PyTorchJob", "kubeflow.org"), ("MPIJob", "kubeflow.org"), ("Job", "batch")];

/// Returns whether an object is a job that can be read.
pub(super) fn is_job(api_version: &str, kind: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    KINDS.contains(&(kind, group))
}

/// Returns the benchmark that runs the job of a manifest.
pub(super) fn draft(top: &At<'_>, mut draft: Draft, ledger: &mut Ledger) -> Draft {
    let text = |key: &str| top.get(key).and_then(|at| at.text()).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let mut workload = Workload::default();
    metadata(top, kind, &mut draft, &mut workload, ledger);
    match kind {
        "TFJob" => tf_job(top, &mut draft, &mut workload, ledger),
        "PyTorchJob" => pytorch_job(top, &mut draft, &mut workload, ledger),
        "MPIJob" => mpi::mpi_job(top, api_version, &mut draft, &mut workload, ledger),
        _ => batch_job(top, &mut draft, &mut workload, ledger),
    }
    if let Some(at) = top.get("apiVersion") {
        ledger.changed(&at, now(workload.kind));
    }
    if let Some(at) = top.get("kind") {
        ledger.kept(&at, format!("`{}`", workload.kind));
    }
    if let Some(at) = top.get("status") {
        ledger.dropped(&at, OF_CLUSTER);
    }
    if is_tf_cnn(&workload) {
        draft.metrics = Metrics::TfCnnLog;
    }
    draft.workload = Some(workload);
    draft
}

/// Says which API a kind is emitted in.
fn now(kind: &str) -> String {
    match kind {
        "mpiJob" => "`kubeflow.org/v2beta1`, or `v1` where the target says so".to_owned(),
        "job" => "`batch/v1`".to_owned(),
        _ => "`kubeflow.org/v1`".to_owned(),
    }
}

/// Returns whether the program of a workload is tf_cnn_benchmarks.
pub(super) fn is_tf_cnn(workload: &Workload) -> bool {
    let says = |item: &Item| matches!(item, Item::Text(text) | Item::Block(text) if text.contains("tf_cnn_benchmarks"));
    workload.roles.iter().any(|(_, role)| {
        role.command.iter().chain(&role.args).any(says)
            || role.image.as_deref().is_some_and(|image| image.contains("/tensorflow-benchmarks"))
    })
}

/// Reads the name, the labels and the namespace.
pub(super) fn metadata(top: &At<'_>, kind: &str, draft: &mut Draft, workload: &mut Workload, ledger: &mut Ledger) {
    let Some(metadata) = top.get("metadata") else { return };
    let mut annotations = Map::default();
    for (key, at) in metadata.entries().into_iter().filter(|(_, at)| at.node.value != Value::Null) {
        match key {
            "name" | "generateName" if draft.name.is_empty() => named(&at, draft, ledger),
            "name" | "generateName" => {
                ledger.dropped(&at, "Kubebench derives the names of jobs from the name of the benchmark");
            }
            "namespace" => namespace(&at, draft, ledger),
            "labels" => pod::labels(&at, &mut draft.labels, "`metadata.labels`, for `--select`", ledger),
            "annotations" => {
                pod::labels(&at, &mut annotations, &format!("an annotation of the {kind}, under `patch`"), ledger);
            }
            "creationTimestamp" | "uid" | "resourceVersion" | "selfLink" | "generation" | "managedFields" => {
                ledger.dropped(&at, OF_CLUSTER);
            }
            "ownerReferences" | "finalizers" => ledger.dropped(&at, "the Workflow of the benchmark owns its jobs"),
            _ => {}
        }
    }
    if !annotations.is_empty() {
        workload.patch.put("metadata", Map::default().with("annotations", annotations));
    }
}

/// Reads a namespace, which is that of a target.
pub(super) fn namespace(at: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let Some(name) = at.text().filter(|name| pod::is_a("dns1123-label", name)) else {
        return ledger.lost(at, "this is not the name of a namespace");
    };
    ledger.changed(at, "the namespace of a target: see what is left to do");
    draft.advice.insert(format!(
        "give a target of kubebench.yaml the namespace `{name}`: `targets: {{NAME: {{namespace: {name}}}}}`"
    ));
}

/// One role of an old job: its field in the spec, and the value that describes it.
type Replica<'n> = (&'static str, At<'n>);

/// Returns the roles of a job: a list in `v1alpha1`, a mapping since.
fn replicas<'n>(
    spec: &At<'n>,
    (map, type_key): (&str, &str),
    field: fn(&str) -> Option<&'static str>,
    ledger: &mut Ledger,
) -> Vec<Replica<'n>> {
    let mut found: Vec<Replica<'n>> = Vec::new();
    let listed = spec.items_of("replicaSpecs");
    for at in listed {
        let name = at.get(type_key);
        // Without a type, v1alpha1 took a replica for the master.
        let text = name.as_ref().and_then(At::text).unwrap_or("MASTER");
        match field(text).filter(|field| !found.iter().any(|(known, _)| known == field)) {
            Some(field) => {
                if let Some(name) = &name {
                    ledger.changed(name, format!("`{field}`"));
                }
                found.push((field, at));
            }
            None => ledger.lost(&at, format!("this kind has no role `{text}`, or no second one")),
        }
    }
    for (key, at) in spec.entries_of(map) {
        match field(key).filter(|field| !found.iter().any(|(known, _)| known == field)) {
            Some(field) => found.push((field, at)),
            None => ledger.lost(&at, format!("this kind has no role `{key}`, or no second one")),
        }
    }
    found
}

/// Reads the roles of a job.
fn take_roles(replicas: Vec<Replica<'_>>, container: &str, workload: &mut Workload, ledger: &mut Ledger) {
    for (field, at) in replicas {
        let number = at.get("replicas");
        if number.as_ref().and_then(count) == Some(0) {
            ledger.dropped(&at, "it has no pods");
            continue;
        }
        let mut role = at.get("template").map(|template| pod::role(&template, container, ledger)).unwrap_or_default();
        if let Some(number) = number {
            role.replicas = taken_count(&number, &format!("`{field}.replicas`"), ledger);
        }
        if let Some(at) = at.get("restartPolicy") {
            ledger.changed(&at, NEVER_RESTARTS);
        }
        for key in ["tfPort", "masterPort"] {
            ledger.dropped_if(at.get(key).as_ref(), PORT_OF_OPERATOR);
        }
        if matches!(field, "chief" | "master") && role.replicas == Some(1) {
            role.replicas = None;
        }
        workload.roles.push((field, role));
    }
    workload.roles.sort_by_key(|(field, _)| {
        ["chief", "master", "ps", "launcher", "worker", "evaluator"].iter().position(|known| known == field)
    });
}

fn tf_role(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "chief" | "master" => Some("chief"),
        "ps" => Some("ps"),
        "worker" => Some("worker"),
        "evaluator" | "eval" => Some("evaluator"),
        _ => None,
    }
}

fn tf_job(top: &At<'_>, draft: &mut Draft, workload: &mut Workload, ledger: &mut Ledger) {
    workload.kind = "tfJob";
    let Some(spec) = top.get("spec") else { return };
    let roles = replicas(&spec, ("tfReplicaSpecs", "tfReplicaType"), tf_role, ledger);
    take_roles(roles, "tensorflow", workload, ledger);
    for (key, at) in spec.entries() {
        match key {
            "runPolicy" => {
                for (key, at) in at.entries() {
                    run_policy(key, &at, draft, workload, ledger);
                }
            }
            "successPolicy" if at.text().is_some_and(|text| matches!(text, "" | "AllWorkers")) => {
                workload.fields.put("successPolicy", at.node);
                ledger.kept(&at, "`successPolicy`");
            }
            "terminationPolicy" => {
                ledger.dropped(&at, "the chief decides when the job ends, or worker 0 if there is no chief");
            }
            "tfImage" => {
                ledger.dropped(
                    &at,
                    "only parameter servers without a program used it; in a spec every role has its own image",
                );
            }
            "runtimeId" | "RuntimeId" => ledger.dropped(&at, OF_CLUSTER),
            "enableDynamicWorker" => ledger.dropped(&at, "a benchmark has a fixed number of workers"),
            _ => drop(run_policy(key, &at, draft, workload, ledger)),
        }
    }
}

fn pytorch_role(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "master" => Some("master"),
        "worker" => Some("worker"),
        _ => None,
    }
}

fn pytorch_job(top: &At<'_>, draft: &mut Draft, workload: &mut Workload, ledger: &mut Ledger) {
    const ELASTIC: [&str; 6] = ["minReplicas", "maxReplicas", "maxRestarts", "rdzvBackend", "rdzvHost", "rdzvPort"];
    workload.kind = "pytorchJob";
    let Some(spec) = top.get("spec") else { return };
    let roles = replicas(&spec, ("pytorchReplicaSpecs", "replicaType"), pytorch_role, ledger);
    take_roles(roles, "pytorch", workload, ledger);
    for (key, at) in spec.entries() {
        match key {
            "runPolicy" => {
                for (key, at) in at.entries() {
                    run_policy(key, &at, draft, workload, ledger);
                }
            }
            "nprocPerNode" => {
                workload.fields.put("nprocPerNode", at.node);
                ledger.kept(&at, "`nprocPerNode`");
            }
            "elasticPolicy" => {
                let mut policy = Map::default();
                for (key, at) in
                    at.entries().into_iter().filter(|(key, at)| ELASTIC.contains(key) && at.text().is_some())
                {
                    policy.put(key, at.node);
                    ledger.kept(&at, format!("`elasticPolicy.{key}`"));
                }
                workload.fields.put_some("elasticPolicy", policy);
            }
            "terminationPolicy" => ledger.dropped(&at, "the master decides when the job ends"),
            "masterPort" => ledger.dropped(&at, PORT_OF_OPERATOR),
            _ => drop(run_policy(key, &at, draft, workload, ledger)),
        }
    }
}

fn batch_job(top: &At<'_>, draft: &mut Draft, workload: &mut Workload, ledger: &mut Ledger) {
    workload.kind = "job";
    let mut role = Role::default();
    let Some(spec) = top.get("spec") else { return };
    if let Some(template) = spec.get("template") {
        role = pod::role(&template, "main", ledger);
    }
    for (key, at) in spec.entries().into_iter().filter(|(_, at)| at.node.value != Value::Null) {
        match key {
            "template" => {}
            "parallelism" | "completions" => {
                if let Some(number) = taken_count(&at, &format!("`{key}`"), ledger) {
                    workload.fields.put(key, number);
                }
            }
            "completionMode" => {
                workload.fields.put(key, at.node);
                ledger.kept(&at, "`completionMode`");
            }
            "selector" | "manualSelector" => ledger.dropped(&at, OF_CLUSTER),
            "podFailurePolicy" | "backoffLimitPerIndex" | "maxFailedIndexes" => {
                ledger.dropped(&at, "a failed pod ends its run");
            }
            _ if run_policy(key, &at, draft, workload, ledger) => {}
            _ => {
                if let Some(item) = pod::checked_field(key, &at, api::JOB_SPEC, ledger) {
                    workload.patch.put("spec", Map::default().with(key, item));
                    ledger.kept(&at, format!("`patch.spec.{key}`"));
                }
            }
        }
    }
    workload.roles.push(("", role));
}
