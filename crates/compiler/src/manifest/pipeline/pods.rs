//! The pods of the steps: what every step needs, and over it what the target says of all pods and of those of the steps.

use serde_json::{Map, Value as Json, json};

use crate::manifest::{patch, pod};
use crate::model::Target;
use crate::model::pods::{Pods, StepPods};
use kubebench_contract::{PodMetadata, users};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::unit::Quantity;

/// Fields of a pod spec that a Workflow has too, and what each is called there. The others are in `podSpecPatch`.
const OF_WORKFLOW: [(&str, &str); 7] = [
    ("affinity", "affinity"),
    ("dnsConfig", "dnsConfig"),
    ("hostAliases", "hostAliases"),
    ("imagePullSecrets", "imagePullSecrets"),
    ("priorityClassName", "podPriorityClassName"),
    ("schedulerName", "schedulerName"),
    ("securityContext", "securityContext"),
];

/// What the target says of the pods of the steps, all pods first.
fn layers(target: &Target) -> [&Pods; 2] {
    [&target.pods, &target.steps.pods]
}

/// Returns the fields of a Workflow that make its pods what they are.
pub(super) fn fields(target: &Target) -> Map<String, Json> {
    let mut spec = json!({
        "securityContext": {
            "fsGroup": users::GROUP,
            // What the volume holds keeps its modes: the kubelet would make all of it writable for the group.
            "fsGroupChangePolicy": "OnRootMismatch",
            "runAsGroup": users::GROUP,
            "runAsNonRoot": true,
            "runAsUser": users::STEPS,
            "seccompProfile": { "type": "RuntimeDefault" },
        },
    });
    // Errors in them were reported when the target was read.
    let patches = layers(target).map(|pods| {
        let patch = pods.spec.as_ref().map(|spec| patch::of_pod(spec, &mut Diagnostics::default()));
        patch.and_then(|mut patch| patch.as_object_mut().map(std::mem::take)).unwrap_or_default()
    });
    let [mut all, steps] = patches;
    all.extend(steps);
    all.retain(|_, value| !is_empty(value));
    patch::merge(&mut spec, &Json::Object(all));
    let mut fields = Map::new();
    let mut patched = restricted_executor();
    for (field, value) in spec.as_object_mut().map(std::mem::take).unwrap_or_default() {
        match OF_WORKFLOW.iter().find(|(name, _)| *name == field) {
            Some((_, name)) => drop(fields.insert((*name).to_owned(), value)),
            None => drop(patched.insert(field, value)),
        }
    }
    let metadata = PodMetadata::without_proxies();
    let metadata = layers(target).iter().fold(metadata, |metadata, pods| metadata.over(&pods.metadata));
    fields.insert("podMetadata".to_owned(), json!(metadata));
    fields.insert("podSpecPatch".to_owned(), format!("{:#}", Json::Object(patched)).into());
    fields
}

/// Returns whether nothing is left of a field, as where the steps are to have none of what all pods have.
fn is_empty(value: &Json) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// What Argo's own containers of a pod lack if the namespace enforces Pod Security `restricted`, unless its installation
/// already sets it.
fn restricted_executor() -> Map<String, Json> {
    let context = json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } });
    Map::from_iter([
        ("containers".to_owned(), json!([{ "name": "wait", "securityContext": context }])),
        ("initContainers".to_owned(), json!([{ "name": "init", "securityContext": context }])),
    ])
}

/// Returns the environment variables of a step except those that identify its work.
pub(super) fn variables(target: &Target) -> Vec<Json> {
    let [all, steps] = layers(target);
    let of_all = all.env.iter().filter(|(name, _)| !steps.env.contains_key(*name));
    of_all.chain(&steps.env).map(|(name, (value, _))| json!(pod::variable(name, value))).collect()
}

/// Returns the resources of a step.
pub(super) fn resources(target: &Target) -> Json {
    let mut resources = json!({ "limits": { "memory": "1Gi" }, "requests": { "cpu": "100m", "memory": "128Mi" } });
    let StepPods { limits, requests, .. } = &target.steps;
    for (field, amounts, beside) in [("limits", limits, "requests"), ("requests", requests, "limits")] {
        for (name, amount) in amounts {
            set(&mut resources, field, name, amount);
            let usual = resources.pointer(&format!("/{beside}/{name}")).and_then(Json::as_str);
            let usual = usual.and_then(|usual| Quantity::parse(usual).ok());
            let is_below = |usual: &Quantity| if field == "limits" { amount < usual } else { usual < amount };
            // An implicit value must not exceed an explicit one.
            if usual.is_some_and(|usual| is_below(&usual)) {
                set(&mut resources, beside, name, amount);
            }
        }
    }
    resources
}

fn set(resources: &mut Json, field: &str, name: &str, amount: &Quantity) {
    if let Some(known) = resources.get_mut(field).and_then(Json::as_object_mut) {
        known.insert(name.to_owned(), amount.canonical().into());
    }
}
