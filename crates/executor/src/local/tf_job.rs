//! A TFJob: every replica reads the whole cluster from `TF_CONFIG`
//! (<https://github.com/kubeflow/trainer/blob/v1.9.2/pkg/controller.v1/tensorflow/tensorflow.go>).
//!
//! Parameter servers never end by themselves: the chief decides, whatever the policy, or without one the first worker, or
//! all workers under `successPolicy: AllWorkers`.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Given, Plan, processes, set};
use kubebench_compiler::model::{Role, Workload};

pub(super) fn plan(workload: &Workload, given: &mut Given<'_>) -> Plan {
    let mut cluster: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    // An evaluator is no part of the cluster that trains.
    for role in workload.roles.iter().filter(|role| role.name != "evaluator") {
        let hosts = (0..role.replicas).map(|_| format!("127.0.0.1:{}", (given.ports)())).collect();
        cluster.insert(&role.name, hosts);
    }
    let count: usize = workload.roles.iter().map(|role| role.replicas as usize).sum();
    let operator = |role: &Role, index: u32| {
        // The operator leaves a job of one process alone, so that it does not wait for others.
        if count < 2 {
            return BTreeMap::new();
        }
        let task = json!({"type": role.name, "index": index});
        set([("TF_CONFIG", json!({"cluster": cluster, "task": task, "environment": "cloud"}).to_string())])
    };
    let has_chief = workload.roles.iter().any(|role| is_chief(&role.name));
    let all_workers = workload.spec.get("successPolicy").and_then(Json::as_str) == Some("AllWorkers");
    let mut processes = processes(workload, given, operator);
    for process in &mut processes {
        let is_worker = process.role == "worker" && (all_workers || process.index == 0);
        process.decides = if has_chief { is_chief(&process.role) } else { is_worker };
    }
    Plan { at_once: processes.len(), processes, config: BTreeMap::new() }
}

fn is_chief(role: &str) -> bool {
    matches!(role, "chief" | "master")
}
