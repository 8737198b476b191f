//! What Argo says of a Workflow as a whole.

use kubebench_contract::text_at;
use serde_json::Value as Json;

/// Returns what of the pipeline was not there when Argo looked at the Workflow, if it ended that for this reason: it
/// does not look again, even when it comes.
pub(crate) fn lacked(workflow: &Json) -> Option<&'static str> {
    let message = text_at(workflow, "/status/message");
    let is_ended = matches!(text_at(workflow, "/status/phase"), "Error" | "Failed");
    if is_ended
        && message.contains("failed to find any artifact repository for artifact repository ref \"kubebench-settings#")
    {
        return Some("the ConfigMap `kubebench-settings`");
    }
    if is_ended
        && message.starts_with("Failed to acquire the synchronization lock")
        && message.contains("kubebench-settings")
    {
        return Some(
            "the ConfigMap `kubebench-settings` with the limit of parallel Workflows, in the namespace that the lock \
             names",
        );
    }
    let message = message.strip_suffix(" not found")?;
    match text_at(workflow, "/status/phase") {
        "Error" if message.starts_with("workflowtemplates.argoproj.io ") => Some("its WorkflowTemplate"),
        "Failed" if message.starts_with("invalid spec: template reference ") => {
            Some("its entry point in the WorkflowTemplate")
        }
        _ => None,
    }
}

/// Returns the Workflows, as `NAMESPACE/NAME`, that hold the lock for which this one waits before it starts.
pub(crate) fn waits_for(workflow: &Json) -> Vec<&str> {
    if text_at(workflow, "/status/phase") != "Pending" {
        // Argo leaves what it wrote while the Workflow waited.
        return Vec::new();
    }
    let waiting = |kind: &str| workflow.pointer(&format!("/status/synchronization/{kind}/waiting"));
    let locks = ["mutex", "semaphore"].into_iter().filter_map(waiting).filter_map(Json::as_array).flatten();
    let mut holders: Vec<&str> = locks
        .flat_map(|lock| {
            let several = lock.get("holders").and_then(Json::as_array).into_iter().flatten();
            lock.get("holder").into_iter().chain(several)
        })
        .filter_map(Json::as_str)
        .collect();
    holders.sort_unstable();
    holders.dedup();
    holders
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{lacked, waits_for};

    #[test]
    fn who_waits_for_a_lock_names_its_holders() {
        // As Argo 3.7 writes it.
        let of = |phase: &str| {
            waits_for(&json!({"status": {"phase": phase, "synchronization": {
                "mutex": {"waiting": [{"holder": "bench/one", "mutex": "bench/Mutex/kubebench"}]},
                "semaphore": {"waiting": [{"holders": ["bench/two", "bench/one"], "semaphore": "bench/ConfigMap/x/y"}]},
            }}}))
            .join(" ")
        };
        assert_eq!(of("Pending"), "bench/one bench/two");
        assert_eq!(of("Running"), "");
        assert_eq!(
            waits_for(&json!({"status": {"phase": "Pending", "synchronization": {"mutex": {"waiting": 1}}}})),
            [""; 0]
        );
        assert_eq!(waits_for(&json!({})), [""; 0]);
    }

    #[test]
    fn a_template_that_was_not_there_is_reported_by_argo_alone() {
        let says =
            |phase: &str, message: &str| lacked(&json!({"status": {"phase": phase, "message": message}})).is_some();
        // As Argo 3.7 says it.
        assert!(says("Error", "workflowtemplates.argoproj.io \"kubebench\" not found"));
        assert!(says("Failed", "invalid spec: template reference kubebench.parallel-4 not found"));
        assert!(says(
            "Error",
            "failed to find any artifact repository for artifact repository ref \"kubebench-settings#artifact-repository\""
        ));
        assert!(!says("Running", "workflowtemplates.argoproj.io \"kubebench\" not found"));
        assert!(!says("Error", "serviceaccounts \"kubebench-runner\" not found"));
        assert_eq!(lacked(&json!({})), None);
    }
}
