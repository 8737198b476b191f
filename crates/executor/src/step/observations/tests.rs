use serde_json::{Value as Json, json};

use super::super::server::Loaded;
use super::{From, Neighbors, Places, Sight};
use kubebench_cluster::Seen;
use kubebench_testing::snapshot::{assert_text, str};

const GOLDEN: &str = include_str!("../../../golden/v1/attempt.json");

/// A pod of a Job without completion indexes, which only its name and its age identify.
fn pod(name: &str, second: u32) -> Seen {
    Seen::Applied(json!({
        "metadata": {"name": format!("x-1-{name}"), "uid": name, "labels": {"kubebench.dev/role": "job"},
            "creationTimestamp": format!("2026-11-22T01:00:{second:02}Z")},
        "spec": {"containers": [{"name": "main", "image": "i"}]},
    }))
}

fn sight() -> Sight {
    Sight::of(
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x-1", "uid": "u"}, "spec": {"parallelism": 3}}),
    )
}

fn numbers(sight: &mut Sight) -> Vec<(String, u32)> {
    let progress = sight.sum();
    let mut numbers: Vec<_> = progress
        .replaced
        .iter()
        .chain(&progress.replicas)
        .map(|replica| (replica.pod.uid.clone(), replica.index))
        .collect();
    numbers.sort();
    numbers
}

fn are(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
    expected.iter().map(|(uid, number)| ((*uid).to_owned(), *number)).collect()
}

#[test]
fn what_a_queue_says_is_kept_until_the_job_is_admitted() {
    let mut sight = sight();
    let suspended = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x-1", "uid": "u"},
        "spec": {"parallelism": 3, "suspend": true}});
    sight.take(From::Job, Seen::Applied(suspended));
    let condition = json!({"type": "QuotaReserved", "status": "False", "message": "insufficient quota for cpu"});
    sight.take(From::Queue, Seen::Applied(json!({"metadata": {"uid": "w"}, "status": {"conditions": [condition]}})));
    let reasons = sight.sum().reasons;
    assert_text(
        &reasons[0].message,
        str! {"the job is suspended until its queue admits it: insufficient quota for cpu"},
    );
    // A user who may not look at queues still sees jobs and pods.
    assert!(sight.take(From::Queue, Seen::Trouble("forbidden".to_owned())).is_some());
    assert!(!sight.is_blind());
}

#[test]
fn the_number_of_a_pod_stays_whatever_becomes_known_of_others() {
    let mut sight = sight();
    sight.take(From::Pods, pod("b", 5));
    sight.take(From::Pods, pod("c", 5));
    assert_eq!(numbers(&mut sight), are(&[("b", 0), ("c", 1)]));
    // Of two of one second the one that goes would be the older; and this one is older than both.
    sight.take(From::Pods, Seen::Gone { uid: "c".to_owned() });
    sight.take(From::Pods, pod("a", 1));
    assert_eq!(numbers(&mut sight), are(&[("a", 2), ("b", 0), ("c", 1)]));
}

#[test]
fn a_step_that_comes_back_numbers_pods_as_the_one_before() {
    let mut sight = sight();
    let place = |number| ("job".to_owned(), number);
    // The oldest is gone, and this step never sees it.
    sight.remember(Places::from([("a".to_owned(), place(0)), ("b".to_owned(), place(1))]));
    sight.take(From::Pods, pod("b", 5));
    sight.take(From::Pods, pod("c", 6));
    assert_eq!(numbers(&mut sight), are(&[("b", 1), ("c", 2)]));
}

/// The watch of all pods is not behind that of the run's own, and not before it.
#[test]
fn pods_of_the_run_and_of_its_server_are_no_neighbors() {
    let on_node = |name: &str, uid: &str, run: Option<&str>| {
        let labels = run.map_or(json!({}), |run| json!({"kubebench.dev/run": run}));
        json!({
            "metadata": {"name": name, "uid": uid, "labels": labels, "creationTimestamp": "2026-11-22T01:00:00Z"},
            "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "i"}]},
            "status": {"phase": "Running", "startTime": "2026-11-22T01:00:00Z", "containerStatuses": [{"name": "main", "image": "i",
                "imageID": "", "ready": true, "restartCount": 0, "state": {"running": {"startedAt": "2026-11-22T01:00:01Z"}}}]},
        })
    };
    let loaded: Loaded =
        serde_json::from_value(serde_json::from_str::<Json>(GOLDEN).unwrap()["loaded"].clone()).unwrap();
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 1},
        "metadata": {"name": "x-1", "uid": "u", "labels": {"kubebench.dev/run": "x-1"}}});
    let mut sight = Sight::of(job);
    assert!(!sight.looks_around() && sight.neighbors().is_none());
    sight.look_around(Neighbors::new(), Some(&loaded));
    sight.take(From::Pods, Seen::Applied(on_node("x-1-a", "a", Some("x-1"))));
    for (name, uid, run) in [
        ("x-1-a", "a", Some("x-1")),
        ("x-1-b", "b", None),
        ("called-otherwise", "c", Some("x-1")),
        ("of-the-server", "b2", None),
        ("restarted", "d", Some("serving-server")),
        ("x-10", "e", Some("x-10")),
        ("web", "f", None),
    ] {
        sight.take(From::Namespace, Seen::Applied(on_node(name, uid, run)));
    }
    sight.take(From::Namespace, Seen::Applied(json!({"metadata": {"uid": 7}})));
    let progress = sight.sum();
    sight.meet(&progress);
    let met: Vec<&str> = sight.neighbors().unwrap().keys().map(String::as_str).collect();
    assert_eq!(met, ["e", "f"]);
    assert!(sight.take(From::Namespace, Seen::Trouble("nobody answers".to_owned())).is_some());
    assert!(!sight.is_blind(), "the run is seen all the same");
}
