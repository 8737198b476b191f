#![expect(clippy::needless_pass_by_value, reason = "`json!` values are made where they are passed")]

mod suites;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Namespace, RunState, WorkflowStatus, sessions, show};
use kubebench_contract::Config;
use kubebench_contract::instance;
use kubebench_testing::snapshot::{assert_text, str};

const UID: &str = "7f0c5a0e-0000-4000-8000-000000000001";

/// A Workflow of four runs as Argo 3.7 writes it.
fn workflow(phase: &str, nodes: Json) -> Json {
    let parameters = json!([
        {"name": "benchmark", "value": "sleepy"},
        {"name": "config", "value": "sleepy-8c3cf174"},
        {"name": "runs", "value": r#"["a-1-r1","b-2-r1","a-1-r2","b-2-r2"]"#},
    ]);
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "name": "sleepy-8c3cf174-r1", "uid": UID, "creationTimestamp": "2026-11-21T22:00:00Z",
            "labels": {"kubebench.dev/benchmark": "sleepy"},
        },
        "spec": {"arguments": {"parameters": parameters}},
        "status": {"phase": phase, "startedAt": "2026-11-21T22:00:01Z", "nodes": nodes},
    })
}

#[test]
fn a_workflow_that_waits_for_others_names_them() {
    let mut waiting = workflow("Pending", json!({}));
    waiting["status"].as_object_mut().unwrap().remove("startedAt");
    waiting["status"]["message"] = "Waiting for bench/Mutex/kubebench lock. Lock status: 0/1".into();
    waiting["status"]["synchronization"] =
        json!({"mutex": {"waiting": [{"holder": "bench/resnet-1a2b3c4d-r1", "mutex": "bench/Mutex/kubebench"}]}});
    let seen = Namespace {
        workflows: vec![waiting],
        lists: BTreeMap::from([("sleepy-8c3cf174".to_owned(), run_list().list)]),
        ..Namespace::default()
    };
    let found = sessions(&seen, 1);
    assert_eq!(found[0].waits_for, ["bench/resnet-1a2b3c4d-r1"]);
    let elapsed = |time: &str| (time == "2026-11-21T22:00:00Z").then_some(300);
    assert_text(
        show(&found, &elapsed),
        str! {[r#"
sleepy  pending for 5 min  (Workflow sleepy-8c3cf174-r1)
  0 of 4 runs done, 4 not started
  waits for bench/resnet-1a2b3c4d-r1: `concurrency` of the target
  next: size=1 r1, and 3 more after it

"#]},
    );
}

fn node(kind: &str, template: &str, phase: &str, run: Option<&str>, message: &str) -> Json {
    let inputs = run.map_or(json!({}), |run| json!({"parameters": [{"name": "run", "value": run}]}));
    json!({
        "type": kind, "templateName": template, "phase": phase, "inputs": inputs, "message": message,
        "startedAt": "2026-11-21T22:00:10Z", "finishedAt": if phase == "Running" { Json::Null } else { "2026-11-21T22:05:00Z".into() },
    })
}

fn run_list() -> Config {
    let case = |name: &str| json!({"name": name, "values": {}, "inputs": null, "timeoutSeconds": 60, "manifest": "x", "objects": []});
    let run = |case: &str, repeat: u32| json!({"id": format!("{case}-r{repeat}"), "case": case, "repeat": repeat, "warmup": false, "job": "x"});
    let list = json!({
        "schemaVersion": 1, "benchmark": "sleepy", "run": 1, "runDigest": "sha256:00", "order": "interleaved", "parallelism": 1,
        "queueTimeoutSeconds": 60, "cases": {"a-1": case("size=1"), "b-2": case("size=2")},
        "runs": [run("a-1", 1), run("b-2", 1), run("a-1", 2), run("b-2", 2)],
    });
    Config::read(BTreeMap::from([("runs.json".to_owned(), list.to_string())])).unwrap()
}

fn job(case: &str, repeat: u32, attempt: u32, status: Json) -> Json {
    let name = format!("sleepy-{case}-{repeat}-{attempt}");
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name, "uid": name, "creationTimestamp": "2026-11-21T22:05:10Z",
            "labels": {
                "kubebench.dev/benchmark": "sleepy", "kubebench.dev/case": case, "kubebench.dev/run": name,
                "kubebench.dev/repeat": repeat.to_string(), "kubebench.dev/attempt": attempt.to_string(), "kubebench.dev/warmup": "false",
            },
            "ownerReferences": [{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": "w", "uid": UID}],
        },
        "spec": {"parallelism": 1, "completions": 1},
        "status": status,
    })
}

fn pod(job: &Json, status: Json) -> crate::observe::Pod {
    let name = job.pointer("/metadata/name").unwrap().as_str().unwrap();
    let pod = json!({
        "metadata": {
            "name": format!("{name}-x"), "uid": format!("{name}-x"), "labels": {"kubebench.dev/role": "job", "kubebench.dev/run": name},
            "creationTimestamp": "2026-11-21T22:05:11Z", "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": name}],
        },
        "spec": {"nodeName": "node-7", "containers": [{"name": "main", "image": "busybox:1"}]},
        "status": status,
    });
    serde_json::from_value(pod).unwrap()
}

