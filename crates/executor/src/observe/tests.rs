use std::collections::BTreeSet;

use kubebench_testing::snapshot::{assert_text, str};
use proptest::prelude::*;
use serde_json::json;

use super::*;

mod serving;

/// 2026-08-22T10:00:00Z and `seconds` more.
pub(super) fn at(seconds: u32) -> String {
    format!("2026-08-22T10:{:02}:{:02}Z", seconds / 60, seconds % 60)
}

/// A PyTorchJob as the training operator v1.9 shows it, `conditions` with type, status, reason and message.
pub(super) fn job(conditions: &[(&str, &str, &str, &str)]) -> Json {
    let conditions: Vec<Json> = conditions
        .iter()
        .map(|(condition, status, reason, message)| {
            json!({"type": condition, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": at(0), "lastUpdateTime": at(0)})
        })
        .collect();
    json!({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "metadata": {"name": "mnist-1a2b3c4d", "namespace": "bench", "uid": "job-uid", "creationTimestamp": at(0)},
        "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 1}}},
        "status": {"conditions": conditions}
    })
}

const RUNNING: (&str, &str, &str, &str) = ("Running", "True", "PyTorchJobRunning", "PyTorchJob mnist is running.");
const SUCCEEDED: (&str, &str, &str, &str) = ("Succeeded", "True", "PyTorchJobSucceeded", "completed");
const FAILED: (&str, &str, &str, &str) =
    ("Failed", "True", "PyTorchJobFailed", "PyTorchJob mnist-1a2b3c4d is failed because 1 Worker replica(s) failed.");

/// A pod as the kubelet of 1.34 leaves it: bound after 2 s, taken by its node at once, started after 10 s.
#[expect(clippy::needless_pass_by_value, reason = "states are written where they are used")]
pub(super) fn pod(role: &str, index: u32, state: Json) -> Json {
    let phase = match &state {
        state if state.get("terminated").is_some_and(|end| end["exitCode"] == 0) => "Succeeded",
        state if state.get("terminated").is_some() => "Failed",
        state if state.get("running").is_some() => "Running",
        _ => "Pending",
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("mnist-1a2b3c4d-{role}-{index}"), "namespace": "bench", "uid": format!("uid-{role}-{index}"),
            "resourceVersion": "1200", "creationTimestamp": at(1),
            "labels": {
                "kubebench.dev/role": role,
                "training.kubeflow.org/replica-type": role,
                "training.kubeflow.org/replica-index": index.to_string()
            },
            "ownerReferences": [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "mnist-1a2b3c4d",
                "uid": "job-uid", "controller": true, "blockOwnerDeletion": true}]
        },
        "spec": {
            "nodeName": format!("node-{index}"),
            "containers": [{"name": "istio-proxy", "image": "istio/proxyv2:1.27"},
                {"name": "pytorch", "image": "registry.example/mnist:1"}]
        },
        "status": {
            "phase": phase, "startTime": at(2),
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(2)},
                {"type": "Initialized", "status": "True", "lastTransitionTime": at(4)}
            ],
            "containerStatuses": [
                {"name": "istio-proxy", "image": "istio/proxyv2:1.27", "imageID": "", "ready": true, "restartCount": 7},
                {"name": "pytorch", "image": "registry.example/mnist:1", "ready": true, "restartCount": 0, "state": state,
                    "imageID": format!("registry.example/mnist@sha256:{}", "ab".repeat(32))}
            ]
        }
    })
}

/// The pod of a batch Job, numbered by nothing.
pub(super) fn of_job(mut pod: Json) -> Json {
    pod["spec"]["containers"][1]["name"] = json!("main");
    pod["status"]["containerStatuses"][1]["name"] = json!("main");
    pod["metadata"]["labels"] = json!({"kubebench.dev/role": "job"});
    pod
}

pub(super) fn running() -> Json {
    json!({"running": {"startedAt": at(10)}})
}

