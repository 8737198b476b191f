use serde_json::{Value as Json, json};

use super::*;
use crate::workload::{kind_of, pod_sets};

fn job(phase: &str) -> Json {
    json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
        "spec": {"tasks": [{"name": "ps", "replicas": 2}, {"name": "worker", "replicas": 4}]},
        "status": {"state": {"phase": phase, "message": "some", "lastTransitionTime": "2026-01-01T00:00:00Z"}}
    })
}

/// The phases of Volcano 1.15 (pkg/controllers/job/state).
#[test]
fn phases_are_final_or_not() {
    let said = |phase: &str| (kind_of(&job(phase)).unwrap().outcome)(&job(phase));
    for phase in ["", "Pending"] {
        assert_eq!(said(phase), Outcome::Pending);
    }
    for phase in ["Running", "Completing", "Aborting", "Terminating", "Restarting"] {
        assert_eq!(said(phase), Outcome::Running, "{phase}");
    }
    assert_eq!(said("Completed"), Outcome::Succeeded);
    for phase in ["Failed", "Aborted", "Terminated"] {
        assert_eq!(said(phase), Outcome::Failed { reason: phase.to_owned(), message: "some".to_owned() });
    }
    let mut with_reason = job("Aborted");
    with_reason["status"]["state"]["reason"] = json!("PodFailed");
    assert_eq!(outcome(&with_reason), Outcome::Failed { reason: "PodFailed".to_owned(), message: "some".to_owned() });
    assert_eq!(outcome(&json!({"status": {"state": 3}})), Outcome::Pending);
}

#[test]
fn all_tasks_decide_unless_one_ends_the_job() {
    let mut object = job("Running");
    assert!(deciders(&object).hold("ps", 1) && deciders(&object).hold("worker", 3));
    object["spec"]["tasks"][1]["policies"] = json!([{"events": ["TaskCompleted"], "action": "CompleteJob"}]);
    assert!(!deciders(&object).hold("ps", 0) && deciders(&object).hold("worker", 3));
    object["spec"]["tasks"][1]["policies"] = json!([{"event": "TaskCompleted", "action": "RestartJob"}]);
    assert!(deciders(&object).hold("ps", 0));
}

#[test]
fn pods_are_those_of_the_tasks() {
    let sets = pod_sets(&job("Pending"));
    let sets: Vec<_> = sets.iter().map(|set| (set.role.as_str(), set.replicas, set.template.as_str())).collect();
    assert_eq!(sets, [("ps", 2, "/spec/tasks/0/template"), ("worker", 4, "/spec/tasks/1/template")]);
    assert_eq!(pod_sets(&json!({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {}})), []);
}