fn running() -> Json {
    let state = json!({"running": {"startedAt": "2026-11-21T22:05:20Z"}});
    json!({"phase": "Running", "containerStatuses": [{"name": "main", "image": "busybox:1", "imageID": "", "ready": true, "restartCount": 0, "state": state}]})
}

fn namespace(workflow: Json) -> Namespace {
    let lists = BTreeMap::from([("sleepy-8c3cf174".to_owned(), run_list().list)]);
    Namespace { workflows: vec![workflow], lists, ..Namespace::default() }
}

fn only(seen: &Namespace) -> WorkflowStatus {
    let mut found = sessions(seen, 1);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn states(session: &WorkflowStatus) -> Vec<RunState> {
    session.runs.iter().map(|run| run.state).collect()
}

/// Two minutes after the last thing that happens above.
fn elapsed(time: &str) -> Option<u64> {
    let minute: u64 = time.get(14..16)?.parse().ok()?;
    Some((7_u64.saturating_sub(minute)) * 60)
}

/// Before it is loaded a server may take long to come up, and people want to know what holds it up.
#[test]
fn a_run_that_awaits_its_server_says_what_that_waits_for() {
    let nodes = json!({"1": node("Retry", "run", "Running", Some("a-1-r1"), "")});
    let mut seen = namespace(workflow("Running", nodes));
    for case in seen.lists.get_mut("sleepy-8c3cf174").unwrap().cases.values_mut() {
        case.server = Some("5e7ef00d".to_owned());
    }
    let digest = seen.lists["sleepy-8c3cf174"].run_digest.clone();
    let name = instance::server_name("sleepy", &digest, "5e7ef00d", instance::Session::Once);
    let mut server = job("", 1, 1, json!({}));
    for field in ["name", "uid"] {
        server["metadata"][field] = json!(name);
    }
    server["metadata"]["labels"]["kubebench.dev/run"] = json!(name);
    server["apiVersion"] = json!("apps/v1");
    server["kind"] = json!("Deployment");
    server["metadata"]["labels"].as_object_mut().unwrap().remove("kubebench.dev/case");
    server["spec"] = json!({"replicas": 1});
    let state = json!({"waiting": {"reason": "ErrImagePull", "message": "no such image"}});
    let status = json!({"phase": "Pending", "containerStatuses": [{"name": "server", "image": "vllm:1", "imageID": "", "ready": false, "restartCount": 0, "state": state}]});
    seen.jobs = vec![server];
    seen.pods = vec![pod(&seen.jobs[0], status)];
    let session = only(&seen);
    assert_eq!(session.runs[0].state, RunState::Waiting);
    assert!(session.runs[0].reasons[0].message.contains("`vllm:1` cannot be pulled"), "{:?}", session.runs[0].reasons);
    seen.jobs[0]["status"] =
        json!({"updatedReplicas": 1, "availableReplicas": 1, "conditions": [{"type": "Available", "status": "True"}]});
    seen.pods.clear();
    assert_eq!(only(&seen).runs[0].state, RunState::Waiting, "its pods are not there");
    seen.jobs.clear();
    assert_eq!(only(&seen).runs[0].state, RunState::Step);
}

#[test]
fn a_workflow_at_work_says_what_runs_and_what_comes_next() {
    let nodes = json!({
        "1": node("Retry", "run", "Succeeded", Some("a-1-r1"), ""),
        "2": node("Retry", "run", "Running", Some("b-2-r1"), ""),
        "3": node("Retry", "prepare", "Succeeded", None, ""),
    });
    let mut seen = namespace(workflow("Running", nodes));
    seen.jobs = vec![job("b-2", 1, 1, json!({"active": 1, "ready": 1}))];
    seen.pods = vec![pod(&seen.jobs[0], running())];
    let mut session = only(&seen);
    assert_eq!(states(&session), [RunState::Done, RunState::Running, RunState::Left, RunState::Left]);
    let speaker = session.runs[1].job.as_ref().unwrap().speaker().unwrap();
    assert_eq!(speaker.pod.name, "sleepy-b-2-1-1-x");
    session.runs[1].job.as_mut().unwrap().last_line = Some("step 4".to_owned());
    assert_eq!(
        show(&[session], &elapsed),
        "\
sleepy  running for 7 min  (Workflow sleepy-8c3cf174-r1)
  1 of 4 runs done, 1 active, 2 not started
  size=2 r1  running  120 s  1 of 1 pods  on node-7
    > step 4
  next: size=1 r2, and 1 more after it
"
        .replace("120 s", "2 min")
    );
}

#[test]
fn what_holds_a_run_up_is_said() {
    let nodes = json!({"2": node("Retry", "run", "Running", Some("a-1-r1"), "")});
    let mut seen = namespace(workflow("Running", nodes));
    seen.jobs = vec![job("a-1", 1, 1, json!({"active": 1}))];
    let unscheduled = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}]);
    let mut waiting = pod(&seen.jobs[0], json!({"phase": "Pending", "conditions": unscheduled}));
    waiting.spec.as_mut().unwrap().node_name = None;
    seen.pods = vec![waiting];
    let session = only(&seen);
    assert_eq!(states(&session)[0], RunState::Waiting);
    let shown = show(&[session], &elapsed);
    assert!(shown.contains("  held up: job-0: cannot be scheduled: 0/1 nodes are available\n"), "{shown}");
    assert!(shown.contains("size=1 r1  waiting  2 min  0 of 1 pods\n"), "{shown}");
}

