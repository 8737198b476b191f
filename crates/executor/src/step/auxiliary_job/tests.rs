#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::super::follow::{Ending, Limits};
use super::super::inputs::Inputs;
use super::super::kept_alive::KeptAlive;
use super::super::logs::Logs;
use super::super::observations::Sight;
use super::super::run::outcome_without_job;
use super::super::tests::{attempt, config, session};
use super::{After, Beside};
use crate::step::tests::cluster;
use kubebench_extract::rules::Rules;
use kubebench_format::result::v1::Status;
use kubebench_host::process::Stop;
use kubebench_testing::server::{Act, Server, object, pieces, stall, status};
use kubebench_testing::watchdog::WATCHDOG;

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

/// A Job of two pods, of which one prints until it is deleted, and then again, and the other never comes.
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
                let line = |text: &str| Act::Piece(format!("2026-11-22T01:00:02.5Z {text}\n").into_bytes());
                let deleted = Arc::clone(&deleted);
                let is_deleted = Act::Until(Arc::new(move || deleted.load(Ordering::SeqCst)));
                vec![pieces(), line("fetching"), is_deleted, line("asked to end"), Act::End]
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
    let mut session = session(cluster(&server), folder.path());
    let output = folder.path().join("matmul-0a1b2c3d");
    let ended = session.beside("prepare", &job(), &output, Duration::from_secs(1)).unwrap();
    let Beside::Failed(why) = ended else { panic!("it did not end by itself") };
    assert!(
        why.contains("only 1 of its 2 pods were created") && why.ends_with("; its last line: asked to end"),
        "{why}"
    );
    assert!(server.requests().iter().any(|request| request.starts_with(&format!("DELETE {JOB}"))));
    assert_eq!(std::fs::read_to_string(output.join("logs/prepare-0.log")).unwrap(), "fetching\nasked to end\n");
    // Nothing of it is needed any more.
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["matmul-0a1b2c3d"]);
}

/// A node that is drained during a Job after a run takes the step with it, and not what the run has measured.
#[test]
fn a_job_after_a_run_continues_in_the_next_pod() {
    for (uid, expected) in [("w", (After::Left, Status::Succeeded)), ("another", (After::Done, Status::Interrupted))] {
        let folder = tempfile::tempdir().unwrap();
        let workflow = json!({"kind": "Workflow", "metadata": {"name": "x", "uid": uid}});
        let leaving = json!({"kind": "Pod", "metadata": {"name": "step", "deletionTimestamp": "2026-11-22T01:00:00Z"}});
        let server = Server::new(move |request, _| {
            let (method, target) = request.split_once(' ').unwrap();
            match (method, target.split('?').next().unwrap()) {
                _ if target.contains("watch=true") => stall(),
                ("POST", _) => object(&job()),
                (_, "/api/v1/namespaces/n/pods/step") => object(&leaving),
                (_, path) if path.contains("/workflows/") => object(&workflow),
                (_, path) if path.ends_with("/jobs") => list("JobList", &[job()]),
                (_, path) if path.ends_with("/pods") => list("PodList", &[]),
                (_, path) if path.ends_with("/events") => list("EventList", &[]),
                _ => status(404, "NotFound", "not found"),
            }
        });
        let mut session = session(cluster(&server), folder.path());
        session.pod = Some("step".to_owned());
        session.hear(Stop { signal: 15 });
        let mut attempt = attempt(1);
        attempt.outcome = Some(outcome_without_job(&attempt, Status::Succeeded, Vec::new()));
        let inputs = Inputs { config: config(), settings: session.settings.clone() };
        let after = session.postprocess(&inputs, &mut attempt).unwrap();
        assert_eq!((after, attempt.outcome.unwrap().ended.status), expected, "{uid}");
        assert!(attempt.awaits_postprocess || uid == "another");
    }
}

