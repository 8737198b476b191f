#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::super::tests::session;
use super::Beside;
use crate::edge::cluster::tests::server::{Act, Server, object, pieces, stall, status};

const JOB: &str = "/apis/batch/v1/namespaces/n/jobs/x-1";
const LOG: &str = "/api/v1/namespaces/n/pods/x-1-a/log";

fn job() -> Json {
    json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "x-1", "namespace": "n", "uid": "u", "resourceVersion": "1", "labels": {"kubebench.dev/run": "x-1"}},
        "spec": {"parallelism": 2, "completions": 2, "activeDeadlineSeconds": 600}})
}

fn pod() -> Json {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "x-1-a", "namespace": "n", "uid": "p", "resourceVersion": "1", "creationTimestamp": "2026-11-22T01:00:00Z",
            "labels": {"kubebench.dev/run": "x-1", "kubebench.dev/role": "prepare"}},
        "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "i"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "main", "image": "i", "imageID": "", "ready": true,
            "restartCount": 0, "state": {"running": {"startedAt": "2026-11-22T01:00:01Z"}}}]}})
}

fn list(kind: &str, items: &[Json]) -> Vec<Act> {
    object(&json!({"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}))
}

/// A Job of two pods, of which one prints until it is deleted, and the other never comes.
fn server() -> Server {
    let deleted = Arc::new(AtomicBool::new(false));
    Server::new(move |request, _| {
        let (method, target) = request.split_once(' ').unwrap();
        let path = target.split('?').next().unwrap();
        let is_there = || !deleted.load(Ordering::SeqCst);
        match (method, path) {
            _ if target.contains("watch=true") => stall(),
            ("POST", _) => object(&job()),
            ("DELETE", JOB) => {
                deleted.store(true, Ordering::SeqCst);
                object(&job())
            }
            (_, JOB) if is_there() => object(&job()),
            (_, LOG) if is_there() => {
                let line = b"2026-11-22T01:00:02.5Z fetching\n".to_vec();
                let deleted = Arc::clone(&deleted);
                vec![pieces(), Act::Piece(line), Act::Until(Arc::new(move || deleted.load(Ordering::SeqCst))), Act::End]
            }
            (_, path) if path.ends_with("/jobs") => list("JobList", &[job()]),
            (_, path) if path.ends_with("/pods") => list("PodList", &[pod()]),
            (_, path) if path.ends_with("/events") => list("EventList", &[]),
            _ => status(404, "NotFound", "not found"),
        }
    })
}

#[test]
fn a_job_that_is_given_up_is_deleted_before_the_end_of_its_log_is_waited_for() {
    let (server, folder) = (server(), tempfile::tempdir().unwrap());
    let mut session = session(server.cluster(), folder.path());
    let output = folder.path().join("matmul-0a1b2c3d");
    let began = Instant::now();
    let ended = session.beside("prepare", &job(), &output, Duration::from_secs(1)).unwrap();
    let took = began.elapsed();
    let Beside::Failed(why) = ended else { panic!("it did not end by itself") };
    assert!(why.contains("only 1 of its 2 pods were made") && why.ends_with("; its last line: fetching"), "{why}");
    assert!(took < Duration::from_secs(20), "{took:?}: the log of a Job that is there has no end");
    assert!(server.requests().iter().any(|request| request.starts_with(&format!("DELETE {JOB}"))));
    assert_eq!(std::fs::read_to_string(output.join("logs/prepare-0.log")).unwrap(), "fetching\n");
    // Nothing of it is needed any more.
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["matmul-0a1b2c3d"]);
}
