//! Fields that jobs of several kinds have.

use super::ledger::{At, Ledger};
use super::pod::count;
use super::spec_builder::{Draft, Workload};
use super::text::Map;

/// Reads fields about how a job ends; returns false for any other field.
pub(super) fn run_policy(
    key: &str,
    at: &At<'_>,
    draft: &mut Draft,
    workload: &mut Workload,
    ledger: &mut Ledger,
) -> bool {
    match key {
        "activeDeadlineSeconds" => match count(at).filter(|seconds| *seconds > 0) {
            Some(seconds) => {
                ledger.changed(at, "`timeout`");
                draft.timeout = Some(in_words(seconds));
            }
            None => ledger.lost(at, "this is not a number of seconds"),
        },
        "backoffLimit" => ledger.dropped(at, "a failed job is a result, and is not retried"),
        "cleanPodPolicy" => ledger.dropped(at, "pods are kept until their logs are saved"),
        "ttlSecondsAfterFinished" => ledger.dropped(at, "the Workflow deletes a job once its result is saved"),
        "suspend" | "managedBy" => ledger.dropped(at, "the queue of the target decides when a job starts"),
        "schedulingPolicy" => {
            let known = ["minAvailable", "queue", "priorityClass", "minResources", "scheduleTimeoutSeconds"];
            let mut policy = Map::default();
            for (key, at) in at.entries() {
                if known.contains(&key) {
                    policy.put(key, at.node);
                    ledger.kept(&at, format!("`schedulingPolicy.{key}`"));
                }
            }
            workload.fields.put_some("schedulingPolicy", policy);
        }
        _ => return false,
    }
    true
}

fn in_words(seconds: u32) -> String {
    match seconds {
        seconds if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// Reads a number of pods.
pub(super) fn taken_count(at: &At<'_>, what: &str, ledger: &mut Ledger) -> Option<u32> {
    let number = count(at);
    match number {
        Some(0) => ledger.dropped(at, "none"),
        Some(_) => ledger.kept(at, what),
        None => ledger.lost(at, "this is not a whole number"),
    }
    number
}
