//! A JAXJob: every replica is a process of `jax.distributed`, and the first one coordinates
//! (<https://github.com/kubeflow/trainer/blob/v1.9.3/pkg/controller.v1/jax/envvar.go>).

use std::collections::BTreeMap;

use super::{Given, Plan, processes, set};
use kubebench_compiler::model::{Role, Workload};

pub(super) fn plan(workload: &Workload, given: &mut Given<'_>) -> Plan {
    let port = (given.ports)().to_string();
    let count: u32 = workload.roles.iter().map(|role| role.replicas).sum();
    let operator = |_: &Role, index: u32| {
        set([
            ("PYTHONUNBUFFERED", "1".to_owned()),
            ("COORDINATOR_PORT", port.clone()),
            ("COORDINATOR_ADDRESS", "127.0.0.1".to_owned()),
            ("NUM_PROCESSES", count.to_string()),
            ("PROCESS_ID", index.to_string()),
        ])
    };
    let processes = processes(workload, given, operator);
    Plan { at_once: processes.len(), processes, config: BTreeMap::new() }
}
