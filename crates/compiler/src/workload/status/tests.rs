use serde_json::{Value as Json, json};

use super::*;

fn job(api: &str, kind: &str, conditions: &[(&str, &str, &str)]) -> Json {
    let conditions: Vec<Json> = conditions
        .iter()
        .map(|(condition, status, reason)| {
            json!({"type": condition, "status": status, "reason": reason, "message": format!("about {reason}")})
        })
        .collect();
    json!({"apiVersion": api, "kind": kind, "spec": {}, "status": {"conditions": conditions}})
}

fn outcome(object: &Json) -> Outcome {
    (kind_of(object).unwrap().outcome)(object)
}

fn pods_of(object: &Json) -> u32 {
    count(&pod_sets(object))
}

fn failed(reason: &str) -> Outcome {
    Outcome::Failed { reason: reason.to_owned(), message: format!("about {reason}") }
}

/// The sequences that training-operator v1.9 and mpi-operator v0.6 write (pkg/util/status.go of both).
#[test]
fn kubeflow_conditions_count_while_they_are_true() {
    for (api, kind) in [
        ("kubeflow.org/v1", "TFJob"),
        ("kubeflow.org/v1", "PyTorchJob"),
        ("kubeflow.org/v1", "MPIJob"),
        ("kubeflow.org/v2beta1", "MPIJob"),
        ("kubeflow.org/v1", "XGBoostJob"),
        ("kubeflow.org/v1", "PaddleJob"),
        ("kubeflow.org/v1", "JAXJob"),
    ] {
        let said = |conditions: &[(&str, &str, &str)]| outcome(&job(api, kind, conditions));
        let created = ("Created", "True", "JobCreated");
        assert_eq!(said(&[]), Outcome::Pending);
        assert_eq!(said(&[created]), Outcome::Pending);
        assert_eq!(said(&[created, ("Running", "True", "JobRunning")]), Outcome::Running);
        assert_eq!(said(&[created, ("Running", "False", "x"), ("Restarting", "True", "x")]), Outcome::Running);
        assert_eq!(said(&[created, ("Running", "False", "x"), ("Succeeded", "True", "x")]), Outcome::Succeeded);
        assert_eq!(said(&[created, ("Running", "False", "x"), ("Failed", "True", "JobFailed")]), failed("JobFailed"));
        assert_eq!(said(&[created, ("Failed", "False", "JobEvicted"), ("Running", "True", "x")]), Outcome::Running);
        assert_eq!(said(&[created, ("Suspended", "True", "x"), ("Running", "False", "x")]), Outcome::Suspended);
        assert_eq!(said(&[created, ("Suspended", "False", "JobResumed"), ("Running", "True", "x")]), Outcome::Running);
    }
}

#[test]
fn a_batch_job_is_over_with_its_first_final_condition() {
    let said = |conditions: &[(&str, &str, &str)]| outcome(&job("batch/v1", "Job", conditions));
    assert_eq!(said(&[("SuccessCriteriaMet", "True", "CompletionsReached")]), Outcome::Succeeded);
    assert_eq!(said(&[("Complete", "True", "CompletionsReached")]), Outcome::Succeeded);
    assert_eq!(said(&[("FailureTarget", "True", "DeadlineExceeded")]), failed("DeadlineExceeded"));
    assert_eq!(
        said(&[("FailureTarget", "True", "First"), ("Failed", "True", "BackoffLimitExceeded")]),
        failed("BackoffLimitExceeded")
    );
    assert_eq!(said(&[("Failed", "False", "x"), ("Complete", "Unknown", "x")]), Outcome::Pending);
    assert_eq!(said(&[("Suspended", "True", "JobSuspended")]), Outcome::Suspended);
    let mut running = job("batch/v1", "Job", &[]);
    running["status"] = json!({"active": 1, "ready": 0});
    assert_eq!(outcome(&running), Outcome::Pending);
    running["status"]["ready"] = json!(1);
    assert_eq!(outcome(&running), Outcome::Running);
}

#[test]
fn what_says_nothing_is_pending() {
    for status in [json!(null), json!("x"), json!({"conditions": 3}), json!({"conditions": [3, {"type": "Failed"}]})] {
        for (api, kind) in [("kubeflow.org/v1", "TFJob"), ("batch/v1", "Job")] {
            let object = json!({"apiVersion": api, "kind": kind, "status": status});
            assert_eq!(outcome(&object), Outcome::Pending, "{object}");
        }
    }
    assert!(kind_of(&json!({"apiVersion": "v1", "kind": "Job"})).is_none());
    assert!(kind_of(&json!({"apiVersion": "example.com/v1alpha1", "kind": "Job"})).is_none());
}

