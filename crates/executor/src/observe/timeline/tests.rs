use serde_json::{Value as Json, json};

use crate::observe::tests::{at, ended, job, of_job, pod, running, summed};
use kubebench_format::result::v1::Timings;

/// A pod whose node's clock is `late` seconds ahead of the API server's.
fn ahead(role: &str, index: u32, late: u32, [start, end]: [u32; 2]) -> Json {
    let mut pod = pod(role, index, ended(0, "Completed"));
    pod["status"]["startTime"] = json!(at(3 + late));
    let terminated = &mut pod["status"]["containerStatuses"][1]["state"]["terminated"];
    terminated["startedAt"] = json!(at(start + late));
    terminated["finishedAt"] = json!(at(end + late));
    pod
}

/// All workers decide.
fn workers() -> Json {
    let mut job = job(&[("Succeeded", "True", "PyTorchJobSucceeded", "")]);
    job["spec"]["pytorchReplicaSpecs"] = json!({"Worker": {"replicas": 2}});
    job
}

#[test]
fn clocks_of_nodes_that_are_off_change_no_duration() {
    let timings = |first: u32, second: u32| {
        let pods = [ahead("worker", 0, first, [10, 100]), ahead("worker", 1, second, [12, 110])];
        summed(&workers(), &pods, &[]).timings
    };
    let right = Timings {
        queue_seconds: Some(2.0),
        startup_seconds: Some(10.0),
        run_seconds: Some(100.0),
        ready_seconds: None,
    };
    assert_eq!(timings(0, 0), right);
    let off = timings(0, 500);
    assert_eq!(off.queue_seconds, Some(2.0));
    // A second is what rounding and the way to the kubelet leave open.
    assert!((off.startup_seconds.unwrap() - 10.0).abs() <= 1.0, "{off:?}");
    assert!((off.run_seconds.unwrap() - 100.0).abs() <= 1.0, "{off:?}");
}

#[test]
fn durations_on_one_node_are_of_its_clock() {
    let on_one = |pod: Json| {
        let mut pod = pod;
        pod["spec"]["nodeName"] = json!("node-0");
        pod
    };
    let pods = [on_one(ahead("worker", 0, 300, [10, 100])), on_one(ahead("worker", 1, 300, [12, 110]))];
    assert_eq!(summed(&workers(), &pods, &[]).timings.run_seconds, Some(100.0));
}

#[test]
fn what_is_not_known_is_left_out() {
    let one = ahead("worker", 0, 0, [10, 100]);
    let half = summed(&workers(), std::slice::from_ref(&one), &[]).timings;
    assert_eq!((half.queue_seconds, half.startup_seconds), (None, None), "a pod is missing");
    let unfinished = summed(&workers(), &[one.clone(), pod("worker", 1, running())], &[]).timings;
    assert_eq!(unfinished.run_seconds, None);
    let mut unscheduled = pod("worker", 1, json!({}));
    unscheduled["status"] = json!({"phase": "Pending"});
    let queued = summed(&workers(), &[one, unscheduled], &[]).timings;
    assert_eq!(queued.queue_seconds, None);
}

#[test]
fn replicas_that_do_not_decide_end_nothing() {
    let pods = [ahead("master", 0, 0, [10, 100]), ahead("worker", 0, 0, [10, 200])];
    let job = job(&[("Succeeded", "True", "PyTorchJobSucceeded", "")]);
    assert_eq!(summed(&job, &pods, &[]).timings.run_seconds, Some(90.0));
}

#[test]
fn later_pods_of_a_job_do_not_queue() {
    let mut object = workers();
    object["apiVersion"] = json!("batch/v1");
    object["kind"] = json!("Job");
    object["spec"] = json!({"parallelism": 1, "completions": 2});
    object["status"] = json!({"conditions": [{"type": "Complete", "status": "True"}]});
    let named = |scheduled: u32, mut pod: Json| {
        pod["status"]["conditions"][0]["lastTransitionTime"] = json!(at(scheduled));
        pod["status"]["startTime"] = json!(at(scheduled));
        of_job(pod)
    };
    let pods = [named(2, ahead("worker", 0, 0, [10, 100])), named(101, ahead("worker", 1, 0, [105, 200]))];
    let timings = summed(&object, &pods, &[]).timings;
    assert_eq!(
        timings,
        Timings { queue_seconds: Some(2.0), startup_seconds: Some(8.0), run_seconds: Some(190.0), ready_seconds: None }
    );
}
