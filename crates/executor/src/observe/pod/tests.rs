use serde_json::{Value as Json, json};

use super::*;
use crate::observe::tests::{at, ended, pod, read, running};

fn facts(pod: &Json) -> PodFacts {
    PodFacts::read(&read::<Pod>(std::slice::from_ref(pod))[0], "mnist-1a2b3c4d", "pytorch", &[])
}

fn place(name: &str, labels: Json, annotations: Json) -> (String, Option<u32>) {
    let mut pod = pod("worker", 0, running());
    pod["metadata"]["name"] = json!(name);
    pod["metadata"]["labels"] = labels;
    pod["metadata"]["annotations"] = annotations;
    let facts = facts(&pod);
    (facts.role, facts.index)
}

#[test]
fn each_form_of_an_image_id_gives_its_digest() {
    let hex = "0123456789abcdef".repeat(4);
    for form in [
        format!("docker-pullable://registry.example:5000/a/b@sha256:{hex}"),
        format!("registry.example/a/b@sha256:{hex}"),
        format!("docker://sha256:{hex}"),
        format!("sha256:{hex}"),
    ] {
        assert_eq!(digest(&form), Some(format!("sha256:{hex}")), "{form}");
    }
    for form in [
        "",
        "registry.example/a:1",
        "sha256:",
        "sha256:0123",
        &format!("sha256:{}", hex.to_uppercase()),
        &format!("sha256:{hex}0"),
    ] {
        assert_eq!(digest(form), None, "{form}");
    }
}

#[test]
fn a_pod_has_its_place_from_labels_and_at_last_from_its_name() {
    let own = json!({"kubebench.dev/role": "ps", "training.kubeflow.org/replica-index": "3"});
    assert_eq!(place("mnist-1a2b3c4d-ps-3", own, json!({})), ("ps".to_owned(), Some(3)));
    let operator = json!({"training.kubeflow.org/replica-type": "Worker", "training.kubeflow.org/replica-index": "2"});
    assert_eq!(place("x", operator, json!({})), ("worker".to_owned(), Some(2)));
    let launcher = json!({"training.kubeflow.org/job-role": "launcher"});
    assert_eq!(place("mnist-1a2b3c4d-launcher-x7k2p", launcher, json!({})), ("launcher".to_owned(), Some(0)));
    let job = json!({"kubebench.dev/role": "job"});
    let index = json!({"batch.kubernetes.io/job-completion-index": "4"});
    assert_eq!(place("mnist-1a2b3c4d-4-x7k2p", job.clone(), index), ("job".to_owned(), Some(4)));
    assert_eq!(place("mnist-1a2b3c4d-24567", job, json!({})), ("job".to_owned(), None), "five random characters");
    assert_eq!(place("mnist-1a2b3c4d-worker-11", json!({}), json!({})), ("worker".to_owned(), Some(11)));
    let second = json!({"kubebench.dev/role": "executor", "spark-exec-id": "2"});
    let name = "mnist-1a2b3c4d-c2a814a2026b2d31-exec-2";
    assert_eq!(place(name, second, json!({})), ("executor".to_owned(), Some(1)), "Spark counts from 1");
}

/// Of a JobSet each Job counts its pods from 0.
#[test]
fn pods_of_several_jobs_are_numbered_through() {
    let sets = [PodSet::new("worker", 6, 3, "")];
    let mut pod = pod("worker", 0, running());
    pod["metadata"]["name"] = json!("mnist-1a2b3c4d-worker-1-2-x7k2p");
    pod["metadata"]["labels"] = json!({"jobset.sigs.k8s.io/replicatedjob-name": "worker",
        "jobset.sigs.k8s.io/job-index": "1", "batch.kubernetes.io/job-completion-index": "2"});
    let facts = PodFacts::read(&read::<Pod>(std::slice::from_ref(&pod))[0], "mnist-1a2b3c4d", "main", &sets);
    assert_eq!((facts.role.as_str(), facts.index), ("worker", Some(5)));
    pod["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"] = json!("launcher");
    assert_eq!(self::facts(&pod).index, Some(2), "a role of a JobSet may be called like that");
}

