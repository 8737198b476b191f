use serde_json::json;

use super::super::tests::attempt;
use super::{lacks_template, outcome_without_job};
use kubebench_contract::Created;
use kubebench_format::result::v1::{Status, StatusReason};

#[test]
fn a_template_that_argo_has_not_seen_yet_is_its_own() {
    let template = json!({"kind": "WorkflowTemplate", "metadata": {"name": "chain-1"}});
    let objects = Created { before: vec![template], workload: json!({}), endpoint_at: Vec::new() };
    let said = |code: &str, message: &str| {
        let reason = StatusReason { code: code.into(), message: format!("the job failed (Error): {message}") };
        lacks_template(&outcome_without_job(&attempt(1), Status::Failed, vec![reason]), &objects)
    };
    assert!(said("jobFailed", r#"workflowtemplates.argoproj.io "chain-1" not found"#));
    // A template of another owner is not created for it, and so stays missing.
    assert!(!said("jobFailed", r#"workflowtemplates.argoproj.io "theirs" not found"#));
    assert!(!said("exitCode", r#"workflowtemplates.argoproj.io "chain-1" not found"#));
    assert!(!said("jobFailed", "child 'chain-1' failed"));
}
