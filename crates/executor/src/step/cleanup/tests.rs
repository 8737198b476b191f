#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use crate::step::tests::cluster;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value as Json, json};

use super::super::attempt::{Attempt, Created};
use super::super::inputs::RulesText;
use super::super::run::outcome_without_job;
use super::super::session::ClusterStep;
use super::super::snapshot;
use super::super::tests::{attempt, session};
use kubebench_contract as contract;
use kubebench_format::result::v1::Status;
use kubebench_testing::server::{Act, Server, answer, object, status};

fn job(attempt: &Attempt) -> Json {
    json!({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {
        "name": attempt.job, "namespace": "n", "uid": "u", "ownerReferences": [{"kind": "Workflow", "name": "x", "uid": "w"}]}})
}

/// A cluster that has the job of `attempt` until it is deleted, which it refuses unless `may_delete`.
fn server(attempt: &Attempt, may_delete: Arc<AtomicBool>) -> Server {
    let (job, is_there) = (job(attempt), AtomicBool::new(true));
    let place = format!("/apis/kubeflow.org/v1/namespaces/n/pytorchjobs/{}", attempt.job);
    Server::new(move |request, _| -> Vec<Act> {
        let (method, target) = request.split_once(' ').unwrap();
        let path = target.split('?').next().unwrap();
        match method {
            "GET" if path == place && is_there.load(Ordering::SeqCst) => object(&job),
            "DELETE" if path == place && may_delete.load(Ordering::SeqCst) => {
                is_there.store(false, Ordering::SeqCst);
                object(&job)
            }
            "DELETE" => status(403, "Forbidden", "a webhook denied the request"),
            _ if ["/jobs", "/pods", "/events"].iter().any(|end| path.ends_with(end)) => {
                object(&json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}))
            }
            _ => status(404, "NotFound", "not found"),
        }
    })
}

/// Keeps what a step knows of `attempt` when it has its objects.
fn keep(session: &ClusterStep, attempt: &Attempt, metrics: &[Json]) {
    let run = snapshot::make(&session.experiments, &attempt.job).unwrap();
    let rules = json!({"schemaVersion": 1, "benchmark": "matmul", "metrics": metrics, "checks": []});
    let rules = RulesText { rules: Some(rules.to_string()), spec: None };
    snapshot::keep(
        &run,
        &contract::Created { before: Vec::new(), workload: job(attempt), endpoint_at: Vec::new() },
        None,
        &rules,
    )
    .unwrap();
    attempt.keep(&session.experiments).unwrap();
}

fn status_of(session: &ClusterStep, attempt: &Attempt) -> Option<(Status, String)> {
    let result = session.result_of(&attempt.job).unwrap()?;
    Some((result.run.status, result.run.reasons.first().map_or_else(String::new, |reason| reason.code.to_string())))
}

/// The step made a result and could not delete the job, or was asked to end before it had heard that there is one.
#[test]
fn a_job_goes_though_its_run_has_a_result() {
    for is_known in [true, false] {
        let mut attempt = attempt(1);
        let (volume, may_delete) = (tempfile::tempdir().unwrap(), Arc::new(AtomicBool::new(false)));
        let server = server(&attempt, Arc::clone(&may_delete));
        let mut session = session(cluster(&server), volume.path());
        attempt.created = is_known.then(|| Created::of(&job(&attempt)));
        keep(&session, &attempt, &[]);
        attempt.outcome = Some(outcome_without_job(&attempt, Status::Failed, Vec::new()));
        session.conclude_left(attempt.clone()).unwrap();
        assert_eq!(status_of(&session, &attempt).unwrap().0, Status::Failed);
        // What cannot be done is reported, each time.
        assert_eq!(session.end_runs().unwrap(), 1, "{is_known}");
        may_delete.store(true, Ordering::SeqCst);
        assert_eq!(session.end_runs().unwrap(), 0, "{is_known}");
        let is_deletion = |request: &&String| request.starts_with("DELETE ");
        let deletions = server.requests().iter().filter(is_deletion).count();
        assert!(deletions >= 2, "{:?}", server.requests());
        assert_eq!(session.end_runs().unwrap(), 0);
        assert_eq!(server.requests().iter().filter(is_deletion).count(), deletions);
    }
}

