//! A JobSet: all pods of all roles at once; each knows its number within its Job, as an indexed Job's pods do.
//!
//! What JobSet adds in a cluster are labels and names, neither of which a process has.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Given, Plan, process, set};
use kubebench_compiler::model::{Role, Workload};

pub(super) fn plan(workload: &Workload, given: &Given<'_>) -> Plan {
    let targets = workload.spec.get("successPolicy").and_then(|policy| policy.get("targetReplicatedJobs"));
    let targets = targets.and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let decides = |role: &Role| targets.is_empty() || targets.iter().any(|target| *target == role.name.as_str());
    let mut processes = Vec::new();
    for role in &workload.roles {
        let of_job = completions(workload, &role.name).max(1);
        for index in 0..role.completions {
            let operator = set([("JOB_COMPLETION_INDEX", (index % of_job).to_string())]);
            let mut process = process(role, index, &operator, given);
            process.decides = decides(role);
            processes.push(process);
        }
    }
    let at_once = workload.roles.iter().map(|role| role.replicas as usize).sum::<usize>().max(1);
    Plan { processes, at_once, config: BTreeMap::new() }
}

/// Returns how many pods each Job of a role completes.
fn completions(workload: &Workload, role: &str) -> u32 {
    let jobs = workload.spec.get("replicatedJobs").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let job = jobs.iter().find(|job| job.get("name").is_some_and(|name| name == role));
    let completions = job.and_then(|job| job.pointer("/template/spec/completions")).and_then(Json::as_u64);
    completions.and_then(|count| u32::try_from(count).ok()).unwrap_or(1)
}
