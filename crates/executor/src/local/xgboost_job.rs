//! An XGBoostJob: every replica has a rank and finds the master's tracker
//! (<https://github.com/kubeflow/trainer/blob/v1.9.3/pkg/controller.v1/xgboost/xgboost.go>).
//!
//! `WORKER_PORT` and `WORKER_ADDRS` are for LightGBM. In a cluster all workers listen on one port of different addresses;
//! the workers of one machine share the address too, so that LightGBM has room for one worker in addition to the master.

use std::collections::BTreeMap;

use super::{Given, Plan, processes, set};
use kubebench_compiler::model::{Role, Workload};

pub(super) fn plan(workload: &Workload, given: &mut Given<'_>) -> Plan {
    let (master_port, worker_port) = ((given.ports)().to_string(), (given.ports)().to_string());
    let world: u32 = workload.roles.iter().map(|role| role.replicas).sum();
    let operator = |role: &Role, index: u32| {
        let rank = if role.name == "master" { index } else { index + 1 };
        let mut variables = set([
            ("MASTER_ADDR", "127.0.0.1".to_owned()),
            ("MASTER_PORT", master_port.clone()),
            ("WORLD_SIZE", world.to_string()),
            ("RANK", rank.to_string()),
            ("PYTHONUNBUFFERED", "1".to_owned()),
        ]);
        if world > 1 {
            let workers = vec!["127.0.0.1"; world as usize - 1];
            variables.extend(set([("WORKER_PORT", worker_port.clone()), ("WORKER_ADDRS", workers.join(","))]));
        }
        variables
    };
    let mut processes = processes(workload, given, operator);
    for process in &mut processes {
        process.decides = process.role == "master";
    }
    Plan { at_once: processes.len(), processes, config: BTreeMap::new() }
}