#[test]
fn a_run_whose_job_cannot_be_deleted_has_its_result() {
    let attempt = attempt(1);
    let volume = tempfile::tempdir().unwrap();
    let server = server(&attempt, Arc::default());
    let mut session = session(cluster(&server), volume.path());
    keep(&session, &attempt, &[]);
    assert_eq!(session.end_runs().unwrap(), 1);
    assert_eq!(status_of(&session, &attempt), Some((Status::Interrupted, "interrupted".to_owned())));
}

/// Its operator was removed.
#[test]
fn a_run_whose_kind_is_gone_has_its_result() {
    let attempt = attempt(1);
    let volume = tempfile::tempdir().unwrap();
    let server = Server::new(|_, _| answer(404, "Content-Type: text/plain\r\n", "404 page not found\n"));
    let mut session = session(cluster(&server), volume.path());
    keep(&session, &attempt, &[]);
    assert_eq!(session.end_runs().unwrap(), 0);
    assert_eq!(status_of(&session, &attempt), Some((Status::Interrupted, "interrupted".to_owned())));
}

/// Its results would be those of a whole run, and no Workflow would repeat it.
#[test]
fn a_run_that_was_not_postprocessed_has_not_succeeded() {
    for awaits in [false, true] {
        let mut attempt = attempt(1);
        let volume = tempfile::tempdir().unwrap();
        let server = Server::new(|_, _| status(404, "NotFound", "not found"));
        let mut session = session(cluster(&server), volume.path());
        keep(&session, &attempt, &[]);
        attempt.outcome = Some(outcome_without_job(&attempt, Status::Succeeded, Vec::new()));
        assert!(attempt.awaits_postprocess);
        attempt.awaits_postprocess = awaits;
        attempt.keep(volume.path()).unwrap();
        assert_eq!(session.end_runs().unwrap(), 0);
        let expected = if awaits { (Status::Interrupted, "interrupted") } else { (Status::Succeeded, "") };
        assert_eq!(status_of(&session, &attempt), Some((expected.0, expected.1.to_owned())));
    }
}

/// As the documents say it may; and a step may come back to it at any time.
#[test]
fn what_postprocess_wrote_stays_what_it_is() {
    let mut attempt = attempt(1);
    let volume = tempfile::tempdir().unwrap();
    let server = Server::new(|_, _| status(404, "NotFound", "not found"));
    let mut session = session(cluster(&server), volume.path());
    let metric = json!({"name": "speed", "from": {"json": {"file": "result.json", "pointer": "/speed"}}});
    keep(&session, &attempt, &[metric]);
    let place = attempt.folder(volume.path()).join("result/result.json");
    std::fs::write(&place, "{\"speed\": 4.5}").unwrap();
    assert!(session.result_of(&attempt.job).unwrap().is_none());
    attempt.outcome = Some(outcome_without_job(&attempt, Status::Succeeded, Vec::new()));
    attempt.awaits_postprocess = false;
    session.conclude_left(attempt.clone()).unwrap();
    let result = session.result_of(&attempt.job).unwrap().unwrap();
    assert_eq!(result.metrics[0].value, Some(4.5), "{result:#?}");
    let names: Vec<&str> = result.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!(names, ["result/result.json"]);
    assert_eq!(std::fs::read_to_string(place).unwrap(), "{\"speed\": 4.5}");
}

/// Its log may hold what the server prints.
#[test]
fn secrets_of_the_server_of_a_run_that_was_left_are_known() {
    let attempt = attempt(1);
    let volume = tempfile::tempdir().unwrap();
    let server = Server::new(|_, _| status(404, "NotFound", "not found"));
    let mut session = session(cluster(&server), volume.path());
    let container = json!({"name": "server", "env": [{"name": "HF_TOKEN", "value": "hf_0123456789abcdefghij"}]});
    let loaded = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
    let objects = |workload| contract::Created { before: Vec::new(), workload, endpoint_at: Vec::new() };
    keep(&session, &attempt, &[]);
    let run = snapshot::make(&session.experiments, &attempt.job).unwrap();
    let rules = RulesText::default();
    snapshot::keep(&run, &objects(job(&attempt)), Some(&objects(loaded)), &rules).unwrap();
    session.conclude_left(attempt).unwrap();
    let text = session.redactor.text("with hf_0123456789abcdefghij it is loaded");
    assert!(!text.contains("hf_0123"), "{text}");
}
