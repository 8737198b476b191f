//! What serves has no end: it has succeeded when it is ready, and failed when it ends.

use kubebench_testing::snapshot::{assert_text, str};

use super::*;

fn deployment(available: u32) -> Json {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "mnist-1a2b3c4d", "namespace": "bench", "uid": "job-uid", "creationTimestamp": at(0), "generation": 1},
        "spec": {"replicas": 2, "template": {"metadata": {"labels": {"kubebench.dev/role": "server"}}}},
        "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": available,
            "availableReplicas": available, "conditions": [
                {"type": "Available", "status": if available > 0 { "True" } else { "False" }},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}
    })
}

/// A pod of it, as the ReplicaSet's controller and the kubelet leave it.
fn server(number: u32, state: Json, is_ready: bool) -> Json {
    let mut pod = pod("server", number, state);
    pod["metadata"]["name"] = json!(format!("mnist-1a2b3c4d-6d5f7c9b8-x{number}x2k"));
    pod["metadata"]["labels"] = json!({"kubebench.dev/role": "server"});
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "mnist-1a2b3c4d-6d5f7c9b8", "uid": "set"}]);
    pod["spec"]["containers"][1]["name"] = json!("server");
    pod["status"]["containerStatuses"][1]["name"] = json!("server");
    let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
    conditions.push(
        json!({"type": "Ready", "status": if is_ready { "True" } else { "False" }, "lastTransitionTime": at(12)}),
    );
    pod
}

#[test]
fn it_has_succeeded_when_all_of_its_pods_are_ready() {
    let pods = |second| [server(0, running(), true), server(1, running(), second)];
    assert_eq!(summed(&deployment(0), &pods(false), &[]).state, State::Running);
    assert_eq!(summed(&deployment(1), &pods(false), &[]).state, State::Running, "half of it is available");
    assert_eq!(summed(&deployment(2), &pods(false), &[]).state, State::Running, "its controller is ahead of its pods");
    let ready = summed(&deployment(2), &pods(true), &[]);
    assert_eq!((ready.state, ready.reasons), (State::Ended(Status::Succeeded), Vec::new()));
}

#[test]
fn a_container_that_ends_fails_it_whoever_starts_it_again() {
    let first = |state: Json| [server(0, state, true), server(1, running(), true)];
    for (code, pods) in [("exitCode", first(ended(0, "Completed"))), ("outOfMemory", first(ended(137, "OOMKilled")))] {
        let progress = summed(&deployment(2), &pods, &[]);
        assert_eq!((progress.state, progress.reasons[0].code.as_str()), (State::Ended(Status::Failed), code));
    }
    let mut again = server(0, waiting("CrashLoopBackOff", "back-off 10s restarting failed container"), false);
    again["status"]["containerStatuses"][1]["restartCount"] = json!(1);
    again["status"]["containerStatuses"][1]["lastState"] = ended(3, "Error");
    let progress = summed(&deployment(1), &[again.clone(), server(1, running(), true)], &[]);
    assert_eq!(progress.state, State::Ended(Status::Failed));
    assert_text(&progress.reasons[0].message, str! {"server-0: exited with 3, but a server must keep running"});
    again["status"]["containerStatuses"][1]["state"] = running();
    let progress = summed(&deployment(2), &[again, server(1, running(), true)], &[]);
    assert_eq!(progress.state, State::Ended(Status::Failed), "it runs again, and is not what it was");
}

/// KServe says in an event alone that it cannot make the Deployment.
#[test]
fn what_kserve_cannot_make_is_reported() {
    let service = json!({
        "apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService",
        "metadata": {"name": "mnist-1a2b3c4d", "uid": "job-uid", "creationTimestamp": at(0), "generation": 1},
        "spec": {"predictor": {"minReplicas": 1, "containers": [{"name": "kserve-container"}]}}
    });
    let message = "fails to reconcile predictor: Deployment.apps \"mnist-1a2b3c4d-predictor\" is invalid: \
                   spec.template.spec.containers[0].resources.requests: Invalid value: \"1\": must be less than or equal to cpu limit";
    let event = event("InferenceService", "mnist-1a2b3c4d", "job-uid", "InternalError", message);
    let progress = summed(&service, &[], &[event]);
    assert_eq!((progress.state, progress.reasons[0].code.as_str()), (State::Ended(Status::Failed), "rejected"));
    assert!(progress.reasons[0].message.contains("less than or equal to cpu limit"), "{:?}", progress.reasons);
}