pub(super) fn ended(code: i32, reason: &str) -> Json {
    json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": at(10), "finishedAt": at(70)}})
}

pub(super) fn waiting(reason: &str, message: &str) -> Json {
    json!({"waiting": {"reason": reason, "message": message}})
}

pub(super) fn event(kind: &str, name: &str, uid: &str, reason: &str, message: &str) -> Json {
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": message, "count": 3,
        "metadata": {"name": format!("{name}.{reason}"), "namespace": "bench", "uid": format!("{uid}-{reason}"),
            "resourceVersion": "900"},
        "involvedObject": {"kind": kind, "name": name, "namespace": "bench", "uid": uid},
        "firstTimestamp": at(3), "lastTimestamp": at(9)
    })
}

pub(super) fn read<T: serde::de::DeserializeOwned>(objects: &[Json]) -> Vec<T> {
    objects.iter().map(|object| serde_json::from_value(object.clone()).unwrap()).collect()
}

pub(super) fn summed(job: &Json, pods: &[Json], events: &[Json]) -> Progress {
    summed_without(job, pods, events, &[])
}

pub(super) fn summed_without(job: &Json, pods: &[Json], events: &[Json], gone: &[&str]) -> Progress {
    summed_in_a_queue(job, pods, events, gone, None)
}

fn summed_in_a_queue(job: &Json, pods: &[Json], events: &[Json], gone: &[&str], workload: Option<&Json>) -> Progress {
    let gone: BTreeSet<String> = gone.iter().map(|uid| (*uid).to_owned()).collect();
    sum(&Observed {
        job,
        pods: &read::<Pod>(pods),
        events: &read::<Event>(events),
        workload,
        gone: &gone,
        places: &Places::new(),
    })
}

pub(super) fn codes(progress: &Progress) -> Vec<&str> {
    progress.reasons.iter().map(|reason| reason.code.as_str()).collect()
}

#[test]
fn a_run_goes_from_waiting_to_its_end() {
    let first = summed(&job(&[]), &[], &[]);
    assert_eq!((first.state, first.wanted, first.is_scheduled()), (State::Waiting, 2, false));
    let pods = [pod("master", 0, running()), pod("worker", 0, waiting("ContainerCreating", ""))];
    let waiting = summed(&job(&[RUNNING]), &pods, &[]);
    assert_eq!((waiting.state, waiting.is_scheduled(), codes(&waiting)), (State::Waiting, true, vec![]));
    let pods = [pod("master", 0, running()), pod("worker", 0, running())];
    assert_eq!(summed(&job(&[RUNNING]), &pods, &[]).state, State::Running);
    let pods = [pod("master", 0, ended(0, "Completed")), pod("worker", 0, running())];
    let over = summed(&job(&[SUCCEEDED]), &pods, &[]);
    assert_eq!(over.state, State::Ended(Status::Succeeded));
    assert_eq!(over.exits.len(), 1);
    assert_eq!(
        over.timings,
        Timings { queue_seconds: Some(2.0), startup_seconds: Some(8.0), run_seconds: Some(60.0), ready_seconds: None }
    );
    assert_eq!(over.nodes, ["node-0"]);
    let image = |role: &str| Image {
        role: role.to_owned(),
        declared: "registry.example/mnist:1".to_owned(),
        observed: Some(format!("sha256:{}", "ab".repeat(32))),
    };
    assert_eq!(over.images, [image("master"), image("worker")]);
    assert_eq!(over.restarts, 0, "those of a sidecar do not count");
}

