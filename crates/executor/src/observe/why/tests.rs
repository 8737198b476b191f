use kubebench_testing::snapshot::{assert_text, str};
use serde_json::{Value as Json, json};

use super::*;
use crate::observe::tests::{at, codes, ended, event, job, pod, running, summed, summed_without, waiting};
use crate::observe::{Progress, State};

const RUNNING: (&str, &str, &str, &str) = ("Running", "True", "PyTorchJobRunning", "");
const FAILED: (&str, &str, &str, &str) = ("Failed", "True", "PyTorchJobFailed", "1 Worker replica(s) failed");

/// A run whose master runs and whose worker is `worker`.
fn with(worker: Json) -> Progress {
    summed(&job(&[RUNNING]), &[pod("master", 0, running()), worker], &[])
}

fn condition(mut pod: Json, condition: Json) -> Json {
    pod["status"]["conditions"].as_array_mut().unwrap().push(condition);
    pod
}

fn disrupted(pod: Json, reason: &str) -> Json {
    let target = json!({"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "because."});
    condition(pod, target)
}

fn only(progress: &Progress) -> (State, &str, &str) {
    assert_eq!(progress.reasons.len(), 1, "{:?}", progress.reasons);
    (progress.state, progress.reasons[0].code.as_str(), &progress.reasons[0].message)
}

/// The message is the scheduler's of 1.34.
#[test]
fn the_scheduler_is_quoted() {
    let mut worker = pod("worker", 0, json!({}));
    let words = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";
    worker["spec"]["nodeName"] = json!(null);
    worker["status"] = json!({"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}]});
    let known = with(worker.clone());
    let (state, code, message) = only(&known);
    assert_eq!((state, code), (State::Waiting, "unschedulable"));
    assert_eq!(message, format!("worker-0: cannot be scheduled: {}", words.trim_end_matches('.')));
    assert!(!known.is_scheduled());
    worker["status"]["conditions"][0]["reason"] = json!("SchedulingGated");
    assert_eq!(only(&with(worker)).1, "queued");
}

#[test]
fn an_image_that_cannot_be_pulled_says_why() {
    let cause = "failed to pull and unpack image \"registry.example/mnist:1\": not found";
    let known = with(pod("worker", 0, waiting("ErrImagePull", cause)));
    let (state, code, message) = only(&known);
    assert_eq!((state, code), (State::Waiting, "imagePull"));
    assert!(message.contains(cause) && message.contains("`registry.example/mnist:1`"), "{message}");
    // While it backs off, only the event knows the cause.
    let pods = [pod("master", 0, running()), pod("worker", 0, waiting("ImagePullBackOff", "Back-off pulling image"))];
    let reported = format!("Failed to pull image \"registry.example/mnist:1\": {cause}");
    let events = [
        event("Pod", "mnist-1a2b3c4d-worker-0", "uid-worker-0", "Failed", &reported),
        event("Pod", "mnist-1a2b3c4d-master-0", "uid-master-0", "Failed", "Failed to pull image: another"),
    ];
    assert!(only(&summed(&job(&[]), &pods, &events)).2.contains(cause));
    let known = with(pod("worker", 0, waiting("InvalidImageName", "couldn't parse image reference \"A:b\"")));
    assert_eq!(only(&known).0, State::Ended(Status::Failed), "it never gets better");
}

#[test]
fn a_container_that_cannot_be_made_says_why() {
    let known = with(pod("worker", 0, waiting("CreateContainerConfigError", "secret \"token\" not found")));
    assert_eq!(only(&known).1, "configMissing");
    assert!(only(&known).2.contains("secret \"token\" not found"));
    let known = with(pod("worker", 0, waiting("CreateContainerError", "context deadline exceeded")));
    assert_eq!((only(&known).0, only(&known).1), (State::Waiting, "cannotStart"));
    let known = with(pod("worker", 0, waiting("CrashLoopBackOff", "back-off 10s restarting failed container")));
    assert_eq!(only(&known).1, "restarting");
    let mut end = ended(128, "StartError");
    end["terminated"]["message"] = json!("exec: \"trian.py\": executable file not found in $PATH: unknown");
    let pods = [pod("master", 0, running()), pod("worker", 0, end)];
    let known = summed(&job(&[FAILED]), &pods, &[]);
    assert_eq!((only(&known).0, only(&known).1), (State::Ended(Status::Failed), "cannotStart"));
    assert!(only(&known).2.contains("trian.py"));
}

/// The messages are those of the quota plugin, of admission webhooks and of Pod Security.
#[test]
fn pods_that_are_not_created_are_explained_by_events_of_the_job() {
    let reported = |reason: &str, message: &str| {
        let event = event("PyTorchJob", "mnist-1a2b3c4d", "job-uid", reason, message);
        summed(&job(&[]), &[], &[event])
    };
    let quota = "Error creating: pods \"mnist-1a2b3c4d-master-0\" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=16";
    let known = reported("FailedCreatePod", quota);
    assert_eq!((only(&known).0, only(&known).1), (State::Waiting, "quota"));
    assert!(only(&known).2.contains("requests.nvidia.com/gpu=8"));
    let drawn = |letters: &str| {
        reported("FailedCreate", &format!("pods \"mnist-1a2b3c4d-{letters}\" is forbidden: exceeded quota: q"))
    };
    assert_eq!(drawn("8msxs").reasons, drawn("qsvdf").reasons);
    for message in [
        "Error creating: admission webhook \"policy.example\" denied the request: no team label",
        "Error creating: pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": runAsNonRoot != true",
        "Error creating: Pod \"x\" is invalid: spec.containers[0].resources.limits: Invalid value",
    ] {
        let known = reported("FailedCreate", message);
        assert_eq!((only(&known).0, only(&known).1), (State::Ended(Status::Failed), "rejected"), "{message}");
    }
    for message in [
        "Error creating: Internal error occurred: failed calling webhook \"x\": connection refused",
        "Error creating: pods \"x\" is forbidden: error looking up service account bench/default: serviceaccount \"default\" not found",
    ] {
        let known = reported("FailedCreate", message);
        assert_eq!((only(&known).0, only(&known).1), (State::Waiting, "rejected"), "{message}");
    }
    let known = reported("ValidationError", "Found validation errors: metadata.name: Invalid value");
    assert_eq!((only(&known).0, only(&known).1), (State::Ended(Status::Failed), "rejected"));
    // Once the pods are there it is history.
    let pods = [pod("master", 0, running()), pod("worker", 0, running())];
    let events = [event("PyTorchJob", "mnist-1a2b3c4d", "job-uid", "FailedCreatePod", quota)];
    assert_eq!(codes(&summed(&job(&[RUNNING]), &pods, &events)), Vec::<&str>::new());
}

#[test]
fn events_of_others_explain_nothing() {
    let events = [
        event("PyTorchJob", "mnist-1a2b3c4d", "an-earlier-job", "FailedCreatePod", "exceeded quota"),
        event("Pod", "mnist-1a2b3c4d-master-0", "uid-master-0", "FailedCreatePodSandBox", "cni"),
    ];
    assert_eq!(codes(&summed(&job(&[]), &[], &events)), Vec::<&str>::new());
    // The launcher of an MPIJob v2beta1 is a Job between the two.
    let between = event("Job", "mnist-1a2b3c4d-launcher", "between", "FailedCreate", "exceeded quota");
    assert_eq!(codes(&summed(&job(&[]), &[], &[between])), ["quota"]);
}

#[test]
fn a_volume_that_cannot_be_mounted_is_reported_by_events() {
    let pods = [pod("master", 0, running()), pod("worker", 0, waiting("ContainerCreating", ""))];
    for reason in ["FailedMount", "FailedAttachVolume"] {
        let message = "MountVolume.SetUp failed for volume \"data\" : configmap \"x\" not found";
        let events = [event("Pod", "mnist-1a2b3c4d-worker-0", "uid-worker-0", reason, message)];
        let known = summed(&job(&[]), &pods, &events);
        assert_eq!((only(&known).0, only(&known).1), (State::Waiting, "mountFailed"));
        assert!(only(&known).2.contains(message));
        let pods = [pod("master", 0, running()), pod("worker", 0, running())];
        assert_eq!(codes(&summed(&job(&[RUNNING]), &pods, &events)), Vec::<&str>::new(), "it was mounted at last");
    }
}

#[test]
fn pods_that_the_cluster_takes_away_are_preempted() {
    for (reason, code) in [
        ("PreemptionByScheduler", "preempted"),
        ("EvictionByEvictionAPI", "preempted"),
        ("DeletionByTaintManager", "nodeLost"),
        ("DeletionByPodGC", "nodeLost"),
        ("TerminationByKubelet", "nodeLost"),
    ] {
        let known = with(disrupted(pod("worker", 0, running()), reason));
        assert_eq!((only(&known).0, only(&known).1), (State::Ended(Status::Preempted), code), "{reason}");
        let pods = [pod("master", 0, ended(1, "Error")), disrupted(pod("worker", 0, ended(143, "Error")), reason)];
        let failed = summed(&job(&[FAILED]), &pods, &[]);
        assert_eq!(failed.state, State::Ended(Status::Preempted));
        assert_eq!(codes(&failed), [code, "exitCode"], "the consequence comes after its cause");
        let early = with(disrupted(pod("worker", 0, waiting("ContainerCreating", "")), reason));
        assert_eq!(early.state, State::Waiting, "nothing was lost yet");
    }
    let finished = disrupted(pod("worker", 0, ended(0, "Completed")), "EvictionByEvictionAPI");
    assert_eq!(codes(&with(finished)), Vec::<&str>::new(), "its work was done");
}

#[test]
fn a_node_that_is_lost_or_under_pressure_is_distinguished() {
    let reasoned = |mut pod: Json, reason: &str, message: &str| {
        pod["status"]["reason"] = json!(reason);
        pod["status"]["message"] = json!(message);
        pod
    };
    let lost =
        with(reasoned(pod("worker", 0, running()), "NodeLost", "Node node-0 which was running pod is unresponsive"));
    assert_eq!((only(&lost).0, only(&lost).1), (State::Ended(Status::Preempted), "nodeLost"));
    let message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container pytorch was using 9Gi, request is 4Gi, has larger consumption of memory. ";
    let evicted =
        reasoned(disrupted(pod("worker", 0, ended(137, "Error")), "TerminationByKubelet"), "Evicted", message);
    let known = summed(&job(&[FAILED]), &[pod("master", 0, running()), evicted], &[]);
    assert_eq!((only(&known).0, only(&known).1), (State::Ended(Status::Failed), "evicted"));
    assert!(only(&known).2.contains("request is 4Gi"));
    // Before Kubernetes 1.26 the taint manager says it in an event alone.
    let mut worker = pod("worker", 0, running());
    worker["metadata"]["deletionTimestamp"] = json!(at(60));
    let marked = event(
        "Pod",
        "mnist-1a2b3c4d-worker-0",
        "uid-worker-0",
        "TaintManagerEviction",
        "Marking for deletion Pod bench/x",
    );
    let known = summed(&job(&[RUNNING]), &[pod("master", 0, running()), worker], &[marked]);
    assert_eq!(only(&known).1, "nodeLost");
}

#[test]
fn a_pod_that_somebody_deleted_is_distinguished_from_one_that_failed() {
    // Asked for at 80 s, which is after the end of those that end at 70 s.
    let deleted = |mut pod: Json| {
        pod["metadata"]["deletionTimestamp"] = json!(at(110));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        pod
    };
    for worker in [deleted(pod("worker", 0, running())), deleted(pod("worker", 0, ended(143, "Error")))] {
        assert_eq!(
            (only(&with(worker.clone())).0, only(&with(worker)).1),
            (State::Ended(Status::Interrupted), "deleted")
        );
    }
    let pods = [pod("master", 0, running()), deleted(pod("worker", 0, ended(143, "Error")))];
    assert_eq!(summed(&job(&[FAILED]), &pods, &[]).state, State::Ended(Status::Interrupted));
    // A controller deletes what is left of a job that failed.
    let pods = [pod("master", 0, ended(3, "Error")), deleted(pod("worker", 0, ended(137, "Error")))];
    let known = summed(&job(&[FAILED]), &pods, &[]);
    assert_eq!((only(&known).0, only(&known).2), (State::Ended(Status::Failed), "master-0: exited with 3"));
    let pods = [pod("master", 0, running()), pod("worker", 0, ended(1, "Error"))];
    assert_eq!(codes(&summed_without(&job(&[FAILED]), &pods, &[], &["uid-worker-0"])), ["exitCode"]);
    // The operator deletes before it says that the job failed.
    let pods = [pod("master", 0, ended(3, "Error")), deleted(pod("worker", 0, running()))];
    let known = summed(&job(&[RUNNING]), &pods, &[]);
    assert_eq!((only(&known).0, only(&known).2), (State::Ended(Status::Failed), "master-0: exited with 3"));
    // Those that need a deleted pod fail without it.
    let mut early = deleted(pod("worker", 0, ended(143, "Error")));
    early["metadata"]["deletionTimestamp"] = json!(at(98));
    for conditions in [RUNNING, FAILED] {
        let known = summed(&job(&[conditions]), &[pod("master", 0, ended(1, "Error")), early.clone()], &[]);
        assert_eq!((known.state, codes(&known)), (State::Ended(Status::Interrupted), vec!["deleted", "exitCode"]));
    }
}

#[test]
fn a_pod_that_obeys_ends_for_the_reason_of_the_request() {
    let failed = job(&[("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")]);
    let reported = |seconds: u32, code: i32| {
        let mut pod = pod("worker", 0, ended(code, "Error"));
        pod["metadata"]["deletionTimestamp"] = json!(at(seconds));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        pod
    };
    let mut evicted = reported(70, 0);
    let disrupted =
        json!({"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "drained"});
    evicted["status"]["conditions"].as_array_mut().unwrap().push(disrupted);
    let of = |job: &Json, worker: Json| {
        let known = summed(job, &[pod("master", 0, running()), worker], &[]);
        (known.state, codes(&known).join(" "))
    };
    assert_eq!(of(&failed, evicted.clone()), (State::Ended(Status::Preempted), "preempted".to_owned()));
    assert_eq!(of(&failed, reported(70, 0)), (State::Ended(Status::Interrupted), "deleted".to_owned()));
    assert_eq!(of(&failed, reported(69, 1)), (State::Ended(Status::Interrupted), "deleted".to_owned()));
    assert_eq!(of(&failed, reported(70, 1)), (State::Ended(Status::Failed), "exitCode".to_owned()));
    // A replica that has done its work may go.
    for worker in [evicted, reported(70, 0), reported(75, 0)] {
        assert_eq!(of(&job(&[RUNNING]), worker), (State::Running, String::new()));
    }
}

#[test]
fn no_message_looks_like_a_secret() {
    let pull = pod("worker", 0, waiting("ErrImagePull", "failed to pull and unpack image"));
    let known = with(pull);
    let message = only(&known).2;
    assert_eq!(kubebench_syntax::redact::Redactor::new([]).text(message), message);
}

#[test]
fn a_pod_that_fails_without_its_main_container_says_why() {
    let mut init = pod("worker", 0, json!({"waiting": {"reason": "PodInitializing"}}));
    init["status"]["phase"] = json!("Failed");
    init["status"]["initContainerStatuses"] = json!([{"name": "init-pytorch", "image": "busybox", "imageID": "",
        "ready": false, "restartCount": 0, "state": ended(1, "Error")}]);
    let known = summed(&job(&[FAILED]), &[pod("master", 0, running()), init], &[]);
    assert_text(only(&known).2, str! {"worker-0: its init container `init-pytorch` exited with 1"});
    let mut refused = pod("worker", 0, json!({}));
    refused["status"] = json!({"phase": "Failed", "reason": "UnexpectedAdmissionError",
        "message": "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu"});
    let known = summed(&job(&[FAILED]), &[pod("master", 0, running()), refused], &[]);
    assert_eq!(only(&known).1, "cannotStart");
    assert!(only(&known).2.contains("no healthy devices"));
    let mut lost = pod("worker", 0, ended(137, "ContainerStatusUnknown"));
    lost["status"]["containerStatuses"][1]["state"]["terminated"]["startedAt"] = json!(null);
    let known = summed(&job(&[FAILED]), &[pod("master", 0, running()), lost], &[]);
    assert_eq!(only(&known).1, "lost");
}

#[test]
fn what_happened_to_many_is_said_once() {
    let whys: Vec<Why> = (0..12)
        .rev()
        .map(|index| Why::holds(ReasonCode::ExitCode, &format!("worker-{index}"), "exited with 1".to_owned()))
        .collect();
    let reported: Vec<String> = reasons(&whys).into_iter().map(|reason| reason.message).collect();
    assert_eq!(reported, ["worker-0, worker-1, worker-2 and 9 more: exited with 1"]);
    let mut whys =
        vec![whys[3].clone(), Why { at: Some(ServerTime(5)), what: "exited with 3".to_owned(), ..whys[0].clone() }];
    sort(&mut whys);
    assert_text(&whys[0].what, str! {"exited with 3"});
}

#[test]
fn messages_of_the_cluster_become_parts_of_sentences() {
    assert_eq!(sentence("two\n lines. "), "two lines");
    assert_text(sentence(" \n"), str! {"no reason is given"});
    assert_eq!(sentence(&"é".repeat(9000)).chars().count(), 500);
}
