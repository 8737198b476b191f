//! What Argo says of a Workflow as a whole.

use kubebench_contract::text_at;
use serde_json::Value as Json;

/// Returns what of the WorkflowTemplate was not there when Argo looked at the Workflow, if it ended that for this reason: it
/// does not look again, even when it comes.
pub(crate) fn lacked(workflow: &Json) -> Option<&'static str> {
    let message = text_at(workflow, "/status/message").strip_suffix(" not found")?;
    match text_at(workflow, "/status/phase") {
        "Error" if message.starts_with("workflowtemplates.argoproj.io ") => Some("its WorkflowTemplate"),
        "Failed" if message.starts_with("invalid spec: template reference ") => {
            Some("its entry point in the WorkflowTemplate")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::lacked;

    #[test]
    fn a_template_that_was_not_there_is_told_by_argo_alone() {
        let says =
            |phase: &str, message: &str| lacked(&json!({"status": {"phase": phase, "message": message}})).is_some();
        // As Argo 3.7 says it.
        assert!(says("Error", "workflowtemplates.argoproj.io \"kubebench\" not found"));
        assert!(says("Failed", "invalid spec: template reference kubebench.parallel-4 not found"));
        assert!(!says("Running", "workflowtemplates.argoproj.io \"kubebench\" not found"));
        assert!(!says("Error", "serviceaccounts \"kubebench-runner\" not found"));
        assert_eq!(lacked(&json!({})), None);
    }
}