#[test]
fn a_failed_job_is_explained_by_its_pods() {
    let pods = [pod("master", 0, ended(137, "OOMKilled")), pod("worker", 0, ended(1, "Error"))];
    let over = summed(&job(&[FAILED]), &pods, &[]);
    assert_eq!(over.state, State::Ended(Status::Failed));
    assert_eq!(codes(&over), ["outOfMemory", "exitCode"]);
    assert_text(&over.reasons[1].message, str! {"worker-0: exited with 1"});
    assert_eq!((over.exits[0].code, over.exits[0].signal.as_deref()), (None, Some("SIGKILL")));
    assert_eq!((over.exits[1].code, over.exits[1].signal.as_deref()), (Some(1), None));

    let over = summed(&job(&[FAILED]), &[], &[]);
    assert_eq!(codes(&over), ["jobFailed"]);
    assert!(over.reasons[0].message.contains("1 Worker replica(s) failed"), "{:?}", over.reasons);
}

#[test]
fn a_failing_pod_leaves_the_verdict_to_the_controller() {
    let pods = [pod("master", 0, running()), pod("worker", 0, ended(1, "Error"))];
    let running = summed(&job(&[RUNNING]), &pods, &[]);
    assert_eq!((running.state, codes(&running)), (State::Running, vec!["exitCode"]));
}

/// What training-operator v1.9 (`JobFailedReason`) and the Job controller write at a deadline.
#[test]
fn a_deadline_explains_what_it_killed() {
    let message = "Job mnist-1a2b3c4d has failed because it was active longer than specified deadline";
    let pods = [pod("master", 0, ended(143, "Error")), pod("worker", 0, waiting("ImagePullBackOff", "Back-off"))];
    for reason in ["PyTorchJobFailed", "DeadlineExceeded"] {
        let over = summed(&job(&[("Failed", "True", reason, message)]), &pods, &[]);
        assert_eq!(over.state, State::Ended(Status::TimedOut));
        assert_eq!(codes(&over), ["timeout", "signal", "imagePull"]);
        let missing = "the job was stopped after its timeout, which counts from its creation; 1 of its pods had not started by then";
        assert_eq!(over.reasons[0].message, missing);
    }
    let mut all = job(&[("Failed", "True", "PyTorchJobFailed", message)]);
    all["spec"]["runPolicy"] = json!({"activeDeadlineSeconds": 900});
    let over = summed(&all, &[pod("master", 0, ended(143, "Error")), pod("worker", 0, running())], &[]);
    assert_text(
        &over.reasons[0].message,
        str! {"the job was stopped after its timeout of 900 s, which counts from its creation"},
    );
}

/// The Job controller deletes the pods of a job at its deadline, also one that waits for a volume.
#[test]
fn a_deadline_names_what_kept_a_deleted_pod_from_starting() {
    let message = "Job was active longer than specified deadline";
    let over = job(&[("Failed", "True", "DeadlineExceeded", message)]);
    let text = "MountVolume.SetUp failed for volume \"data\" : configmap \"nosuch\" not found";
    let mount = event("Pod", "mnist-1a2b3c4d-master-0", "uid-master-0", "FailedMount", text);
    let mut waits = pod("master", 0, waiting("ContainerCreating", ""));
    let gone = summed_without(&over, std::slice::from_ref(&waits), std::slice::from_ref(&mount), &["uid-master-0"]);
    waits["metadata"]["deletionTimestamp"] = json!(at(90));
    waits["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    for over in [gone, summed(&over, &[waits], &[mount])] {
        assert_eq!((over.state, codes(&over)), (State::Ended(Status::TimedOut), vec!["timeout", "mountFailed"]));
        assert!(over.reasons[1].message.ends_with("configmap \"nosuch\" not found"), "{:?}", over.reasons);
    }
}

/// What the Deployment's controller writes after `progressDeadlineSeconds`, and a `failure:` condition may name.
#[test]
fn a_deadline_of_progress_is_no_timeout_of_the_run() {
    let message = "ReplicaSet \"mnist-1a2b3c4d-6d5f7c9b8\" has timed out progressing.";
    let late = job(&[("Failed", "True", "ProgressDeadlineExceeded", message)]);
    let over = summed(&late, &[pod("master", 0, waiting("ContainerCreating", "")), pod("worker", 0, running())], &[]);
    assert_eq!((over.state, codes(&over)), (State::Ended(Status::Failed), vec!["jobFailed"]));
    assert!(over.reasons[0].message.contains("(ProgressDeadlineExceeded): ReplicaSet"), "{:?}", over.reasons);
}

