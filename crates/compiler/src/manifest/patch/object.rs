//! The patch over a whole workload object, applied last.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{directive, merge, owned, repeated};
use crate::api;
use crate::model::{Role, TemplateForm, TemplateStep, Workload};
use kubebench_contract::labels;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

const WRITE_TIMEOUT: &str = "write `timeout` in the spec";
const DELETE: &str = "delete it";

/// Fields of the object that no patch may change, with what to write instead.
const OWNED: &[(&str, &str)] = &[
    ("/apiVersion", DELETE),
    ("/kind", DELETE),
    ("/spec/suspend", DELETE),
    ("/spec/backoffLimit", DELETE),
    ("/spec/activeDeadlineSeconds", WRITE_TIMEOUT),
    ("/spec/ttlSecondsAfterFinished", DELETE),
    ("/spec/parallelism", "write `parallelism` next to `image`"),
    ("/spec/completions", "write `completions` next to `image`"),
    ("/spec/completionMode", "write `completionMode` next to `image`"),
    ("/spec/backoffLimitPerIndex", DELETE),
    ("/spec/podFailurePolicy", DELETE),
    ("/spec/managedBy", DELETE),
    ("/spec/manualSelector", DELETE),
    ("/spec/selector", DELETE),
    ("/spec/failurePolicy", DELETE),
    ("/spec/trainer", "write `trainer` of the spec"),
    ("/spec/runtimeRef", "write `runtimeRef` or `runtime` of the spec"),
    ("/spec/initializer", "write `initializer` of the spec"),
    ("/spec/cleanPodPolicy", DELETE),
    ("/spec/elasticPolicy/minReplicas", "write `elasticPolicy` next to the roles"),
    ("/spec/elasticPolicy/maxReplicas", "write `elasticPolicy` next to the roles"),
    ("/spec/clusterSelector", DELETE),
    ("/spec/deletionStrategy", DELETE),
    ("/spec/entrypoint", "write `entrypoint` next to `image`"),
    ("/spec/rayClusterSpec/enableInTreeAutoscaling", DELETE),
    ("/spec/runtimeEnvYAML", "write `runtimeEnv` next to `image`"),
    ("/spec/shutdownAfterJobFinishes", DELETE),
    ("/spec/submissionMode", DELETE),
    ("/spec/submitterConfig/backoffLimit", DELETE),
    ("/spec/maxRetry", DELETE),
    ("/spec/minAvailable", "write `minAvailable` next to `tasks`"),
    ("/spec/minSuccess", DELETE),
    ("/spec/policies", DELETE),
    ("/spec/queue", "write `queue` next to `tasks`"),
    ("/spec/schedulerName", DELETE),
    ("/spec/runPolicy/managedBy", DELETE),
    ("/spec/runPolicy/suspend", DELETE),
    ("/spec/runPolicy/backoffLimit", DELETE),
    ("/spec/runPolicy/cleanPodPolicy", DELETE),
    ("/spec/runPolicy/activeDeadlineSeconds", WRITE_TIMEOUT),
    ("/spec/runPolicy/ttlSecondsAfterFinished", DELETE),
    ("/spec/runPolicy/schedulingPolicy/minAvailable", "write `schedulingPolicy` next to the roles"),
];

