//! A Job of Volcano: its tasks are processes that know their index and the hosts of the others, as the plugins `env` and
//! `svc` say it (<https://github.com/volcano-sh/volcano/tree/v1.15.1/pkg/controllers/job/plugins>).

use std::collections::BTreeMap;

use super::{Given, Plan, processes};
use kubebench_compiler::model::{Role, Workload};
use kubebench_syntax::yaml::Node;

pub(super) fn plan(workload: &Workload, given: &Given<'_>) -> Plan {
    let has = |plugin: &str| workload.spec.get("plugins").is_some_and(|plugins| plugins.get(plugin).is_some());
    let mut hosts = BTreeMap::new();
    for role in workload.roles.iter().filter(|_| has("svc")) {
        let name = role.name.to_uppercase().replace('-', "_");
        hosts.insert(format!("VC_{name}_HOSTS"), vec!["127.0.0.1"; role.replicas as usize].join(","));
        hosts.insert(format!("VC_{name}_NUM"), role.replicas.to_string());
    }
    let operator = |_: &Role, index: u32| {
        let mut variables = hosts.clone();
        for name in ["VC_TASK_INDEX", "VK_TASK_INDEX"].into_iter().filter(|_| has("env")) {
            variables.insert(name.to_owned(), index.to_string());
        }
        variables
    };
    let mut processes = processes(workload, given, operator);
    let completing: Vec<&str> =
        workload.roles.iter().map(|role| role.name.as_str()).filter(|role| completes_job(workload, role)).collect();
    for process in &mut processes {
        process.decides = completing.is_empty() || completing.contains(&process.role.as_str());
    }
    Plan { at_once: processes.len(), processes, config: BTreeMap::new() }
}

/// Returns whether a patch makes the end of the task the end of the job.
fn completes_job(workload: &Workload, task: &str) -> bool {
    let patched = workload.patch.as_ref().and_then(|patch| patch.get("spec")?.get("tasks")?.element("name", task));
    let policies = patched.and_then(|task| task.get("policies")).map(Node::items).unwrap_or_default();
    policies.iter().any(|policy| {
        let said = |field: &str| policy.get(field).and_then(Node::as_text);
        let events = policy.items_of("events");
        let is_end = said("event").into_iter().chain(events.iter().filter_map(Node::as_text));
        said("action") == Some("CompleteJob") && is_end.into_iter().any(|event| event == "TaskCompleted")
    })
}