#[test]
fn the_last_attempt_counts_and_a_foreign_job_does_not() {
    let nodes = json!({"2": node("Retry", "run", "Running", Some("a-1-r1"), "")});
    let mut seen = namespace(workflow("Running", nodes));
    let mut foreign = job("a-1", 1, 9, json!({"active": 1}));
    foreign["metadata"]["ownerReferences"][0]["uid"] = "another".into();
    let mut post = job("a-1", 1, 8, json!({"active": 1}));
    post["metadata"]["name"] = "sleepy-post".into();
    seen.jobs = vec![job("a-1", 1, 2, json!({"active": 1})), post, foreign, job("a-1", 1, 1, json!({}))];
    assert_eq!(only(&seen).runs[0].job.as_ref().unwrap().name, "sleepy-a-1-1-2");
}

#[test]
fn a_failed_workflow_says_why_by_the_last_try() {
    let refused = r#"pods "x" is forbidden: violates PodSecurity "restricted:latest""#;
    let nodes = json!({
        "1": node("Pod", "prepare", "Error", None, refused),
        "2": node("Retry", "prepare", "Error", None, "No more retries left"),
        "3": node("Pod", "run", "Failed", Some("a-1-r1"), "Error (exit code 1)"),
        "4": node("Retry", "run", "Failed", Some("a-1-r1"), "No more retries left"),
    });
    let mut over = workflow("Failed", nodes);
    over["status"]["finishedAt"] = "2026-11-21T22:06:00Z".into();
    let session = only(&namespace(over));
    assert_eq!(states(&session), [RunState::Failed, RunState::Left, RunState::Left, RunState::Left]);
    assert_text(
        show(&[session], &elapsed),
        str! {[r#"
sleepy  failed 60 s ago  (Workflow sleepy-8c3cf174-r1)
  0 of 4 runs done, 1 failed, 3 not started
  note: step prepare failed: pods "x" is forbidden: violates PodSecurity "restricted:latest"
  failed: size=1 r1: its step says: Error (exit code 1)
  next: nothing; raise `run:` in the spec to run it again

"#]},
    );
}

/// As Argo 3.7 says it of a step that has answered, whose message is the pod's.
#[test]
fn a_step_that_is_not_tried_again_says_the_reason_of_its_pod() {
    let nodes = json!({
        "1": node("Pod", "run", "Failed", Some("a-1-r1"), "Error (exit code 1)"),
        "2": node("Retry", "run", "Failed", Some("a-1-r1"), "retryStrategy.expression evaluated to false"),
        "3": node("Retry", "record", "Failed", None, "retryStrategy.expression evaluated to false"),
        "4": node("Pod", "record", "Failed", None, "Pod was active on the node longer than the specified deadline"),
    });
    let shown = show(&[only(&namespace(workflow("Failed", nodes)))], &elapsed);
    assert!(shown.contains("size=1 r1: its step says: Error (exit code 1)\n"), "{shown}");
    assert!(shown.contains("step record failed: Pod was active on the node longer"), "{shown}");
    assert!(shown.contains("its results are still on the volume: fix the cause"), "{shown}");
}

#[test]
fn the_reason_of_the_last_try_counts() {
    let mut nodes = json!({
        "1": node("Pod", "run", "Failed", Some("a-1-r1"), "pod deleted"),
        "2": node("Pod", "run", "Failed", Some("a-1-r1"), "Error (exit code 1)"),
        "3": node("Retry", "run", "Failed", Some("a-1-r1"), "retryStrategy.expression evaluated to false"),
    });
    nodes["1"]["startedAt"] = "2026-11-21T22:00:30Z".into();
    let shown = show(&[only(&namespace(workflow("Failed", nodes)))], &elapsed);
    assert!(shown.contains("its step says: pod deleted\n"), "{shown}");
}

#[test]
fn runs_of_which_nothing_is_known_are_not_what_comes_next() {
    let mut large = workflow("Running", Json::Null);
    large["status"]["compressedNodes"] = "H4sIAAAA".into();
    assert_eq!(only(&namespace(large)).next, "unknown");
}

#[test]
fn a_workflow_without_its_template_says_how_it_gets_one() {
    let mut over = workflow("Error", Json::Null);
    over["metadata"]["namespace"] = "bench".into();
    over["status"]["message"] = r#"workflowtemplates.argoproj.io "kubebench" not found"#.into();
    over["status"]["finishedAt"] = "2026-11-21T22:06:00Z".into();
    assert_text(
        show(&[only(&namespace(over))], &elapsed),
        str! {[r#"
sleepy  error 60 s ago  (Workflow sleepy-8c3cf174-r1)
  0 of 4 runs done, 4 not started
  Argo says: workflowtemplates.argoproj.io "kubebench" not found
  note: Argo did not find its WorkflowTemplate, and does not look again: apply the folder `pipeline` of the target first, then run `kubectl -n bench delete workflow sleepy-8c3cf174-r1`; GitOps creates it again
  next: the same runs, once the Workflow is deleted and created again

"#]},
    );
}

#[test]
fn what_is_unknown_is_said() {
    let mut large = workflow("Running", Json::Null);
    large["status"]["compressedNodes"] = "H4sIAAAA".into();
    let mut seen = namespace(large);
    seen.lists.clear();
    let session = only(&seen);
    assert_eq!(session.runs.len(), 4, "the Workflow itself names its runs");
    assert!(session.notes.iter().any(|note| note.contains("compressed")), "{:?}", session.notes);
    assert!(session.notes.iter().any(|note| note.contains("sleepy-8c3cf174")), "{:?}", session.notes);

    let mut fresh = workflow("", Json::Null);
    fresh["status"] = Json::Null;
    let session = only(&namespace(fresh));
    assert_eq!(session.phase, "Pending");
    assert!(session.notes.iter().any(|note| note.contains("Argo has not processed the Workflow yet")));
}

#[test]
fn steps_next_to_the_runs_and_schedules_say_what_comes_next() {
    let done = |id: &str| node("Retry", "run", "Succeeded", Some(id), "");
    let runs = json!({"1": done("a-1-r1"), "2": done("b-2-r1"), "3": done("a-1-r2"), "4": done("b-2-r2")});
    let mut nodes = runs.clone();
    nodes["5"] = node("Retry", "record", "Running", None, "");
    let session = only(&namespace(workflow("Running", nodes)));
    assert_eq!((session.step.as_deref(), session.next.as_str()), (Some("record"), "nothing, this is the last step"));
    let session = only(&namespace(workflow("Running", runs.clone())));
    assert_text(&session.next, str! {"the summary; then its results are recorded"});

    let mut seen = namespace(workflow("Succeeded", runs));
    seen.schedules = vec![json!({
        "metadata": {"labels": {"kubebench.dev/benchmark": "sleepy"}},
        "spec": {"schedules": ["0 3 * * *"], "timezone": "Europe/Berlin"},
    })];
    assert_text(only(&seen).next, str! {"the next session, `0 3 * * *` (Europe/Berlin)"});
}

#[test]
fn all_that_runs_is_shown_and_the_last_of_what_ended() {
    let named = |name: &str, phase: &str, created: &str| {
        let mut workflow = workflow(phase, json!({}));
        workflow["metadata"]["name"] = name.into();
        workflow["metadata"]["creationTimestamp"] = created.into();
        workflow
    };
    let mut seen = namespace(named("old", "Failed", "2026-11-20T00:00:00Z"));
    seen.workflows.push(named("new", "Succeeded", "2026-11-21T00:00:00Z"));
    let names = |seen: &Namespace| sessions(seen, 1).into_iter().map(|session| session.workflow).collect::<Vec<_>>();
    assert_eq!(names(&seen), ["new"]);
    seen.workflows.push(named("going", "Running", "2026-11-19T00:00:00Z"));
    seen.workflows.push(named("also", "Running", "2026-11-18T00:00:00Z"));
    assert_eq!(names(&seen), ["going", "also"]);
}