#[test]
fn how_a_container_ended_is_a_code_or_a_signal() {
    let end = |code: i32, reason: &str| facts(&pod("worker", 0, ended(code, reason))).end.unwrap();
    assert_eq!((end(0, "Completed").code, end(0, "Completed").signal), (0, None));
    assert_eq!(end(1, "Error").signal, None);
    assert_eq!(end(137, "OOMKilled").signal, Some("SIGKILL"));
    assert_eq!(end(139, "Error").signal, Some("SIGSEGV"));
    assert_eq!(end(143, "Error").signal, Some("SIGTERM"));
    assert_eq!(end(255, "Error").signal, None);
    assert_eq!(end(128, "Error").signal, None);
    assert_eq!(end(-1, "Error").signal, None);
    assert_eq!(end(i32::MIN, "Error").signal, None);
    assert_eq!(end(130, "StartError").signal, None, "the runtime's code, not a signal");
}

/// What a kubelet writes for a container that it does not find again (pkg/kubelet, `ContainerStatusUnknown`).
#[test]
fn an_end_that_nobody_saw_is_none() {
    let mut lost = pod("worker", 0, ended(137, "ContainerStatusUnknown"));
    let terminated = &mut lost["status"]["containerStatuses"][1]["state"]["terminated"];
    terminated["startedAt"] = json!("1970-01-01T00:00:00Z");
    terminated["finishedAt"] = json!("1970-01-01T00:00:00Z");
    let facts = facts(&lost);
    assert_eq!((facts.end, facts.started, facts.ended), (None, None, None));
}

#[test]
fn a_restarted_container_began_with_its_first_start() {
    let mut again = pod("worker", 0, json!({"running": {"startedAt": at(50)}}));
    let container = &mut again["status"]["containerStatuses"][1];
    container["restartCount"] = json!(2);
    container["lastState"] = ended(1, "Error");
    let facts = facts(&again);
    assert_eq!(facts.restarts, 2);
    assert_eq!(facts.started.unwrap().0 % 3_600_000, 10_000);
    assert_eq!((facts.end, facts.ended), (None, None));
}

#[test]
fn the_main_container_is_the_one_of_the_kind_or_the_first() {
    assert_eq!(facts(&pod("worker", 0, running())).image.unwrap(), "registry.example/mnist:1");
    let pods = read::<Pod>(&[pod("worker", 0, running())]);
    assert_eq!(PodFacts::read(&pods[0], "mnist-1a2b3c4d", "main", &[]).image.unwrap(), "istio/proxyv2:1.27");
}

/// KubeRay makes a new head where one was lost: that is the replica again, and no second one.
#[test]
fn the_only_pod_of_a_role_is_its_first_replica_whatever_its_name() {
    let set = |replicas: u32, completions: u32| PodSet::new("head", replicas, completions, "/spec/template");
    let index = |set: PodSet| {
        let mut pod = pod("head", 0, running());
        pod["metadata"]["name"] = json!("mnist-1a2b3c4d-x7k2p-head-q8r2w");
        pod["metadata"]["labels"] = json!({"kubebench.dev/role": "head"});
        PodFacts::read(&read::<Pod>(std::slice::from_ref(&pod))[0], "mnist-1a2b3c4d", "ray", &[set]).index
    };
    assert_eq!(index(set(1, 1)), Some(0));
    assert_eq!((index(set(2, 1)), index(set(2, 2)), index(set(1, 3))), (None, None, None));
}

/// Argo calls pods after the Workflow, the template, and a hash of the node.
#[test]
fn pods_of_a_workflow_have_the_role_of_their_template_and_no_number() {
    let set = |role: &str| PodSet::new(role, 0, 0, "/spec/templates/0");
    let sets = [set("start-up"), set("train"), set("train-more")];
    let place = |rest: &str, of: &str| {
        let mut pod = pod("worker", 0, running());
        pod["metadata"]["name"] = json!(format!("mnist-1a2b3c4d{rest}"));
        pod["metadata"]["labels"] = json!({"workflows.argoproj.io/workflow": of});
        pod["spec"]["containers"][0]["name"] = json!("wait");
        let facts = PodFacts::read(&read::<Pod>(std::slice::from_ref(&pod))[0], "mnist-1a2b3c4d", "main", &sets);
        assert_eq!(facts.image.as_deref(), Some("registry.example/mnist:1"), "not that of Argo's `wait`");
        (facts.role, facts.index)
    };
    for (rest, role) in [
        ("", "start-up"),
        ("-start-up-2893127423", "start-up"),
        ("-train-1", "train"),
        ("-train-more-3049586117", "train-more"),
        ("-other-3049586117", "other"),
        ("-3049586117", "inline"),
        ("-1340600742-agent", "agent"),
    ] {
        assert_eq!(place(rest, "mnist-1a2b3c4d"), (role.to_owned(), None), "{rest}");
    }
    assert_eq!(place("-worker-3", "another").1, Some(3), "a pod of the job of a Workflow is none of its own");
}