/// Those of a SparkApplication.
const OWNED_OF_SPARK: &[(&str, &str)] = &[
    ("/spec/arguments", "write `arguments` next to `image`"),
    ("/spec/batchScheduler", "name a target with another queue"),
    ("/spec/batchSchedulerOptions/queue", "name a target with another queue"),
    ("/spec/deps", "write `deps` next to `image`"),
    ("/spec/driver/coreLimit", "write `cores` of the driver"),
    ("/spec/driver/coreRequest", "write `cores` of the driver"),
    ("/spec/driver/cores", "write `cores` of the driver"),
    ("/spec/driver/image", "write `image` of the driver"),
    ("/spec/driver/memory", "write `memory` of the driver"),
    ("/spec/driver/memoryLimit", "write `memory` of the driver"),
    ("/spec/driver/memoryOverhead", "write `memoryOverhead` of the driver"),
    ("/spec/driver/podName", DELETE),
    ("/spec/driver/serviceAccount", "write `serviceAccount` of the driver"),
    ("/spec/dynamicAllocation", DELETE),
    ("/spec/executor/coreLimit", "write `cores` of the executor"),
    ("/spec/executor/coreRequest", "write `cores` of the executor"),
    ("/spec/executor/cores", "write `cores` of the executor"),
    ("/spec/executor/deleteOnTermination", DELETE),
    ("/spec/executor/gpu", "write `gpu` of the executor"),
    ("/spec/executor/image", "write `image` of the executor"),
    ("/spec/executor/instances", "write `instances` of the executor"),
    ("/spec/executor/memory", "write `memory` of the executor"),
    ("/spec/executor/memoryLimit", "write `memory` of the executor"),
    ("/spec/executor/memoryOverhead", "write `memoryOverhead` of the executor"),
    ("/spec/failureRetries", DELETE),
    ("/spec/hadoopConf", "write `hadoopConf` next to `image`"),
    ("/spec/image", "write `image` of the spec"),
    ("/spec/mainApplicationFile", "write `mainApplicationFile` next to `image`"),
    ("/spec/mainClass", "write `mainClass` next to `image`"),
    ("/spec/memoryOverheadFactor", DELETE),
    ("/spec/mode", DELETE),
    ("/spec/restartPolicy", DELETE),
    ("/spec/retryInterval", DELETE),
    ("/spec/sparkConf", "write `sparkConf` next to `image`"),
    ("/spec/sparkVersion", "write `sparkVersion` next to `image`"),
    ("/spec/timeToLiveSeconds", DELETE),
    ("/spec/type", "write `type` next to `image`"),
];

/// The same for a Job inside the object.
const OWNED_BY_JOB: [(&str, &str); 12] = [
    ("activeDeadlineSeconds", WRITE_TIMEOUT),
    ("backoffLimit", DELETE),
    ("backoffLimitPerIndex", DELETE),
    ("completionMode", DELETE),
    ("completions", "write `completions` of the role"),
    ("managedBy", DELETE),
    ("manualSelector", DELETE),
    ("parallelism", "write `parallelism` of the role"),
    ("podFailurePolicy", DELETE),
    ("selector", DELETE),
    ("suspend", DELETE),
    ("ttlSecondsAfterFinished", DELETE),
];

/// Merges the user's patch, if there is one, into the object of `workload`, reporting what cannot be.
pub(in crate::manifest) fn apply_to_object(object: &mut Json, workload: &Workload, diagnostics: &mut Diagnostics) {
    let Some(user) = &workload.patch else { return };
    let roles: Vec<&str> = workload.roles.iter().filter_map(name_in_api).collect();
    directive::check(user, diagnostics);
    repeated::check(user, diagnostics);
    let patch = api::read_object_patch(user, workload.api.spec, &workload.api.kind, &roles, diagnostics);
    let before = object.clone();
    merge(object, &patch);
    let mut reported = BTreeSet::new();
    let mut refuse = |(place, path): (Span, String), help: &str| {
        if reported.insert(place) {
            diagnostics.push(
                owned::refused(place, &path)
                    .note("a restarted, resized or renamed job could not be measured or found")
                    .help(help),
            );
        }
    };
    for key in reserved_metadata(user, &workload.roles) {
        refuse(key, "delete it; labels and annotations of your own may be added");
    }
    let of_spark = if workload.api.kind == "SparkApplication" { OWNED_OF_SPARK } else { &[] };
    let owned = OWNED.iter().chain(of_spark).map(|(pointer, help)| ((*pointer).to_owned(), *help));
    for (pointer, help) in owned.chain(workload.roles.iter().flat_map(owned_by_role)) {
        if object.pointer(&pointer) != before.pointer(&pointer) {
            refuse(nearest(user, &pointer, &before), help);
        }
    }
}

