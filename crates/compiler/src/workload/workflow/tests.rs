use serde_json::json;

use super::super::status::{Outcome, count, outcome, pod_sets};

#[test]
fn every_template_with_pods_is_a_role_and_the_entry_point_the_first() {
    let object = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
        "spec": {"entrypoint": "main", "templates": [
            {"name": "all", "dag": {"tasks": [{"name": "a", "template": "main"}]}},
            {"name": "b", "script": {"image": "x"}},
            {"name": "wait", "suspend": {"duration": "1s"}},
            {"name": "main", "container": {"image": "x"}},
            {"name": "job", "resource": {"action": "create"}},
        ]},
    });
    let sets = pod_sets(&object);
    let found: Vec<(&str, &str, u32)> =
        sets.iter().map(|set| (set.role.as_str(), set.template.as_str(), set.completions)).collect();
    assert_eq!(
        found,
        [("main", "/spec/templates/3", 0), ("b", "/spec/templates/1", 0), ("job", "/spec/templates/4", 0)]
    );
    assert_eq!(count(&sets), 1, "a Workflow runs as soon as one of its pods does");
}

#[test]
fn what_argo_made_of_a_template_says_the_roles() {
    let mut object = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
        "spec": {"workflowTemplateRef": {"name": "chain-1a2b3c4d"}},
    });
    assert_eq!(pod_sets(&object), []);
    object["status"] = json!({"storedWorkflowTemplateSpec": {"entrypoint": "b", "templates": [
        {"name": "a", "container": {}}, {"name": "b", "container": {}}]}});
    let found: Vec<String> = pod_sets(&object).into_iter().map(|set| set.role).collect();
    assert_eq!(found, ["b", "a"]);
}

#[test]
fn the_phase_says_how_it_ended() {
    let of = |status: serde_json::Value| {
        outcome(&json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "status": status}))
    };
    assert_eq!(of(json!(null)), Outcome::Pending);
    assert_eq!(of(json!({"phase": "Pending", "message": "waits"})), Outcome::Pending);
    assert_eq!(of(json!({"phase": "Running"})), Outcome::Running);
    assert_eq!(of(json!({"phase": "Succeeded"})), Outcome::Succeeded);
    for phase in ["Failed", "Error"] {
        let (reason, message) = (phase.to_owned(), "child 'x' failed".to_owned());
        assert_eq!(of(json!({"phase": phase, "message": message})), Outcome::Failed { reason, message });
    }
    let nodes = json!({
        "a": {"phase": "Error", "finishedAt": "2026-11-22T10:00:01Z"},
        "c": {"phase": "Error", "message": "later", "finishedAt": "2026-11-22T10:00:09Z"},
        "b": {"phase": "Error", "message": "the pod is invalid", "finishedAt": "2026-11-22T10:00:02Z"},
        "d": {"phase": "Succeeded", "message": "well", "finishedAt": "2026-11-22T10:00:00Z"},
    });
    let (reason, message) = ("Error".to_owned(), "the pod is invalid".to_owned());
    assert_eq!(of(json!({"phase": "Error", "nodes": nodes})), Outcome::Failed { reason, message });
}
