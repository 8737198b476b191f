//! A Workflow that is deleted half-way: what its runs left is recorded by the next one, which did not make it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::{Loop, Settings, round};

/// Its first run ends at once, its second not before it is deleted.
const SPEC: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: half-way}
spec:
  timeout: 10m
  matrix: {axes: {seconds: [0, 600]}}
  workload:
    job:
      image: busybox:1
      command: [sh, -c, 'echo rate 1 x/s; sleep "$SECONDS_TO_SLEEP"']
      env: {SECONDS_TO_SLEEP: "${{ matrix.seconds }}"}
      resources: {cpu: 10m, memory: 16Mi}
      pod: {terminationGracePeriodSeconds: 1}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s'}}}
"#;

/// How long the first run may take to its end, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

#[test]
fn results_of_a_workflow_that_was_deleted_are_recorded_by_the_next() {
    let project = Settings::of("deleted").text();
    let files = [("kubebench.yaml", project.as_str()), ("specs/half-way.yaml", SPEC)];
    let Some(cycle) = Loop::new("results_of_a_workflow_that_was_deleted_are_recorded_by_the_next", &files) else {
        return;
    };
    cycle.apply();
    let namespace = cycle.namespace("test");
    let workflow = cycle.workflows("test")["half-way"].clone();
    let since = Instant::now();
    // The second run's job is there once the first has its result.
    let running = || {
        let pods = cycle.cluster().json(["-n", namespace, "get", "pods", "-l", "kubebench.dev/role=job", "-o", "json"]);
        let pods = pods["items"].as_array().unwrap().clone();
        pods.iter().any(|pod| pod["status"]["phase"] == "Running" && pod["spec"].to_string().contains("\"600\""))
    };
    while !running() {
        assert!(since.elapsed() < PATIENCE, "the second run never began");
        std::thread::sleep(Duration::from_secs(1));
    }
    let first = cycle.cluster().json(["-n", namespace, "get", "workflow", &workflow, "-o", "json"]);
    cycle.cluster().say(["-n", namespace, "delete", "workflow", &workflow, "--cascade=foreground", "--timeout=120s"]);

    // Git has another version by then, as after a merge that superseded it.
    cycle.change("specs/half-way.yaml", &SPEC.replace("[0, 600]", "[0, 1]"));
    cycle.apply();
    let second = cycle.ends("test", "half-way", "Succeeded");
    let results = cycle.results();
    let of = results.of("half-way");
    let sessions: BTreeSet<&str> = of.iter().map(|result| result["run"]["session"].as_str().unwrap()).collect();
    let uid = |workflow: &serde_json::Value| workflow["metadata"]["uid"].as_str().unwrap().to_owned();
    let (first, second) = (uid(&first), uid(&second));
    assert_eq!(sessions, BTreeSet::from([first.as_str(), second.as_str()]));
    let outcomes = |uid: &str| -> Vec<_> {
        let own = of.iter().filter(|result| result["run"]["session"] == uid);
        own.map(|result| (round(result).0, result["run"]["status"].as_str().unwrap().to_owned())).collect()
    };
    let statuses = |uid: &str| outcomes(uid).into_iter().map(|(_, status)| status).collect::<BTreeSet<_>>();
    assert_eq!(outcomes(&first).len(), 2, "the run that ended, and the one that was interrupted: {of:#?}");
    assert_eq!(statuses(&first), BTreeSet::from(["interrupted".to_owned(), "succeeded".to_owned()]));
    assert_eq!(statuses(&second), BTreeSet::from(["succeeded".to_owned()]));
}