/// That of a Workflow which was deleted is no proof that this one has prepared anything.
#[test]
fn the_job_of_another_workflow_is_waited_out() {
    for leaves in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let asked = AtomicUsize::new(0);
        let server = Server::new(move |request, _| {
            let (method, target) = request.split_once(' ').unwrap();
            let mut theirs = job();
            theirs["metadata"]["ownerReferences"] = json!([{"kind": "Workflow", "name": "x", "uid": "another"}]);
            theirs["status"] = json!({"succeeded": 2, "conditions": [{"type": "Complete", "status": "True"}]});
            match (method, target.split('?').next().unwrap()) {
                ("POST", _) if leaves && asked.fetch_add(1, Ordering::SeqCst) > 0 => {
                    status(422, "Invalid", "it was asked")
                }
                ("POST", _) => status(409, "AlreadyExists", "already exists"),
                (_, JOB) => object(&theirs),
                _ => status(404, "NotFound", "not found"),
            }
        });
        let mut session = session(cluster(&server), folder.path());
        let queue = if leaves { WATCHDOG } else { Duration::from_secs(1) };
        let ended = session.beside("prepare", &job(), &folder.path().join("x"), queue).unwrap();
        let Beside::Failed(why) = ended else { panic!("it took what it has not made") };
        let expected = if leaves { "it was asked" } else { "that this Workflow does not own already exists" };
        assert!(why.contains(expected), "{why}");
    }
}

/// What blocks a job may have gone while it could not be observed.
#[test]
fn a_job_is_not_given_up_while_the_api_server_is_away() {
    const OBSTACLE: Duration = Duration::from_secs(1);
    let folder = tempfile::tempdir().unwrap();
    // How often each could not be listed, and since when that was seen of both.
    let (jobs, pods, away) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0), OnceLock::new());
    let has_listed = AtomicBool::new(false);
    let is_seen = |failures: &AtomicUsize| failures.load(Ordering::SeqCst) > 2;
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}});
    let server = Server::new(move |request, _| {
        let target = request.split_once(' ').unwrap().1;
        let (mut one, mut pod) = (job(), pod());
        one["spec"] = json!({"parallelism": 1, "completions": 1});
        if is_seen(&jobs) && is_seen(&pods) {
            away.get_or_init(Instant::now);
        }
        let is_back = away.get().is_some_and(|since| since.elapsed() > OBSTACLE * 3 / 2);
        let refuse = |failures: &AtomicUsize| {
            failures.fetch_add(1, Ordering::SeqCst);
            status(503, "ServiceUnavailable", "away")
        };
        if is_back {
            one["status"] = json!({"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]});
            pod["status"]["phase"] = "Succeeded".into();
            pod["status"]["containerStatuses"][0]["state"] = json!({"terminated": {"exitCode": 0,
                "startedAt": "2026-11-22T01:00:00Z", "finishedAt": "2026-11-22T01:00:01Z"}});
        } else {
            pod["status"]["phase"] = "Pending".into();
            pod["status"]["containerStatuses"][0]["state"] = waiting.clone();
        }
        match target.split('?').next().unwrap() {
            _ if target.contains("watch=true") && is_back => vec![pieces(), Act::Stall],
            _ if target.contains("watch=true") => status(503, "ServiceUnavailable", "away"),
            path if path.ends_with("/jobs") && !is_back => refuse(&jobs),
            path if path.ends_with("/jobs") => list("JobList", &[one]),
            path if path.ends_with("/pods") && !is_back && has_listed.swap(true, Ordering::SeqCst) => refuse(&pods),
            // What blocks it is seen while the job itself is not.
            path if path.ends_with("/pods") => {
                let jobs = Arc::clone(&jobs);
                let first = Act::Until(Arc::new(move || is_seen(&jobs)));
                [vec![first], list("PodList", &[pod])].concat()
            }
            _ => list("EventList", &[]),
        }
    });
    let mut session = session(cluster(&server), folder.path());
    let mut logs = Logs::new(&session, folder.path().join("x"), &Rules::none(), 100);
    let limits = Limits { queue: Duration::from_mins(1), run: 2 * OBSTACLE, waited: Duration::ZERO, ran: None };
    let (ending, _) = session.follow(&mut Sight::of(job()), &mut logs, limits, KeptAlive::default(), &mut |_| Ok(()));
    assert_eq!(ending, Ending::Itself(Status::Succeeded));
}
