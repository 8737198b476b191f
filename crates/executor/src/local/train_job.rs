//! A TrainJob with a runtime of its own: every node with the variables that Trainer's framework plugins set
//! (<https://github.com/kubeflow/trainer/tree/v2.3.0/pkg/runtime/framework/plugins>), or, of MPI, the launcher.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Given, Plan, mpi_job, processes, set};
use kubebench_compiler::model::{Role, Workload};

pub(super) fn plan(workload: &Workload, given: &mut Given<'_>) -> Plan {
    if is_mpi(workload) {
        let slots = processes_per_node(workload).unwrap_or(1);
        return mpi_job::launch(workload, slots * u64::from(nodes(workload)), slots, given);
    }
    let port = (given.ports)().to_string();
    let count = nodes(workload).to_string();
    let framework = policy(workload);
    let operator = |role: &Role, index: u32| match framework {
        Some("torch") => set([
            ("PET_NNODES", count.clone()),
            ("PET_NPROC_PER_NODE", per_node(workload, role)),
            ("PET_NODE_RANK", index.to_string()),
            ("PET_MASTER_ADDR", "127.0.0.1".to_owned()),
            ("PET_MASTER_PORT", port.clone()),
        ]),
        Some("jax") => set([
            ("JAX_NUM_PROCESSES", count.clone()),
            ("JAX_PROCESS_ID", index.to_string()),
            ("JAX_COORDINATOR_ADDRESS", format!("127.0.0.1:{port}")),
        ]),
        Some("xgboost") => set([
            ("DMLC_TRACKER_URI", "127.0.0.1".to_owned()),
            ("DMLC_TRACKER_PORT", port.clone()),
            ("DMLC_TASK_ID", index.to_string()),
            ("DMLC_NUM_WORKER", (u64::from(nodes(workload)) * gpus(role).max(1)).to_string()),
        ]),
        _ => BTreeMap::new(),
    };
    let indexed = |role: &Role, index: u32| {
        let mut variables = operator(role, index);
        variables.insert("JOB_COMPLETION_INDEX".to_owned(), index.to_string());
        variables
    };
    let processes = processes(workload, given, indexed);
    Plan { at_once: processes.len(), processes, config: BTreeMap::new() }
}

/// Returns whether `mpirun` starts the processes.
pub(super) fn is_mpi(workload: &Workload) -> bool {
    workload.key == "trainJob" && policy(workload) == Some("mpi")
}

/// Returns the framework of the runtime, which is next to the number of nodes.
fn policy(workload: &Workload) -> Option<&str> {
    let policy = workload.supporting.first()?.body.get("spec")?.get("mlPolicy")?.as_object()?;
    policy.keys().map(String::as_str).find(|key| *key != "numNodes")
}

fn nodes(workload: &Workload) -> u32 {
    workload.roles.iter().map(|role| role.replicas).fold(0, u32::saturating_add)
}

fn processes_per_node(workload: &Workload) -> Option<u64> {
    workload.spec.get("trainer")?.get("numProcPerNode").and_then(Json::as_u64)
}

/// As Trainer counts: what is said, `auto` with GPUs, else the whole CPUs.
fn per_node(workload: &Workload, role: &Role) -> String {
    if let Some(said) = processes_per_node(workload) {
        return said.to_string();
    }
    if gpus(role) > 0 {
        return "auto".to_owned();
    }
    let cpu = role.requests.get("cpu").or_else(|| role.limits.get("cpu"));
    cpu.map_or(1.0, |amount| amount.as_f64().ceil()).max(1.0).to_string()
}

/// Trainer counts resources whose names end with `gpu`.
fn gpus(role: &Role) -> u64 {
    let counts = role.extended_resources().filter(|(name, _)| name.contains("gpu")).map(|(_, amount)| amount.as_f64());
    counts.fold(0, |sum, count| sum + whole(count))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "accelerators of a pod are a few")]
fn whole(count: f64) -> u64 {
    count.max(0.0) as u64
}