#[test]
fn a_job_that_was_deleted_was_interrupted() {
    let pods = [pod("master", 0, running()), pod("worker", 0, running())];
    let over = summed_without(&job(&[RUNNING]), &pods, &[], &["job-uid", "uid-master-0", "uid-worker-0"]);
    assert_eq!((over.state, codes(&over)), (State::Ended(Status::Interrupted), vec!["deleted"]));
    assert!(over.reasons[0].message.starts_with("the job was deleted"));
    let mut object = job(&[RUNNING]);
    object["metadata"]["deletionTimestamp"] = json!(at(30));
    assert_eq!(summed(&object, &pods, &[]).state, State::Ended(Status::Interrupted));
    let late = summed_without(&job(&[SUCCEEDED]), &pods, &[], &["job-uid"]);
    assert_eq!(late.state, State::Ended(Status::Succeeded), "it was over before");
}

/// A program that obeys SIGTERM ends with 0, and its controller takes that for a success.
#[test]
fn a_pod_that_was_asked_to_end_has_not_done_its_work() {
    let deleted = |role: &str, seconds: u32| {
        let mut pod = pod(role, 0, ended(0, "Completed"));
        pod["metadata"]["deletionTimestamp"] = json!(at(seconds + 30));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        pod
    };
    for conditions in [&[RUNNING][..], &[SUCCEEDED]] {
        let cut = summed(&job(conditions), &[deleted("master", 60), pod("worker", 0, running())], &[]);
        assert_eq!((cut.state, codes(&cut)), (State::Ended(Status::Interrupted), vec!["deleted"]));
        let mut evicted = deleted("master", 70);
        evicted["status"]["conditions"] = json!([{"type": "DisruptionTarget", "status": "True", "lastTransitionTime": at(60),
            "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}]);
        let cut = summed(&job(conditions), &[evicted, pod("worker", 0, running())], &[]);
        assert_eq!((cut.state, codes(&cut)), (State::Ended(Status::Preempted), vec!["preempted"]));
    }
    // A loaded kubelet takes a pod many seconds after it was bound: its clock is not fast for that.
    let mut taken_late = deleted("master", 60);
    taken_late["status"]["startTime"] = json!(at(14));
    let cut = summed(&job(&[FAILED]), &[taken_late], &[]);
    assert_eq!((cut.state, codes(&cut)), (State::Ended(Status::Interrupted), vec!["deleted"]));
    // What the run does not wait for may go, and what has ended may be tidied away.
    let whole = summed(&job(&[SUCCEEDED]), &[pod("master", 0, ended(0, "Completed")), deleted("worker", 60)], &[]);
    assert_eq!(whole.state, State::Ended(Status::Succeeded));
    let tidied = summed(&job(&[SUCCEEDED]), &[deleted("master", 80), pod("worker", 0, running())], &[]);
    assert_eq!(tidied.state, State::Ended(Status::Succeeded));
}

#[test]
fn a_queue_holds_a_job_or_takes_it_back() {
    let suspended = job(&[("Suspended", "True", "PyTorchJobSuspended", "PyTorchJob is suspended.")]);
    let queued = summed(&suspended, &[], &[]);
    assert_eq!((queued.state, codes(&queued)), (State::Waiting, vec!["queued"]));
    let pods = [pod("master", 0, running()), pod("worker", 0, running())];
    let taken = summed_without(&suspended, &pods, &[], &["uid-master-0", "uid-worker-0"]);
    assert_eq!((taken.state, codes(&taken)), (State::Ended(Status::Preempted), vec!["preempted"]));
}

#[test]
fn a_queue_says_why() {
    let suspended = job(&[("Suspended", "True", "PyTorchJobSuspended", "PyTorchJob is suspended.")]);
    let reported = |pods: &[Json], gone: &[&str], conditions: Json| {
        let workload = json!({"status": {"conditions": conditions}});
        summed_in_a_queue(&suspended, pods, &[], gone, Some(&workload)).reasons[0].message.clone()
    };
    let no_quota = json!([{"type": "QuotaReserved", "status": "False", "reason": "Pending",
        "message": "couldn't assign flavors to pod set main: insufficient unused quota for cpu"}]);
    assert_text(
        reported(&[], &[], no_quota),
        str! {"the job is suspended until its queue admits it: couldn't assign flavors to pod set main: insufficient unused quota for cpu"},
    );
    let no_check = json!([{"type": "QuotaReserved", "status": "True", "message": "Quota reserved in ClusterQueue ml"},
        {"type": "Admitted", "status": "False", "message": "The workload is not admitted by its checks."}]);
    let expected = "the job is suspended until its queue admits it: The workload is not admitted by its checks";
    assert_eq!(reported(&[], &[], no_check), expected);
    assert_text(reported(&[], &[], json!([])), str! {"the job is suspended until its queue admits it"});
    let pods = [pod("master", 0, running()), pod("worker", 0, running())];
    let evicted = json!([{"type": "QuotaReserved", "status": "False", "message": "Preempted"},
        {"type": "Evicted", "status": "True", "message": "Preempted to accommodate a workload (UID: 1)"}]);
    assert_text(
        reported(&pods, &["uid-master-0", "uid-worker-0"], evicted),
        str! {"the job was suspended after it had started, as by a queue that reclaims its quota: Preempted to accommodate a workload (UID: 1)"},
    );
}

#[test]
fn a_pod_that_was_replaced_counts_as_a_restart() {
    let mut replacement = pod("worker", 0, running());
    replacement["metadata"]["uid"] = json!("uid-new");
    replacement["metadata"]["creationTimestamp"] = json!(at(40));
    let pods = [pod("master", 0, running()), pod("worker", 0, running()), replacement.clone()];
    let over = summed_without(&job(&[RUNNING]), &pods, &[], &["uid-worker-0"]);
    assert_eq!(over.restarts, 1);
    assert_eq!((over.state, codes(&over)), (State::Ended(Status::Interrupted), vec!["deleted"]));
    // One that had done nothing is replaced without harm.
    let pods = [pod("master", 0, running()), pod("worker", 0, waiting("ContainerCreating", "")), replacement];
    let on = summed_without(&job(&[RUNNING]), &pods, &[], &["uid-worker-0"]);
    assert_eq!((on.restarts, on.state, codes(&on)), (0, State::Running, vec![]));
}

#[test]
fn pods_of_others_are_none_of_it() {
    let mut stale = pod("worker", 0, ended(1, "Error"));
    stale["metadata"]["ownerReferences"][0]["uid"] = json!("an-earlier-job");
    stale["metadata"]["uid"] = json!("stale");
    let mut postprocess = pod("job", 0, ended(1, "Error"));
    postprocess["metadata"]["name"] = json!("mnist-99999999-x2x4z");
    let known = summed(&job(&[RUNNING]), &[stale, postprocess, pod("master", 0, running())], &[]);
    assert_eq!(known.replicas.iter().map(|replica| replica.role.as_str()).collect::<Vec<_>>(), ["master"]);
    // KubeRay's submitter is a pod of a Job that is called like the RayJob.
    let mut own = pod("worker", 0, running());
    own["metadata"]["ownerReferences"][0]["kind"] = json!("Job");
    own["metadata"]["ownerReferences"][0]["uid"] = json!("a-job-of-its-name");
    let known = summed(&job(&[RUNNING]), &[own, pod("master", 0, running())], &[]);
    assert_eq!(known.replicas.len(), 2);
}

#[test]
fn pods_without_a_number_are_numbered_by_age() {
    let object = json!({"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 2, "completions": 2},
        "metadata": {"name": "mnist-1a2b3c4d", "uid": "job-uid", "creationTimestamp": at(0)}});
    let named = |name: &str, created: u32| {
        let mut pod = of_job(pod("job", 0, running()));
        pod["metadata"]["name"] = json!(format!("mnist-1a2b3c4d-{name}"));
        pod["metadata"]["uid"] = json!(name);
        pod["metadata"]["creationTimestamp"] = json!(at(created));
        pod
    };
    let known = summed(&object, &[named("24567", 2), named("zzzzz", 1)], &[]);
    let places: Vec<(u32, &str)> =
        known.replicas.iter().map(|replica| (replica.index, replica.pod.uid.as_str())).collect();
    assert_eq!(places, [(0, "zzzzz"), (1, "24567")]);
    assert_eq!(known.state, State::Running);
}

#[test]
fn nothing_that_the_api_may_hold_is_a_panic() {
    for object in
        [json!(null), json!([]), json!({"metadata": 3, "spec": [], "status": "x"}), json!({"kind": "PyTorchJob"})]
    {
        let known = summed(
            &object,
            &[json!({}), json!({"status": {}}), pod("worker", 0, json!({}))],
            &[json!({"involvedObject": {}, "metadata": {}})],
        );
        assert_eq!(known.state, State::Waiting, "{object}");
    }
}

/// Every version of every object of a run that fails by preemption after a slow start.
fn observations() -> (Vec<Json>, Vec<Json>) {
    let version = |mut object: Json, version: u32| {
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        object
    };
    let mut preempted = pod("worker", 0, ended(143, "Error"));
    preempted["status"]["conditions"].as_array_mut().unwrap().push(
        json!({"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "gone"}),
    );
    let mut unscheduled = pod("worker", 0, json!({}));
    unscheduled["status"] = json!({"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available."}]});
    let pods = vec![
        version(pod("master", 0, waiting("ContainerCreating", "")), 98),
        version(pod("master", 0, waiting("ErrImagePull", "x")), 99),
        version(pod("master", 0, running()), 1000),
        version(unscheduled, 97),
        version(pod("worker", 0, running()), 1001),
        version(preempted, 1002),
    ];
    let mount = event("Pod", "mnist-1a2b3c4d-worker-0", "uid-worker-0", "FailedMount", "one");
    let mut repeated = version(mount.clone(), 901);
    repeated["message"] = json!("two");
    let quota = event("PyTorchJob", "mnist-1a2b3c4d", "job-uid", "FailedCreatePod", "exceeded quota");
    (pods, vec![mount, repeated, quota])
}

proptest! {
    #[test]
    fn any_order_of_the_same_observations_gives_the_same_sum(
        (pods, events) in Just(observations()).prop_flat_map(|(pods, events)| {
            let twice = |objects: Vec<Json>| [objects.clone(), objects].concat();
            (Just(twice(pods)).prop_shuffle(), Just(twice(events)).prop_shuffle())
        }),
    ) {
        let (plain_pods, plain_events) = observations();
        let plain = summed(&job(&[RUNNING]), &plain_pods, &plain_events);
        prop_assert_eq!(plain.state, State::Ended(Status::Preempted));
        prop_assert_eq!(summed(&job(&[RUNNING]), &pods, &events), plain);
    }

    #[test]
    fn pods_that_differ_in_age_and_name_alone_come_in_any_order(order in Just((0..6_u32).collect::<Vec<_>>()).prop_shuffle()) {
        let object = json!({"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 6},
            "metadata": {"name": "mnist-1a2b3c4d", "uid": "job-uid", "creationTimestamp": at(0)}});
        let made = |number: &u32| {
            let state = if number.is_multiple_of(2) { running() } else { ended(1, "Error") };
            let mut pod = of_job(pod("job", *number, state));
            pod["metadata"]["name"] = json!(format!("mnist-1a2b3c4d-{}", ["24567", "abcde", "99999", "zzzzz", "vwxz2", "bcdfg"][*number as usize]));
            pod["metadata"]["creationTimestamp"] = json!(at(number / 3));
            pod
        };
        let sorted: Vec<Json> = (0..6).map(|number| made(&number)).collect();
        let shuffled: Vec<Json> = order.iter().map(made).collect();
        prop_assert_eq!(summed(&object, &shuffled, &[]), summed(&object, &sorted, &[]));
    }
}

/// A JobSet as v0.12 shows it, with two pods of one Job.
fn job_set(status: &Json) -> Json {
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "mnist-1a2b3c4d", "namespace": "bench", "uid": "job-uid", "creationTimestamp": at(0)},
        "spec": {"replicatedJobs": [{"name": "worker", "replicas": 1,
            "template": {"spec": {"parallelism": 2, "completions": 2, "activeDeadlineSeconds": 60}}}]},
        "status": status
    })
}