#[test]
fn a_queue_holds_a_job_before_it_has_a_status() {
    let object = json!({"apiVersion": "batch/v1", "kind": "Job", "spec": {"suspend": true}});
    assert_eq!(outcome(&object), Outcome::Suspended);
    let object =
        json!({"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "spec": {"runPolicy": {"suspend": true}}});
    assert_eq!(outcome(&object), Outcome::Suspended);
}

#[test]
fn the_replicas_that_decide_are_those_of_the_operator() {
    let decides = |kind: &str, spec: Json, role: &str, index| {
        let object = json!({"apiVersion": "kubeflow.org/v1", "kind": kind, "spec": spec});
        (kind_of(&object).unwrap().deciders)(&object).hold(role, index)
    };
    let workers = json!({"tfReplicaSpecs": {"Worker": {}, "PS": {}}});
    assert!(decides("TFJob", workers.clone(), "worker", 0));
    assert!(!decides("TFJob", workers.clone(), "worker", 1));
    assert!(!decides("TFJob", workers, "ps", 0));
    let all = json!({"tfReplicaSpecs": {"Worker": {}}, "successPolicy": "AllWorkers"});
    assert!(decides("TFJob", all, "worker", 1));
    let chief = json!({"tfReplicaSpecs": {"Worker": {}, "Chief": {}}, "successPolicy": "AllWorkers"});
    assert!(decides("TFJob", chief.clone(), "chief", 0));
    assert!(!decides("TFJob", chief, "worker", 0));
    let master = json!({"pytorchReplicaSpecs": {"Worker": {}, "Master": {}}});
    assert!(!decides("PyTorchJob", master, "worker", 0));
    assert!(decides("PyTorchJob", json!({"pytorchReplicaSpecs": {"Worker": {}}}), "worker", 3));
    assert!(decides("XGBoostJob", json!({}), "master", 0));
    assert!(!decides("XGBoostJob", json!({}), "worker", 0));
    let servers = json!({"paddleReplicaSpecs": {"Worker": {}, "Master": {}}});
    assert!(decides("PaddleJob", servers.clone(), "master", 1));
    assert!(!decides("PaddleJob", servers, "worker", 0));
    assert!(decides("PaddleJob", json!({"paddleReplicaSpecs": {"Worker": {}}}), "worker", 1));
    assert!(decides("JAXJob", json!({}), "worker", 1));
    assert!(decides("MPIJob", json!({}), "launcher", 0));
    assert!(!decides("MPIJob", json!({}), "worker", 0));
}

#[test]
fn a_job_asks_for_its_pods() {
    let pods = |api: &str, kind: &str, spec: Json| pods_of(&json!({"apiVersion": api, "kind": kind, "spec": spec}));
    let job = |spec: Json| pods("batch/v1", "Job", spec);
    let workers = json!({"Worker": {"replicas": 3}, "PS": {}});
    assert_eq!(pods("kubeflow.org/v1", "TFJob", json!({ "tfReplicaSpecs": workers })), 4);
    assert_eq!(job(json!({})), 1);
    assert_eq!(job(json!({"parallelism": 4, "completions": 2})), 2);
    assert_eq!(job(json!({"parallelism": 4, "completions": 9})), 4);
    let many = json!({"Worker": {"replicas": 4_294_967_295_u64}, "L": {}});
    assert_eq!(pods("kubeflow.org/v1", "MPIJob", json!({ "mpiReplicaSpecs": many })), u32::MAX);
    assert_eq!(pods("example.com/v1", "Job", json!({"parallelism": 4})), 0, "nobody knows");
}

/// The sequences that JobSet v0.12 writes (pkg/controllers/jobset_controller.go): a condition, and `terminalState` with it.
#[test]
fn a_job_set_is_over_in_its_terminal_state() {
    let said = |status: Json| {
        let mut object = job("jobset.x-k8s.io/v1alpha2", "JobSet", &[]);
        object["status"] = status;
        outcome(&object)
    };
    let condition = |name: &str, status: &str, reason: &str| json!({"type": name, "status": status, "reason": reason, "message": format!("about {reason}")});
    let begun = condition("StartupPolicyCompleted", "True", "x");
    let resumed = condition("Suspended", "False", "ResumeJobs");
    assert_eq!(said(json!({})), Outcome::Pending);
    assert_eq!(said(json!({"conditions": [condition("Suspended", "True", "SuspendedJobs")]})), Outcome::Suspended);
    assert_eq!(
        said(json!({"conditions": [resumed, begun], "replicatedJobsStatus": [{"name": "w", "ready": 0}]})),
        Outcome::Pending
    );
    assert_eq!(
        said(json!({"conditions": [resumed], "replicatedJobsStatus": [{"name": "w", "ready": 1}]})),
        Outcome::Running
    );
    let completed = condition("Completed", "True", "AllJobsCompleted");
    assert_eq!(
        said(json!({"conditions": [resumed, completed], "terminalState": "Completed", "restarts": 0})),
        Outcome::Succeeded
    );
    let over = condition("Failed", "True", "ReachedMaxRestarts");
    assert_eq!(said(json!({"conditions": [begun, over], "terminalState": "Failed"})), failed("ReachedMaxRestarts"));
    assert_eq!(said(json!({"terminalState": "Completed"})), Outcome::Succeeded);
    assert!(matches!(said(json!({"terminalState": "Failed"})), Outcome::Failed { .. }));
}

/// The sequences that Trainer v2.3 writes (pkg/controller/trainjob_controller.go): those of the JobSet, and two of its own.
#[test]
fn a_train_job_has_the_conditions_of_its_job_set() {
    let said =
        |conditions: &[(&str, &str, &str)]| outcome(&job("trainer.kubeflow.org/v1alpha1", "TrainJob", conditions));
    let resumed = ("Suspended", "False", "Resumed");
    assert_eq!(said(&[]), Outcome::Pending);
    assert_eq!(said(&[("Suspended", "True", "Suspended")]), Outcome::Suspended);
    assert_eq!(said(&[resumed]), Outcome::Pending);
    assert_eq!(said(&[resumed, ("Complete", "True", "AllJobsCompleted")]), Outcome::Succeeded);
    assert_eq!(said(&[("Failed", "True", "FailedJobs")]), failed("FailedJobs"));
    assert_eq!(said(&[("Failed", "True", "DeadlineExceeded")]), failed("DeadlineExceeded"));
    assert_eq!(said(&[("Failed", "True", "TrainingRuntimeNotSupported")]), failed("TrainingRuntimeNotSupported"));
}

#[test]
fn the_jobs_that_count_decide() {
    let set = |policy: Json| {
        json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {
            "successPolicy": policy,
            "replicatedJobs": [
                {"name": "a", "replicas": 2, "template": {"spec": {"parallelism": 3, "completions": 5}}},
                {"name": "b", "template": {"spec": {}}}]}})
    };
    let decide = |object: &Json, role: &str| (kind_of(object).unwrap().deciders)(object).hold(role, 0);
    assert!(decide(&set(json!({"operator": "All"})), "a") && decide(&set(json!({"operator": "All"})), "b"));
    let one = set(json!({"targetReplicatedJobs": ["b"]}));
    assert!(!decide(&one, "a") && decide(&one, "b"));
    assert_eq!(pods_of(&one), 7);
    let sets: Vec<(String, u32)> = pod_sets(&one).into_iter().map(|set| (set.template, set.completions)).collect();
    let template = |index: usize| format!("/spec/replicatedJobs/{index}/template/spec/template");
    assert_eq!(sets, [(template(0), 5), (template(1), 1)]);
    let mut train = json!({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": {"trainer": {"numNodes": 3}}});
    assert!(decide(&train, "node") && pods_of(&train) == 3);
    train["status"] = json!({"jobsStatus": [{"name": "node"}, {"name": "launcher"}]});
    assert!(decide(&train, "launcher") && !decide(&train, "node"));
}

#[test]
fn pods_are_selected_by_the_run_or_by_their_job_set() {
    let labels = json!({"kubebench.dev/run": "x-1"});
    let named = |kind: &str| json!({"kind": kind, "metadata": {"name": "x-1", "labels": labels}});
    assert_eq!(selector(&named("JobSet")), "kubebench.dev/run=x-1");
    assert_eq!(selector(&named("TrainJob")), "jobset.sigs.k8s.io/jobset-name=x-1");
}
