use serde_json::{Value as Json, json};

use super::{LISTED, MOST, Neighborhood, Neighbors, listed};
use crate::observe::tests::{at, ended, job, pod, running, summed, summed_without};
use crate::observe::{Progress, State};

/// A pod of another owner on a node, which takes it after `from` seconds; it ends after `until` seconds, or does not.
fn other(name: &str, node: &str, from: u32, until: Option<u32>) -> Json {
    let state = until.map_or_else(
        || json!({"running": {"startedAt": at(from)}}),
        |until| json!({"terminated": {"exitCode": 0, "startedAt": at(from), "finishedAt": at(until)}}),
    );
    let phase = if until.is_some() { "Succeeded" } else { "Running" };
    json!({
        "metadata": {"name": name, "uid": format!("uid-of-{name}")},
        "spec": {"nodeName": node, "containers": [{"name": "main"}]},
        "status": {"phase": phase, "startTime": at(from), "containerStatuses": [
            {"name": "main", "image": "i", "imageID": "", "ready": true, "restartCount": 0, "state": state}]},
    })
}

fn with(mut pod: Json, at: &str, value: Json) -> Json {
    pod["metadata"][at] = value;
    pod
}

/// The pods of a run: the master of `node-0` from `from` to `until` by the clock of that, and a worker that runs.
fn pods([from, until]: [u32; 2]) -> [Json; 2] {
    let mut master = pod("master", 0, ended(0, "Completed"));
    let terminated = &mut master["status"]["containerStatuses"][1]["state"]["terminated"];
    (terminated["startedAt"], terminated["finishedAt"]) = (json!(at(from)), json!(at(until)));
    [master, pod("worker", 1, running())]
}

fn progress(times: [u32; 2]) -> Progress {
    summed(&job(&[("Running", "True", "PyTorchJobRunning", "")]), &pods(times), &[])
}

fn see(around: &mut Neighborhood, pod: &Json) {
    around.see(&serde_json::from_value(pod.clone()).unwrap());
}

fn names(around: &Neighborhood) -> Vec<&str> {
    around.met().values().map(|neighbor| neighbor.pod.as_str()).collect()
}

/// Those of `others` that a run met which was on `node-0` in that time.
fn met(times: [u32; 2], others: &[Json]) -> Vec<String> {
    let mut around = Neighborhood::default();
    for pod in others {
        see(&mut around, pod);
    }
    around.meet(&progress(times), |_, _| false);
    names(&around).into_iter().map(str::to_owned).collect()
}

#[test]
fn times_are_compared_on_one_node() {
    let others = [
        other("before", "node-0", 300, Some(309)),
        other("till-the-start", "node-0", 300, Some(310)),
        other("into-it", "node-0", 300, Some(311)),
        other("within", "node-0", 320, Some(330)),
        other("over-it", "node-0", 5, None),
        other("from-the-end", "node-0", 400, None),
        other("after", "node-0", 401, Some(402)),
        // The worker began after ten seconds of another clock, and runs.
        other("beside-the-worker", "node-1", 0, Some(30)),
        other("elsewhere", "node-2", 0, None),
    ];
    assert_eq!(met([310, 400], &others), ["beside-the-worker", "into-it", "over-it", "within"]);
}

#[test]
fn what_was_never_there_or_is_always_is_none() {
    let there = |name: &str| other(name, "node-0", 5, None);
    let owned =
        |kind: &str| json!([{"apiVersion": "apps/v1", "kind": kind, "name": "x", "uid": "x", "controller": true}]);
    let mut refused = other("refused", "node-0", 320, Some(330));
    refused["status"] = json!({"phase": "Failed", "reason": "OutOfcpu", "startTime": at(320)});
    let mut bound = there("bound");
    bound["status"] = json!({"phase": "Pending"});
    let mut nowhere = there("nowhere");
    nowhere["spec"] = json!({"containers": []});
    let others = [
        refused,
        bound,
        nowhere,
        with(there("daemon"), "ownerReferences", owned("DaemonSet")),
        with(there("mirror"), "ownerReferences", owned("Node")),
        with(there("step"), "labels", json!({"kubebench.dev/step": "run"})),
        with(there("replica"), "ownerReferences", owned("ReplicaSet")),
        // Before its containers have started their images are pulled.
        {
            let mut pulling = there("pulling");
            pulling["status"] = json!({"phase": "Pending", "startTime": at(320)});
            pulling
        },
        json!({}),
    ];
    assert_eq!(met([310, 400], &others), ["pulling", "replica"]);
}

