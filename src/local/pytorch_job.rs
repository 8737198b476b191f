//! A PyTorchJob: every replica is a node of torchrun, and finds the first one by the variables of the training operator
//! (<https://github.com/kubeflow/trainer/blob/v1.9.2/pkg/controller.v1/pytorch/envvar.go>).
//!
//! `LOCAL_RANK` is 0, as each replica is a node of its own; torchrun sets it anew for its workers.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Given, Plan, processes, set};
use crate::model::{Role, Workload};

pub(super) fn plan(workload: &Workload, given: &mut Given<'_>) -> Plan {
    let port = (given.ports)().to_string();
    let world: u32 = workload.roles.iter().map(|role| role.replicas).sum();
    let master = workload.roles.iter().find(|role| role.name == "master");
    let masters = master.map_or(0, |role| role.replicas);
    let rank = |role: &Role, index: u32| if role.name == "master" { index } else { masters + index };
    let per_node = workload.spec.get("nprocPerNode").and_then(Json::as_str).map(str::to_owned);
    let elastic = workload.spec.get("elasticPolicy").and_then(Json::as_object);
    let field = |name: &str| {
        let value = elastic.and_then(|policy| policy.get(name))?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let operator = |role: &Role, index: u32| {
        let rank = rank(role, index).to_string();
        let mut variables = set([("PYTHONUNBUFFERED", "1".to_owned())]);
        if elastic.is_some() {
            let least = field("minReplicas").unwrap_or_else(|| world.to_string());
            let most = field("maxReplicas").unwrap_or_else(|| world.to_string());
            let nodes = if least == most { most } else { format!("{least}:{most}") };
            variables.extend(set([
                ("PET_RDZV_BACKEND", field("rdzvBackend").unwrap_or_else(|| "c10d".to_owned())),
                ("PET_RDZV_ENDPOINT", format!("127.0.0.1:{port}")),
                ("PET_RDZV_ID", given.folders.id.clone()),
                ("PET_NNODES", nodes),
            ]));
            variables.extend(field("maxRestarts").map(|count| ("PET_MAX_RESTARTS".to_owned(), count)));
        } else {
            variables.extend(set([
                ("PET_MASTER_ADDR", "127.0.0.1".to_owned()),
                ("PET_MASTER_PORT", port.clone()),
                ("PET_NNODES", world.to_string()),
                ("PET_NODE_RANK", rank.clone()),
            ]));
        }
        variables.extend(set([
            ("MASTER_ADDR", "127.0.0.1".to_owned()),
            ("MASTER_PORT", port.clone()),
            ("WORLD_SIZE", world.to_string()),
            ("RANK", rank),
            ("LOCAL_RANK", "0".to_owned()),
        ]));
        variables.extend(per_node.clone().map(|count| ("PET_NPROC_PER_NODE".to_owned(), count)));
        variables
    };
    let mut processes = processes(workload, given, operator);
    for process in &mut processes {
        process.decides = master.is_none() || process.role == "master";
    }
    Plan { at_once: processes.len(), processes, config: BTreeMap::new() }
}