fn of_job_set(index: u32, state: Json) -> Json {
    let mut pod = of_job(pod("worker", index, state));
    pod["metadata"]["name"] = json!(format!("mnist-1a2b3c4d-worker-0-{index}-x7k2p"));
    pod["metadata"]["labels"] = json!({"kubebench.dev/role": "worker", "jobset.sigs.k8s.io/job-index": "0",
        "jobset.sigs.k8s.io/restart-attempt": "0", "batch.kubernetes.io/job-completion-index": index.to_string()});
    pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job",
        "name": "mnist-1a2b3c4d-worker-0", "uid": "child-uid", "controller": true}]);
    pod
}

#[test]
fn a_job_set_that_went_well() {
    let done = json!({"terminalState": "Completed", "conditions": [{"type": "Completed", "status": "True", "reason": "AllJobsCompleted", "message": "jobset completed successfully"}]});
    let pods = [of_job_set(0, ended(0, "Completed")), of_job_set(1, ended(0, "Completed"))];
    let progress = summed(&job_set(&done), &pods, &[]);
    assert_eq!(progress.state, State::Ended(Status::Succeeded), "{progress:#?}");
    let places: Vec<(&str, u32, bool)> =
        progress.replicas.iter().map(|replica| (replica.role.as_str(), replica.index, replica.decides)).collect();
    assert_eq!((places, progress.restarts), (vec![("worker", 0, true), ("worker", 1, true)], 0));
}

