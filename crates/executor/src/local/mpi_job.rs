//! An MPIJob: the launcher alone is started; its `mpirun` starts the ranks of all workers on this machine.
//!
//! The host file is where the variables of the MPI operator point, for Open MPI 4 and 5, Intel MPI and MPICH
//! (<https://github.com/kubeflow/mpi-operator/blob/v0.6.0/pkg/controller/mpi_job_controller.go>).

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Given, Plan, process, set};
use kubebench_compiler::model::Workload;

const HOST_FILE: &str = "hostfile";

pub(super) fn plan(workload: &Workload, given: &Given<'_>) -> Plan {
    let slots = workload.spec.get("slotsPerWorker").and_then(Json::as_u64).unwrap_or(1);
    let replicas = |name: &str| workload.roles.iter().find(|role| role.name == name).map_or(0, |role| role.replicas);
    launch(workload, slots * u64::from(replicas("worker").max(1)), slots, given)
}

/// Returns the launcher with a host file of `total` slots, `slots` of which are a worker's.
pub(super) fn launch(workload: &Workload, total: u64, slots: u64, given: &Given<'_>) -> Plan {
    let hosts = format!("{}/{HOST_FILE}", given.folders.config());
    let operator = set([
        ("OMPI_MCA_orte_default_hostfile", hosts.clone()),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1".to_owned()),
        ("OMPI_MCA_orte_set_default_slots", slots.to_string()),
        ("OMPI_ALLOW_RUN_AS_ROOT", "1".to_owned()),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1".to_owned()),
        ("PRTE_MCA_prte_default_hostfile", hosts.clone()),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe".to_owned()),
        ("I_MPI_HYDRA_HOST_FILE", hosts.clone()),
        ("HYDRA_HOST_FILE", hosts),
        ("K_MPI_JOB_ROLE", "launcher".to_owned()),
    ]);
    let launcher = workload.roles.iter().find(|role| role.name == "launcher");
    let processes: Vec<_> = launcher.map(|role| process(role, 0, &operator, given)).into_iter().collect();
    let config = BTreeMap::from([(HOST_FILE.to_owned(), format!("localhost slots={total}\n"))]);
    Plan { at_once: processes.len(), processes, config }
}
