//! The lock that a Workflow holds while it runs, so that benchmarks on the same nodes do not measure each other.

use serde_json::{Map, Value as Json, json};

use super::SETTINGS;
use crate::model::Target;
use crate::model::target::{Concurrency, Lock};

/// The lock of a target that is in no group.
const OWN: &str = "kubebench";
/// The key of the ConfigMap with the number of Workflows at once, where that is more than one.
const LIMIT: &str = "concurrency";

/// Returns the `synchronization` of the Workflows of a target; nothing where they need no lock.
pub(super) fn synchronization(target: &Target) -> Option<Json> {
    let Concurrency { limit, lock } = &target.concurrency;
    let limit = (*limit)?;
    let mut found = if limit == 1 {
        json!({ "mutexes": [{ "name": lock.as_ref().map_or_else(|| OWN.to_owned(), name) }] })
    } else {
        json!({ "semaphores": [{ "configMapKeyRef": { "key": key(lock.as_ref()), "name": SETTINGS } }] })
    };
    let locks = found.as_object_mut().into_iter().flat_map(Map::values_mut);
    if let Some(Lock { namespace, .. }) = lock {
        for lock in locks.filter_map(Json::as_array_mut).flatten().filter_map(Json::as_object_mut) {
            lock.insert("namespace".to_owned(), namespace.as_str().into());
        }
    }
    Some(found)
}

/// Returns the entry of the target's ConfigMap that says how many Workflows run at once; Argo reads that of the lock's namespace.
pub(super) fn limit(target: &Target) -> Option<(String, Json)> {
    let Concurrency { limit, lock } = &target.concurrency;
    limit.filter(|limit| *limit > 1).map(|limit| (key(lock.as_ref()), limit.to_string().into()))
}

fn name(lock: &Lock) -> String {
    format!("{OWN}-{}", lock.name)
}

fn key(lock: Option<&Lock>) -> String {
    lock.map_or_else(|| LIMIT.to_owned(), |lock| format!("{LIMIT}-{}", lock.name))
}
