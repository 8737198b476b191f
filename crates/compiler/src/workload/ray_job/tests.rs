use serde_json::{Value as Json, json};

use super::*;
use crate::workload::{kind_of, pod_sets};

fn job(deployment: &str, job: &str) -> Json {
    json!({
        "apiVersion": "ray.io/v1", "kind": "RayJob",
        "spec": {"rayClusterSpec": {"workerGroupSpecs": [{"groupName": "gpu", "replicas": 2}]}},
        "status": {"jobDeploymentStatus": deployment, "jobStatus": job, "message": "some"}
    })
}

fn said(object: &Json) -> Outcome {
    (kind_of(object).unwrap().outcome)(object)
}

/// The sequences of KubeRay 1.7 (ray-operator/apis/ray/v1/rayjob_types.go).
#[test]
fn a_job_is_over_when_the_operator_says_so() {
    for (deployment, status) in [("", ""), ("Initializing", ""), ("Waiting", ""), ("Initializing", "PENDING")] {
        assert_eq!(said(&job(deployment, status)), Outcome::Pending, "{deployment} {status}");
    }
    for status in ["PENDING", "RUNNING", "SUCCEEDED", "FAILED"] {
        assert_eq!(said(&job("Running", status)), Outcome::Running, "{status}");
    }
    assert_eq!(said(&job("Complete", "SUCCEEDED")), Outcome::Succeeded);
    let failed = |reason: &str| Outcome::Failed { reason: reason.to_owned(), message: "some".to_owned() };
    assert_eq!(said(&job("Complete", "STOPPED")), failed("STOPPED"));
    assert_eq!(said(&job("Failed", "FAILED")), failed("Failed"));
    assert_eq!(said(&job("ValidationFailed", "")), failed("ValidationFailed"));
    let mut late = job("Failed", "RUNNING");
    late["status"]["reason"] = json!("DeadlineExceeded");
    assert_eq!(said(&late), failed("DeadlineExceeded"));
    for deployment in ["Suspending", "Suspended"] {
        assert_eq!(said(&job(deployment, "")), Outcome::Suspended);
    }
    let mut queued = job("", "");
    queued["spec"]["suspend"] = json!(true);
    assert_eq!(said(&queued), Outcome::Suspended);
}

#[test]
fn its_pods_are_a_head_workers_and_the_submitter() {
    let sets = pod_sets(&job("", ""));
    let sets: Vec<_> = sets.iter().map(|set| (set.role.as_str(), set.replicas)).collect();
    assert_eq!(sets, [("head", 1), ("gpu", 2), ("submitter", 1)]);
    assert!((KIND.deciders)(&job("", "")).hold("submitter", 0));
    assert!(!(KIND.deciders)(&job("", "")).hold("head", 0));
}