#[test]
fn nothing_else_of_a_foreign_pod_is_known() {
    let labels = json!({"kubebench.dev/benchmark": "train", "kubebench.dev/run": "train-5e6f7a8b", "team": "secret"});
    let mut around = Neighborhood::default();
    see(&mut around, &with(other("train-5e6f7a8b-0", "node-0", 5, None), "labels", labels));
    see(&mut around, &with(other("web-1", "node-0", 6, None), "labels", json!({"kubebench.dev/benchmark": ""})));
    around.meet(&progress([10, 20]), |_, _| false);
    let (all, left_out) = listed(around.met());
    let expected = json!([
        {"pod": "train-5e6f7a8b-0", "benchmark": "train", "run": "train-5e6f7a8b", "since": at(5)},
        {"pod": "web-1", "since": at(6)},
    ]);
    assert_eq!((json!(all), left_out), (expected, 0));
}

/// Its pods are on nodes of which the load has no clock.
#[test]
fn on_the_node_of_a_server_what_is_seen_there_counts() {
    let mut around = Neighborhood::beginning_with(Neighbors::new(), vec!["node-9".to_owned()]);
    let running = progress([10, 20]);
    assert_eq!(running.state, State::Running);
    let waiting = Progress { state: State::Waiting, ..running.clone() };
    see(&mut around, &other("early", "node-9", 5, None));
    around.meet(&waiting, |_, _| false);
    see(&mut around, &other("early", "node-9", 5, Some(30)));
    see(&mut around, &other("there", "node-9", 5, None));
    see(&mut around, &other("own", "node-9", 5, None));
    around.meet(&running, |uid, _| uid == "uid-of-own");
    assert_eq!(names(&around), ["there"]);
    see(&mut around, &other("late", "node-9", 50, None));
    around
        .meet(&Progress { state: State::Ended(kubebench_format::result::v1::Status::Succeeded), ..running }, |_, _| {
            true
        });
    assert_eq!(names(&around), ["there"]);
}

#[test]
fn what_is_deleted_counts_by_what_is_known_of_its_end() {
    let mut around = Neighborhood::default();
    for pod in
        [other("ended", "node-0", 12, Some(15)), other("vanished", "node-0", 5, None), other("met", "node-0", 5, None)]
    {
        see(&mut around, &pod);
    }
    for uid in ["uid-of-ended", "uid-of-vanished", "uid-of-nobody"] {
        around.lose(uid);
    }
    around.meet(&progress([10, 20]), |_, _| false);
    assert_eq!(names(&around), ["ended", "met"]);
    around.lose("uid-of-met");
    around.meet(&progress([10, 20]), |_, _| false);
    assert_eq!(names(&around), ["ended", "met"]);
    assert!(around.stays.is_empty(), "{:?}", around.stays);
}

/// It is unknown when a pod of the run that disappeared silently left its node.
#[test]
fn a_node_that_the_run_left_has_no_neighbors_any_more() {
    let pods = [pod("master", 0, running()), pod("worker", 1, running())];
    let of = |gone: &[&str]| {
        let job = job(&[("Running", "True", "PyTorchJobRunning", "")]);
        let progress = summed_without(&job, &pods, &[], gone);
        let mut around = Neighborhood::default();
        see(&mut around, &other("zero", "node-0", 50, None));
        see(&mut around, &other("one", "node-1", 50, None));
        around.meet(&progress, |_, _| false);
        names(&around).len()
    };
    assert_eq!((of(&[]), of(&["uid-master-0"])), (2, 1));
}

#[test]
fn hundreds_of_neighbors_are_counted() {
    let earlier = serde_json::from_value(json!({"uid-of-earlier": {"pod": "earlier", "since": at(0)}})).unwrap();
    let mut around = Neighborhood::beginning_with(earlier, Vec::new());
    for number in 0..MOST + 10 {
        let mut pod = other(&format!("p-{number:04}"), "node-0", 5, None);
        if number % 100 == 0 {
            pod = with(pod, "labels", json!({"kubebench.dev/benchmark": "train"}));
        }
        see(&mut around, &pod);
    }
    for _ in 0..2 {
        around.meet(&progress([10, 20]), |_, _| false);
        assert_eq!(around.met().len(), MOST);
    }
    let (all, left_out) = listed(around.met());
    assert_eq!((all.len(), left_out), (LISTED, 950));
    assert!(all.iter().take(10).all(|neighbor| neighbor.benchmark.is_some()), "{all:#?}");
    assert_eq!(all[10].pod, "earlier");
}
