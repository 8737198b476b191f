//! A Job: pods that do not know each other, numbered when it is indexed.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Given, Plan, process, set};
use kubebench_compiler::model::Workload;

pub(super) fn plan(workload: &Workload, given: &Given<'_>) -> Plan {
    let number =
        |field: &str| workload.spec.get(field).and_then(Json::as_u64).and_then(|number| u32::try_from(number).ok());
    let is_indexed = workload.spec.get("completionMode").and_then(Json::as_str) == Some("Indexed");
    let Some(role) = workload.roles.first() else {
        return Plan { processes: Vec::new(), at_once: 0, config: BTreeMap::new() };
    };
    let completions = number("completions").unwrap_or(role.replicas);
    let operator = |index: u32| {
        if is_indexed { set([("JOB_COMPLETION_INDEX", index.to_string())]) } else { BTreeMap::new() }
    };
    let processes = (0..completions).map(|index| process(role, index, &operator(index), given)).collect();
    Plan { processes, at_once: role.replicas.max(1) as usize, config: BTreeMap::new() }
}
