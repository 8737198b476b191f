//! Objects that are found with kubeflow/kubebench's benchmarks and are not benchmarks.

use super::ledger::At;

/// Returns why an object is not a benchmark, if its kind is known.
pub(super) fn why(top: &At<'_>) -> Option<&'static str> {
    let text = |key: &str| top.get(key).and_then(|at| at.text()).unwrap_or_default();
    if text("apiVersion").starts_with("kubebench.dev/") {
        return Some("it is already in the format of Kubebench");
    }
    if top.get("defaultWorkflowAgent").is_some() || top.get("defaultManagedVolumes").is_some() {
        return Some("the configuration of kubeflow/kubebench's operator, which no longer exists");
    }
    top.get("apiVersion")?;
    Some(match text("kind") {
        "PersistentVolume" | "PersistentVolumeClaim" | "StorageClass" => {
            "a volume is left as it is; Kubebench creates a claim for the results of each benchmark"
        }
        "CustomResourceDefinition"
        | "Deployment"
        | "ClusterRole"
        | "ClusterRoleBinding"
        | "Role"
        | "RoleBinding"
        | "ServiceAccount" => "the operator of kubeflow/kubebench, its types and its rights are no longer needed",
        "ConfigMap" | "Secret" | "Service" | "Namespace" => "it is not a benchmark, and is left as it is",
        "Kustomization" => "it lists objects; `kubebench compile` writes the tree that is applied",
        "Workflow" => "the steps of a Workflow are Kubebench's own now; what it ran is in the job config that it names",
        _ => return None,
    })
}