/// A JobSet that was restarted was not measured once, however it ends.
#[test]
fn a_job_set_that_was_started_again_is_no_clean_result() {
    let done = json!({"terminalState": "Completed", "restarts": 1, "conditions": [{"type": "Completed", "status": "True", "reason": "AllJobsCompleted", "message": ""}]});
    let pods = [of_job_set(0, ended(0, "Completed")), of_job_set(1, ended(0, "Completed"))];
    let progress = summed(&job_set(&done), &pods, &[]);
    assert_eq!((progress.state, progress.restarts), (State::Ended(Status::Failed), 1));
    assert_eq!(progress.reasons[0].code.as_str(), "startedAgain");
    let mut unsaid = done;
    unsaid.as_object_mut().unwrap().remove("restarts");
    let mut later = pods;
    later[0]["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"] = json!("2");
    let progress = summed(&job_set(&unsaid), &later, &[]);
    assert_eq!((progress.state, progress.restarts), (State::Ended(Status::Failed), 2));
}

/// The JobSet says only that a Job failed; that Job's event says why.
#[test]
fn a_job_of_a_job_set_that_took_too_long() {
    let over = json!({"terminalState": "Failed", "conditions": [{"type": "Failed", "status": "True", "reason": "ReachedMaxRestarts",
        "message": "jobset failed due to reaching max number of restarts (first failed job: mnist-1a2b3c4d-worker-0)"}]});
    let pods = [of_job_set(0, ended(137, "Error")), of_job_set(1, ended(137, "Error"))];
    let late = event(
        "Job",
        "mnist-1a2b3c4d-worker-0",
        "child-uid",
        "DeadlineExceeded",
        "Job was active longer than specified deadline",
    );
    let progress = summed(&job_set(&over), &pods, &[late]);
    assert_eq!(progress.state, State::Ended(Status::TimedOut), "{progress:#?}");
    assert!(progress.reasons[0].message.contains("timeout of 60 s"), "{:?}", progress.reasons);
    assert_eq!(summed(&job_set(&over), &pods, &[]).state, State::Ended(Status::Failed));
}

