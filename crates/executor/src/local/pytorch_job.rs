//! A PyTorchJob: every replica is a node of torchrun, and finds the first one by the variables of the training operator
//! (<https://github.com/kubeflow/trainer/blob/v1.9.3/pkg/controller.v1/pytorch/envvar.go>).
//!
//! With a master these are ranks, with `LOCAL_RANK` 0, as each replica is a node of its own; torchrun sets it again for its
//! workers. Workers alone are elastic: they have no rank before they have met. On one machine they meet by c10d at the first
//! worker, whatever server the policy names: a rendezvous of one machine needs none.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::{Given, Plan, processes, set};
use kubebench_compiler::model::{Role, Workload};

pub(super) fn plan(workload: &Workload, given: &mut Given<'_>) -> Plan {
    let port = (given.ports)().to_string();
    let nodes: u32 = workload.roles.iter().map(|role| role.replicas).sum();
    let has_master = workload.roles.iter().any(|role| role.name == "master");
    let per_node = workload.spec.get("nprocPerNode").and_then(Json::as_str);
    let mut shared = set([("PYTHONUNBUFFERED", "1".to_owned())]);
    shared.extend(per_node.map(|count| ("PET_NPROC_PER_NODE".to_owned(), count.to_owned())));
    if let Some(policy) = workload.spec.get("elasticPolicy").and_then(Json::as_object) {
        shared.extend(rendezvous(policy, &port, &given.folders.id));
    } else {
        let processes = per_node.and_then(|count| count.parse().ok()).unwrap_or(1_u32);
        shared.extend(set([
            ("MASTER_ADDR", "127.0.0.1".to_owned()),
            ("MASTER_PORT", port.clone()),
            ("PET_MASTER_ADDR", "127.0.0.1".to_owned()),
            ("PET_MASTER_PORT", port),
            ("PET_NNODES", nodes.to_string()),
            ("WORLD_SIZE", nodes.saturating_mul(processes).to_string()),
            ("LOCAL_RANK", "0".to_owned()),
        ]));
    }
    let operator = |role: &Role, index: u32| {
        let mut variables = shared.clone();
        if has_master {
            let rank = if role.name == "master" { index } else { index + 1 }.to_string();
            variables.extend(set([("RANK", rank.clone()), ("PET_NODE_RANK", rank)]));
        }
        variables
    };
    let mut processes = processes(workload, given, operator);
    for process in &mut processes {
        process.decides = !has_master || process.role == "master";
    }
    Plan { at_once: processes.len(), processes, config: BTreeMap::new() }
}

/// Returns how the workers of an elastic job meet.
fn rendezvous(policy: &Map<String, Json>, port: &str, id: &str) -> BTreeMap<String, String> {
    let number = |name: &str| policy.get(name).map(Json::to_string).unwrap_or_default();
    let conf = policy.get("rdzvConf").and_then(Json::as_array).into_iter().flatten();
    let conf: Vec<String> = conf
        .map(|setting| {
            let text = |name: &str| setting.get(name).and_then(Json::as_str).unwrap_or_default();
            format!("{}={}", text("key"), text("value"))
        })
        .collect();
    let mut variables = set([
        ("PET_RDZV_BACKEND", "c10d".to_owned()),
        ("PET_RDZV_ENDPOINT", format!("127.0.0.1:{port}")),
        ("PET_RDZV_ID", id.to_owned()),
        ("PET_NNODES", format!("{}:{}", number("minReplicas"), number("maxReplicas"))),
        ("PET_MAX_RESTARTS", number("maxRestarts")),
    ]);
    if !conf.is_empty() {
        variables.insert("PET_RDZV_CONF".to_owned(), conf.join(","));
    }
    variables
}
