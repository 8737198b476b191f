//! KB0336 and KB0374: objects that no benchmark may create, and kinds that a project's owners have to allow.

use super::{Bounds, Field, asks, owned};
use crate::workload::{kind_called, never_created};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::unit::group;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// What may be created in addition to the kinds of workloads, as in `allowKinds`.
const SUPPORTING: [&str; 10] = [
    "ConfigMap",
    "PersistentVolumeClaim",
    "Service",
    "kueue.x-k8s.io/Workload",
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/ResourceClaimTemplate",
    "resource.nvidia.com/ComputeDomain",
    "scheduling.volcano.sh/PodGroup",
    "scheduling.x-k8s.io/PodGroup",
    "trainer.kubeflow.org/TrainingRuntime",
];
/// Types of Services that are reachable from outside the cluster's pods, or that are an alias of a name elsewhere.
const OUT_OF_CLUSTER: [&str; 3] = ["ExternalName", "LoadBalancer", "NodePort"];
/// The fields of a reference to an object.
const OF_REFERENCE: [&str; 10] = [
    "apiGroup",
    "apiVersion",
    "blockOwnerDeletion",
    "controller",
    "fieldPath",
    "kind",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
];

/// Returns a kind as `allowKinds` names it: `apps/StatefulSet`, and without a group where it has none.
fn shown(api_version: &str, kind: &str) -> String {
    match group(api_version) {
        "" => kind.to_owned(),
        group => format!("{group}/{kind}"),
    }
}

/// Returns the name of an object.
pub(super) fn name_of(object: &Node) -> Option<&str> {
    object.get("metadata")?.get("name")?.as_text()
}

/// Returns an object as `preinstalled` names it.
pub(super) fn named(object: &Node) -> String {
    let kind = object.get("kind").and_then(Node::as_text).unwrap_or_default();
    format!("{kind}/{}", name_of(object).unwrap_or_default())
}

/// Returns whether `node` is an Argo Workflow, or a template of one.
pub(super) fn is_workflow(node: &Node) -> bool {
    let said = |field: &str| node.get(field).and_then(Node::as_text).unwrap_or_default();
    group(said("apiVersion")) == "argoproj.io" && matches!(said("kind"), "Workflow" | "WorkflowTemplate")
}

/// Reports `node` if it is an object, and none that may be created.
pub(super) fn check(node: &Node, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let said = |field: &str| node.get(field).filter(|node| matches!(node.value, Value::String(_)));
    let (Some(api_version), Some(kind)) = (said("apiVersion"), said("kind")) else { return };
    let is_reference = node.entries().iter().all(|entry| OF_REFERENCE.contains(&entry.key.as_str()));
    let (Some(version), Some(name)) = (api_version.as_text(), kind.as_text()) else { return };
    if is_reference {
        return;
    }
    owned::check_object(node, bounds, diagnostics);
    let shown = shown(version, name);
    if kind_called(version, name).is_none() {
        let object = name_of(node).map(|name| format!("{shown} {name}"));
        diagnostics.push(asks::kind(object.as_deref().unwrap_or(&shown), kind.span));
    }
    if let Some(reason) = never_created(version, name) {
        let fault = Diagnostic::at(&code::KB0336, kind.span, format!("a {name} {reason}"))
            .note("Kubebench creates the objects of a manifest before each run, and deletes them after it");
        let preinstalled = format!("{name}/{}", name_of(node).unwrap_or("NAME"));
        diagnostics.push(
            fault.help(format!("install it in the cluster by other means, and add `preinstalled: [{preinstalled}]`")),
        );
    } else if kind_called(version, name).is_none()
        && !SUPPORTING.contains(&shown.as_str())
        && !bounds.kinds.contains(&shown)
    {
        let fault = Diagnostic::at(&code::KB0374, kind.span, format!("this project does not allow the kind {shown}"))
            .note(
                "Kubebench does not know which pods such an object creates or what they may do, so the owners of the \
                 project decide",
            );
        diagnostics.push(fault.help(format!(
            "add `allowKinds: [{shown}]` under `spec` of kubebench.yaml, or install the object in the cluster by other \
             means and add it to `preinstalled`"
        )));
    }
}

/// Reports a Service that leads out of the cluster, whatever creates it.
pub(super) fn check_field(field: Field<'_>, diagnostics: &mut Diagnostics) {
    let Entry { key, key_span, value } = field.entry;
    let is_type = value.as_text().is_some_and(|said| OUT_OF_CLUSTER.contains(&said))
        && key.to_ascii_lowercase().ends_with("type");
    let is_ingress = key == "driverIngressOptions" && !value.items().is_empty();
    let is_other = key == "externalIPs" || is_ingress || key == "enableIngress" && value.value == Value::Bool(true);
    if !is_type && !is_other {
        return;
    }
    let said = value.as_text().map_or_else(|| format!("`{key}`"), |text| format!("`{key}: {text}`"));
    let fault = Diagnostic::at(
        &code::KB0336,
        *key_span,
        format!("a Service with {said} connects to the outside of the cluster"),
    )
    .note("pods of a benchmark reach one another through a Service of the type ClusterIP");
    diagnostics.push(fault.help("delete the field"));
}