/// A pod of a Workflow, as [`pod`] makes those of a job.
fn of_workflow(template: &str, number: u32, created: u32, state: Json) -> Json {
    let text = pod("x", number, state).to_string().replace("\"pytorch\"", "\"main\"");
    let mut made: Json = serde_json::from_str(&text).unwrap();
    made["metadata"]["name"] = json!(format!("mnist-1a2b3c4d-{template}-{number}"));
    made["metadata"]["uid"] = json!(format!("uid-{template}-{number}"));
    made["metadata"]["creationTimestamp"] = json!(at(created));
    made["metadata"]["labels"] = json!({"workflows.argoproj.io/workflow": "mnist-1a2b3c4d"});
    made["metadata"]["ownerReferences"][0]["kind"] = json!("Workflow");
    made
}

/// Argo tries again what failed, and deletes what has ended: neither ends the run, whose phase does.
#[test]
fn the_phase_of_a_workflow_decides_and_not_its_pods() {
    let workflow = |phase: &str| {
        json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
            "metadata": {"name": "mnist-1a2b3c4d", "uid": "job-uid", "creationTimestamp": at(0)},
            "spec": {"entrypoint": "all", "templates": [{"name": "all", "dag": {}},
                {"name": "load", "container": {}}, {"name": "train", "container": {}}]},
            "status": {"phase": phase, "message": "child 'mnist-1a2b3c4d-train-8' failed"},
        })
    };
    let mut killed = of_workflow("train", 7, 20, ended(137, "Error"));
    killed["metadata"]["deletionTimestamp"] = json!(at(30));
    let pods = read(&[
        of_workflow("load", 9, 1, ended(0, "Completed")),
        killed,
        of_workflow("train", 8, 40, ended(0, "Completed")),
    ]);
    let of = |phase: &str, gone: &[&str]| {
        let gone: BTreeSet<String> = gone.iter().map(|uid| (*uid).to_owned()).collect();
        let job = workflow(phase);
        sum(&Observed { job: &job, pods: &pods, events: &[], workload: None, gone: &gone, places: &Places::new() })
    };
    let running = of("Running", &["uid-train-7"]);
    assert_eq!(running.state, State::Running, "{:#?}", running.reasons);
    assert_eq!(running.wanted, 1);
    let ended = of("Succeeded", &["uid-load-9", "uid-train-7", "uid-train-8"]);
    assert_eq!(ended.state, State::Ended(Status::Succeeded), "{:#?}", ended.reasons);
    let places: Vec<(&str, u32, &str)> =
        ended.replicas.iter().map(|one| (one.role.as_str(), one.index, one.pod.uid.as_str())).collect();
    assert_eq!(places, [("load", 0, "uid-load-9"), ("train", 0, "uid-train-7"), ("train", 1, "uid-train-8")]);
    assert_eq!(ended.replaced, []);
    assert!(ended.timings.run_seconds.is_some() && ended.timings.queue_seconds.is_some(), "{:?}", ended.timings);
    let failed = of("Failed", &[]);
    assert_eq!(failed.state, State::Ended(Status::Failed), "{:#?}", failed.reasons);
    let reported: Vec<&str> = failed.reasons.iter().map(|reason| reason.message.as_str()).collect();
    assert_eq!(reported, ["the job failed (Failed): child 'mnist-1a2b3c4d-train-8' failed"]);
}