/// Returns the pointers that no patch may change for `role`: its size, its template's identity and its main container.
fn owned_by_role(role: &Role) -> Vec<(String, &'static str)> {
    const OF_POD: [(&str, &str); 6] = [
        ("restartPolicy", DELETE),
        ("serviceAccountName", "write it in `pod` of the role"),
        ("serviceAccount", "write `serviceAccountName` in `pod` of the role"),
        ("automountServiceAccountToken", DELETE),
        ("activeDeadlineSeconds", WRITE_TIMEOUT),
        ("resources", owned::RESOURCES),
    ];
    const OF_CONTAINER: [(&str, &str); 7] = [
        ("name", DELETE),
        ("image", "write `image` of the role"),
        ("command", "write `command` of the role"),
        ("args", "write `args` of the role"),
        ("env", "write `env` of the role"),
        ("resources/limits", owned::RESOURCES),
        ("resources/requests", owned::RESOURCES),
    ];
    if role.template_at.object > 0 {
        return Vec::new();
    }
    let at = role.template_at.pointer();
    let beside = at.trim_end_matches("/template");
    let mut owned = vec![(format!("{beside}/restartPolicy"), DELETE)];
    for field in ["minReplicas", "maxReplicas"] {
        owned.push((format!("{beside}/{field}"), "write `replicas` of the role"));
    }
    if beside != "/spec" {
        owned.push((format!("{beside}/replicas"), "write `replicas` of the role"));
    }
    // The pods of a Job within the object.
    if let Some(list_element) = beside.strip_suffix("/template/spec") {
        owned.push((format!("{list_element}/replicas"), "write `replicas` of the role"));
        let of_job = OWNED_BY_JOB.iter().map(|(field, help)| (format!("{beside}/{field}"), *help));
        owned.extend(of_job);
    }
    let (pod, metadata) = (role.template_at.pod(), role.template_at.metadata());
    let container = match &role.template_at.form {
        TemplateForm::Pod { container: Some(container), .. } => container.clone(),
        _ => format!("{pod}/containers/0"),
    };
    owned.extend(OF_POD.iter().map(|(field, help)| (format!("{pod}/{field}"), *help)));
    owned.extend(OF_CONTAINER.iter().map(|(field, help)| (format!("{container}/{field}"), *help)));
    let labels = [labels::BENCHMARK, labels::CASE, labels::ROLE].map(|label| label.replace('/', "~1"));
    owned.extend(labels.iter().map(|label| (format!("{metadata}/labels/{label}"), DELETE)));
    owned.extend(labels.iter().map(|label| (format!("/metadata/labels/{label}"), DELETE)));
    owned
}

/// Returns the keys of metadata in `patch` that are not the user's.
fn reserved_metadata(patch: &Node, roles: &[Role]) -> Vec<(Span, String)> {
    let of_object = patch.get("metadata").map(|metadata| ("metadata".to_owned(), metadata));
    let of_pods = roles.iter().filter_map(|role| {
        // Apart from the fields of a pod, only its labels and annotations are here.
        let of_template = Some(&role.template_at).filter(|at| at.form == TemplateForm::Template);
        let metadata = of_template?.within(patch)?.get("metadata")?;
        Some((format!("{}.metadata", role.template_at.shown()), metadata))
    });
    let mut reserved = Vec::new();
    for (path, metadata) in of_object.into_iter().chain(of_pods) {
        for entry in metadata.entries() {
            match entry.key.as_str() {
                "name" | "namespace" | "generateName" | "ownerReferences" | "finalizers" => {
                    reserved.push((entry.key_span, format!("{path}.{}", entry.key)));
                }
                _ => {}
            }
        }
    }
    reserved
}

/// Returns the name of the role in the object's API.
fn name_in_api(role: &Role) -> Option<&str> {
    let steps = &role.template_at.steps;
    let element = steps.iter().find_map(|step| match step {
        TemplateStep::Element { name, .. } => Some(name.as_str()),
        TemplateStep::Field(_) => None,
    });
    element.or_else(|| match steps.as_slice() {
        [TemplateStep::Field(list), TemplateStep::Field(name), ..] if list.ends_with("ReplicaSpecs") => Some(name),
        _ => None,
    })
}

/// Returns the key in `patch` by which it reaches `pointer` into `object`, and the path to it for people.
fn nearest(patch: &Node, pointer: &str, object: &Json) -> (Span, String) {
    let (mut node, mut place) = (Some(patch), patch.span);
    let (mut beyond, mut path) = (Some(object), String::new());
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/");
        let list = beyond.and_then(Json::as_array);
        if let Some(element) = list.and_then(|list| list.get(step.parse::<usize>().ok()?)) {
            beyond = Some(element);
            let id = ["name", "groupName"].iter().find_map(|key| Some((*key, element.get(key)?.as_str()?)));
            let Some((key, name)) = id else { break };
            if !path.ends_with(".containers") {
                path = format!("{path}[{name}]");
            }
            node = node.and_then(|list| list.element(key, name));
            place = node.map_or(place, |element| element.span);
            continue;
        }
        beyond = beyond.and_then(|object| object.get(&step));
        path = if path.is_empty() { step.clone() } else { format!("{path}.{step}") };
        let entry = node.and_then(|node| node.entry(&step));
        place = entry.map_or(place, |entry| entry.key_span);
        node = entry.map(|entry| &entry.value);
    }
    (place, path)
}
