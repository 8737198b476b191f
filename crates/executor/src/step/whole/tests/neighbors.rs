//! Who shared a node with a run is in its result.

use serde_json::{Value as Json, json};

use super::super::super::attempt::Attempt;
use super::{inputs, opened};
use crate::step::volume_state::Found;
use kubebench_format::result::v1::{Neighbor, Status};
use kubebench_testing::server::{Act, Server, answer, object, stall, status};

fn at(seconds: u32) -> String {
    format!("2026-11-22T01:{:02}:{:02}Z", seconds / 60, seconds % 60)
}

/// A pod of `node-1` between two moments.
fn pod(name: &str, labels: &Json, from: u32, until: u32) -> Json {
    let terminated = json!({"exitCode": 0, "startedAt": at(from), "finishedAt": at(until), "reason": "Completed"});
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "n", "uid": format!("uid-{name}"), "resourceVersion": "1", "creationTimestamp": at(from),
            "labels": labels},
        "spec": {"nodeName": "node-1", "restartPolicy": "Never", "containers": [{"name": "main", "image": format!("registry.example/{name}")}]},
        "status": {"phase": "Succeeded", "startTime": at(from), "containerStatuses": [{"name": "main", "image": "i", "imageID": "",
            "ready": false, "restartCount": 0, "state": {"terminated": terminated}}]},
    })
}

/// A cluster in which the Job `name` has run, next to others, until it is asked to delete it. All pods of the namespace are what
/// `all` answers.
fn server(name: &str, all: impl Fn(&[Json]) -> Vec<Act> + Send + Sync + 'static) -> Server {
    let name = name.to_owned();
    let deleted = std::sync::atomic::AtomicBool::new(false);
    Server::new(move |request, _| {
        use std::sync::atomic::Ordering::SeqCst;
        let (method, target) = request.split_once(' ').unwrap();
        let path = target.split('?').next().unwrap();
        let run = json!({"kubebench.dev/run": name, "kubebench.dev/role": "job"});
        let own = pod(&format!("{name}-a"), &run, 100, 160);
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 1, "completions": 1}, "metadata":
            {"name": name, "namespace": "n", "uid": "u", "resourceVersion": "1", "labels": run,
                "ownerReferences": [{"kind": "Workflow", "name": "x", "uid": "w"}]},
            "status": {"conditions": [{"type": "Complete", "status": "True"}]}});
        let list = |items: &[Json]| {
            object(&json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}))
        };
        let others = [
            own.clone(),
            pod("before", &json!({}), 10, 90),
            pod("web", &json!({}), 10, 120),
            pod(
                "other-0a1b2c3d-0",
                &json!({"kubebench.dev/benchmark": "other", "kubebench.dev/run": "other-0a1b2c3d"}),
                150,
                400,
            ),
            pod("step", &json!({"kubebench.dev/step": "run"}), 10, 400),
        ];
        match (method, path) {
            _ if target.contains("watch=true") => stall(),
            ("GET", path) if path.ends_with("/log") => answer(200, "Content-Type: text/plain\r\n", ""),
            ("GET", path) if path.ends_with("/pods") && !target.contains("labelSelector") => all(&others),
            ("GET", path) if path.ends_with("/pods") => list(&[own]),
            ("DELETE", _) => {
                deleted.store(true, SeqCst);
                object(&job)
            }
            ("GET", path) if path.ends_with("/events") => list(&[]),
            ("GET", path) if path.ends_with("/jobs") => list(&[job]),
            ("GET" | "POST", path) if path.contains("/jobs") && !deleted.load(SeqCst) => object(&job),
            _ => status(404, "NotFound", "not found"),
        }
    })
}

fn listed(items: &[Json]) -> Vec<Act> {
    object(&json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}))
}

fn named(pod: &str, benchmark: Option<&str>, since: u32) -> Neighbor {
    let run = benchmark.map(|benchmark| format!("{benchmark}-0a1b2c3d"));
    Neighbor { pod: pod.to_owned(), benchmark: benchmark.map(str::to_owned), run, since: Some(at(since)) }
}

#[test]
fn a_result_names_who_shared_a_node_with_its_run() {
    let (inputs, volume) = (inputs(), tempfile::tempdir().unwrap());
    let mut attempt = super::attempt(&inputs.config, inputs.config.list.runs.first().unwrap());
    let server = server(&attempt.job, listed);
    let mut session = opened(&server, volume.path());
    // That a step saw which was killed, and which is gone by now.
    attempt.neighbors.insert("uid-gone".to_owned(), named("gone", None, 105));
    let result = session.attempt(&inputs, &mut attempt).unwrap().unwrap();
    assert_eq!(result.run.status, Status::Succeeded, "{:?}", result.run.reasons);
    let expected = [named("other-0a1b2c3d-0", Some("other"), 150), named("web", None, 10), named("gone", None, 105)];
    assert_eq!((result.environment.neighbors.as_slice(), result.environment.neighbors_left_out), (&expected[..], 0));
    let whole = serde_json::to_string(&result).unwrap();
    assert!(whole.contains("registry.example/") && !whole.contains("registry.example/web"), "{whole}");
    let Found::Own(kept) = Attempt::read(volume.path(), "matmul", &attempt.job).unwrap() else { panic!("it is kept") };
    assert_eq!(kept.neighbors.len(), 3);
}

/// A step that may not see the other pods, or gets no answer, still has the run and its result.
#[test]
fn without_an_answer_about_other_pods_the_run_is_whole() {
    for all in [|_: &[Json]| status(403, "Forbidden", "no pods for you"), |_: &[Json]| stall()] {
        let (inputs, volume) = (inputs(), tempfile::tempdir().unwrap());
        let mut attempt = super::attempt(&inputs.config, inputs.config.list.runs.first().unwrap());
        let server = server(&attempt.job, all);
        let mut session = opened(&server, volume.path());
        let result = session.attempt(&inputs, &mut attempt).unwrap().unwrap();
        assert_eq!(result.run.status, Status::Succeeded, "{:?}", result.run.reasons);
        assert!(result.environment.neighbors.is_empty());
    }
}
