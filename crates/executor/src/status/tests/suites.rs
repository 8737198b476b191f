//! The Workflow of a suite: runs of several benchmarks, whose cases may have one id.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::super::configs_of;
use super::{RunState, UID, elapsed, job, namespace, only, pod, run_list, running, show};

fn step(template: &str, benchmark: &str, run: Option<&str>, phase: &str) -> Json {
    let inputs = [("benchmark", Some(benchmark)), ("run", run)];
    let inputs: Vec<Json> = inputs
        .into_iter()
        .filter_map(|(name, value)| Some(json!({"name": name, "value": value.filter(|value| !value.is_empty())?})))
        .collect();
    json!({
        "type": "Retry", "templateName": template, "phase": phase, "inputs": {"parameters": inputs},
        "startedAt": "2026-11-21T22:00:10Z", "finishedAt": "2026-11-21T22:05:00Z",
    })
}

fn workflow(nodes: Json) -> Json {
    let items = json!([{"benchmark": "other", "config": "other-00000000"}, {"benchmark": "sleepy", "config": "sleepy-8c3cf174"}]);
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "name": "nightly-11223344-r1", "uid": UID, "creationTimestamp": "2026-11-21T22:00:00Z",
            "labels": {"kubebench.dev/benchmark": "nightly", "kubebench.dev/suite": "nightly"},
        },
        "spec": {"arguments": {"parameters": [{"name": "benchmarks", "value": items.to_string()}]}},
        "status": {"phase": "Running", "startedAt": "2026-11-21T22:00:01Z", "nodes": nodes},
    })
}

#[test]
fn runs_of_one_id_are_distinguished_by_their_benchmark() {
    let mut prepared = step("prepare", "sleepy", None, "Succeeded");
    let to_make = json!(["a-1-r1", "b-2-r1", "b-2-r2"]).to_string();
    prepared["outputs"] = json!({"parameters": [{"name": "runs", "value": to_make}]});
    let nodes = json!({
        "1": step("run", "other", Some("a-1-r1"), "Failed"),
        "2": step("summary", "other", None, "Failed"),
        "3": step("run", "sleepy", Some("a-1-r1"), "Succeeded"),
        "4": step("run", "sleepy", Some("b-2-r1"), "Running"),
        "5": prepared,
    });
    let workflow = workflow(nodes);
    assert_eq!(configs_of(&workflow), ["other-00000000", "sleepy-8c3cf174"]);
    let mut seen = namespace(workflow);
    let mut other = run_list().list;
    other.benchmark = "other".to_owned();
    other.runs.truncate(1);
    seen.lists =
        BTreeMap::from([("other-00000000".to_owned(), other), ("sleepy-8c3cf174".to_owned(), run_list().list)]);
    seen.jobs = vec![job("b-2", 1, 1, json!({"active": 1, "ready": 1}))];
    seen.pods = vec![pod(&seen.jobs[0], running())];
    let session = only(&seen);
    let states: Vec<(String, RunState)> = session.runs.iter().map(|run| (run.name(), run.state)).collect();
    assert_eq!(
        states,
        [
            ("other: size=1 r1".to_owned(), RunState::Failed),
            ("sleepy: size=1 r1".to_owned(), RunState::Done),
            ("sleepy: size=2 r1".to_owned(), RunState::Running),
            ("sleepy: size=1 r2".to_owned(), RunState::Skipped),
            ("sleepy: size=2 r2".to_owned(), RunState::Left),
        ]
    );
    assert!(session.is_of("nightly") && session.is_of("other") && !session.is_of("third"));
    let shown = show(&[session], &elapsed);
    assert!(shown.starts_with("nightly  running for 7 min  (Workflow nightly-11223344-r1)\n"), "{shown}");
    assert!(shown.contains("note: step summary of other failed"), "{shown}");
    assert!(shown.contains(", 1 not started, 1 skipped"), "{shown}");
    assert!(shown.contains("next: sleepy: size=2 r2\n"), "{shown}");
}
