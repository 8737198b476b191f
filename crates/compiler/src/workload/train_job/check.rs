//! What a TrainJob cannot be: what its target's Trainer does not know, and what its webhooks refuse.

use super::super::role::RoleForm;
use super::Lowering;
use super::form::{Framework, TrainJob};
use crate::model::Role;
use crate::model::target::TrainerApi;
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::yaml::Node;

/// Variables that Trainer sets by framework; it refuses others' values, or overwrites them.
const RESERVED: &[(&str, &[&str])] = &[
    ("torch", &["PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"]),
    ("jax", &["JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"]),
    ("xgboost", &["DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"]),
    (
        "mpi",
        &[
            "OMPI_MCA_orte_default_hostfile",
            "OMPI_MCA_plm_rsh_args",
            "OMPI_MCA_orte_keep_fqdn_hostnames",
            "OMPI_MCA_orte_set_default_slots",
        ],
    ),
];

/// Reports MPI on a single node: its launcher is one, and Trainer starts at least one other.
pub(super) fn mpi_pods(cx: &mut Lowering<'_>, form: &TrainJob) {
    let nodes = form.trainer.as_ref().and_then(|RoleForm(trainer)| trainer.num_nodes).map_or(1, |count| count.0);
    let mpi = cx.entry.value.get("runtime").and_then(|runtime| runtime.entry("mpi"));
    let Some(mpi) = mpi.filter(|_| nodes < 2) else { return };
    let trainer = cx.entry.value.get("trainer");
    let at = trainer.and_then(|trainer| trainer.get("numNodes")).map_or(mpi.key_span, |node| node.span);
    let fault = Diagnostic::at(&code::KB0317, at, "`mpi` needs two nodes, but `numNodes` is 1")
        .note("the launcher is a node, and Trainer starts another one in any case: there would be two pods, not one");
    cx.report(fault.help("write `numNodes: 2` or more; for one machine, run `mpirun` in a `job`"));
}

/// Reports a framework that the target's Trainer does not know.
pub(super) fn framework(cx: &mut Lowering<'_>, framework: &Framework) {
    let is_new = matches!(framework, Framework::Jax | Framework::Xgboost);
    if !is_new || cx.target.trainer >= TrainerApi::V2_2 {
        return;
    }
    let (name, version) = (framework.name(), cx.target.trainer.name());
    let at = cx.entry.value.get("runtime").and_then(|runtime| runtime.entry(name));
    let message = format!("`{name}` does not exist in Trainer {version}, which the target `{}` serves", cx.target.name);
    let fault = Diagnostic::at(&code::KB0318, at.map_or(cx.entry.key_span, |entry| entry.key_span), message)
        .note("its policy came with v2.2; without it the nodes would not find each other");
    cx.report(fault.help(format!(
        "set `apis: {{trainer: v2.2}}` on the target if that is installed there, or write the pods as a `{}`",
        if name == "jax" { "jobSet" } else { "job" }
    )));
}

/// Reports an initializer with a runtime that Kubebench carries: it has no Job that fetches.
pub(super) fn no_initializer(cx: &mut Lowering<'_>) {
    let Some(entry) = cx.entry.value.entry("initializer") else { return };
    let message = "`initializer` needs a runtime with Jobs that fetch, but `runtime` has none";
    let fault = Diagnostic::at(&code::KB0317, entry.key_span, message);
    cx.report(fault.help(
        "fetch in `prepare` and mount the claim, or use a runtime of the cluster: `runtimeRef: {name: torchtune-…}`",
    ));
}

/// Reports variables that Trainer sets.
pub(super) fn reserved_variables(cx: &mut Lowering<'_>, framework: &Framework, roles: &[Role]) {
    let reserved = RESERVED.iter().find(|(name, _)| *name == framework.name()).map_or(&[][..], |(_, names)| names);
    let mut found: Vec<_> = roles
        .iter()
        .flat_map(|role| &role.env)
        .filter(|(name, _)| reserved.contains(&name.as_str()))
        .map(|(name, (_, span))| (name.clone(), *span))
        .collect();
    found.dedup();
    for (name, span) in found {
        let message = format!("Trainer sets `{name}` itself under `{}`", framework.name());
        let fault = Diagnostic::at(&code::KB0441, span, message).note("no process would see the value written here");
        cx.report(fault.help(match name.as_str() {
            "PET_NNODES" | "JAX_NUM_PROCESSES" | "DMLC_NUM_WORKER" => "delete it, and write `numNodes`",
            "PET_NPROC_PER_NODE" | "OMPI_MCA_orte_set_default_slots" => "delete it, and write `numProcPerNode`",
            _ => "delete it",
        }));
    }
}

/// Reports what of a pod the target's Trainer cannot say over a runtime of the cluster.
pub(super) fn overrides(cx: &mut Lowering<'_>, role: &Role) {
    let version = cx.target.trainer;
    let (of_pod, of_container) = version.of_pod();
    let mut found = Vec::new();
    for patch in cx.target.pods.spec.iter().chain(&role.pod_patches) {
        for entry in patch.entries() {
            if !of_pod.contains(&entry.key.as_str()) {
                found.push((entry.key_span, entry.key.clone(), of_pod));
            } else if matches!(entry.key.as_str(), "containers" | "initContainers") {
                let unknown = entry.value.items().iter().flat_map(Node::entries);
                let unknown = unknown.filter(|entry| !of_container.contains(&entry.key.as_str()));
                found.extend(unknown.map(|entry| (entry.key_span, entry.key.clone(), of_container)));
            }
        }
    }
    for entry in role.container_patches.iter().flat_map(Node::entries) {
        if !of_container.contains(&entry.key.as_str()) {
            found.push((entry.key_span, entry.key.clone(), of_container));
        }
    }
    let name = version.name();
    for (span, field, known) in found {
        let message = format!(
            "`{field}` of a runtime's pods cannot be set in Trainer {name}, which the target `{}` serves",
            cx.target.name
        );
        let known = known.join(", ");
        let fault =
            Diagnostic::at(&code::KB0318, span, message).note(format!("`{}` supports {known}", version.field()));
        cx.report(fault.help(
            "write `runtime` instead of `runtimeRef`, whose pods are described in full, or set it in the runtime; what the target asks of all pods (`pods`) cannot be left out",
        ));
    }
    if version == TrainerApi::V2_0 && !(role.labels.is_empty() && role.annotations.is_empty()) {
        let trainer = cx.entry.value.get("trainer");
        let said = |field: &str| trainer.and_then(|trainer| trainer.entry(field)).or(cx.entry.value.entry(field));
        let at = said("labels").or(said("annotations")).map_or(role.span, |entry| entry.key_span);
        let message = format!(
            "labels and annotations reach no pod in Trainer v2.0, which the target `{}` serves",
            cx.target.name
        );
        let fault = Diagnostic::at(&code::KB0318, at, message).note("`podSpecOverrides` has no metadata");
        cx.report(fault.help("write `runtime` instead of `runtimeRef`, or set `apis: {trainer: v2.1}` on the target if that is installed there"));
    }
}
