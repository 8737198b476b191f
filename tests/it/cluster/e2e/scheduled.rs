//! A schedule: its sessions run by themselves, each with jobs and results of its own, here into an inbox.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};

use super::{Loop, Settings};
use crate::cluster::PATIENCE;
use crate::support::project::assert_yes;

const SPEC: &str = r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: minutely}
spec:
  schedule: {cron: '* * * * *'}
  timeout: 5m
  workload:
    job: {image: 'busybox:1', command: [echo, rate 1 x/s], resources: {cpu: 10m, memory: 16Mi}}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s'}}}
";

#[test]
fn a_schedule_fires_and_its_results_reach_the_inbox() {
    let project = Settings { results: "mode: inbox", ..Settings::of("scheduled") }.text();
    let files = [("kubebench.yaml", project.as_str()), ("specs/minutely.yaml", SPEC)];
    let Some(cycle) = Loop::new("a_schedule_fires_and_its_results_reach_the_inbox", &files) else { return };
    cycle.apply();
    let namespace = cycle.namespace("test");
    let fired = first_session(&cycle, namespace);
    // One is enough; the next would come within the minute.
    let rest = r#"{"spec":{"suspend":true}}"#;
    cycle.cluster().say(["-n", namespace, "patch", "cronworkflow", "minutely", "--type=merge", "-p", rest]);
    cycle.workflow_ends("test", &fired, "Succeeded");
    let by_hand = submit(&cycle, namespace);
    cycle.workflow_ends("test", &by_hand, "Succeeded");

    let folded = cycle.project.folder.run(&["fold", "--output-format", "json"]);
    assert_yes(&folded);
    let results = cycle.results();
    let of = results.of("minutely");
    assert_eq!(of.len(), 2, "a session each");
    let different = |at: &str| of.iter().map(|result| result.pointer(at).unwrap().to_string()).collect::<BTreeSet<_>>();
    assert_eq!(different("/run/id").len(), 2);
    assert_eq!(different("/run/session").len(), 2);
    assert_eq!(different("/source/runDigest").len(), 1);
    assert_eq!(different("/run/status"), BTreeSet::from(["\"succeeded\"".to_owned()]));
    assert_eq!(different("/run/attempt"), BTreeSet::from(["1".to_owned()]));
}

/// The name of the Workflow that the schedule makes.
fn first_session(cycle: &Loop, namespace: &str) -> String {
    let end = Instant::now() + PATIENCE;
    let wait =
        ["-n", namespace, "wait", "--for=create", "workflow", "-l", "workflows.argoproj.io/cron-workflow=minutely"];
    let list = ["-n", namespace, "get", "workflows", "-o", "jsonpath={.items[0].metadata.name}"];
    while Instant::now() < end {
        cycle.cluster().kubectl(wait.iter().chain(&["--timeout=10s"]));
        let found = cycle.cluster().kubectl(list);
        if found.status.success() && !found.stdout.is_empty() {
            return String::from_utf8(found.stdout).unwrap();
        }
    }
    panic!("the schedule has not fired");
}

/// What `argo submit --from cronwf/minutely` makes; returns its name.
fn submit(cycle: &Loop, namespace: &str) -> String {
    let schedule = cycle.cluster().json(["-n", namespace, "get", "cronworkflow", "minutely", "-o", "json"]);
    let workflow = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "generateName": "minutely-",
            "namespace": namespace,
            "labels": schedule["spec"].get("workflowMetadata").map_or(Value::Null, |metadata| metadata["labels"].clone()),
        },
        "spec": schedule["spec"]["workflowSpec"],
    });
    cycle.project.folder.write("submitted.json", workflow.to_string());
    let made = cycle.cluster().json(["create", "-o", "json", "-f", &cycle.project.place("submitted.json")]);
    made["metadata"]["name"].as_str().unwrap().to_owned()
}
