//! A PaddleJob: every replica is a node of `paddle.distributed.launch`, and finds the first one
//! (<https://github.com/kubeflow/trainer/blob/v1.9.3/pkg/controller.v1/paddlepaddle/envvar.go>).
//!
//! With a master every pod is one server or one trainer; without one all are workers, and `PADDLE_MASTER` is the first.

use std::collections::BTreeMap;

use super::{Given, Plan, processes, set};
use kubebench_compiler::model::{Role, Workload};

const HERE: &str = "127.0.0.1";

pub(super) fn plan(workload: &Workload, given: &mut Given<'_>) -> Plan {
    let port = (given.ports)();
    let nodes: u32 = workload.roles.iter().map(|role| role.replicas).sum();
    let has_master = workload.roles.iter().any(|role| role.name == "master");
    let first = if has_master { "master" } else { "worker" };
    let job = given.folders.id.clone();
    let operator = |role: &Role, index: u32| {
        let mut variables = set([
            ("PYTHONUNBUFFERED", "1".to_owned()),
            ("PADDLE_JOB_ID", job.clone()),
            ("PADDLE_NNODES", nodes.to_string()),
            ("PADDLE_MASTER", format!("{HERE}:{port}")),
        ]);
        if role.name == first && index == 0 {
            variables.extend(set([("POD_IP_DUMMY", HERE.to_owned())]));
        }
        if has_master {
            let part = if role.name == "master" { "PADDLE_SERVER_NUM" } else { "PADDLE_TRAINER_NUM" };
            variables.extend(set([(part, "1".to_owned())]));
        }
        variables
    };
    let mut processes = processes(workload, given, operator);
    for process in &mut processes {
        process.decides = process.role == first;
    }
    Plan { at_once: processes.len(), processes, config: BTreeMap::new() }
}
