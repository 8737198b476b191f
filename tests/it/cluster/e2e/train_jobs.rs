//! TrainJobs by Kubeflow Trainer and JobSet: with the runtime that Kubebench carries, and with one that the cluster has.

use serde_json::{Value, json};

use super::super::cluster_with;
use super::super::failures::Failure;
use super::{Loop, Settings, outcome};

/// Each node says what it gets from Trainer; the first one waits for the others at the address that all of them get.
const CARRIED: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: carried}
spec:
  timeout: 4m
  workload:
    trainJob:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      runtime: {torch: {}}
      trainer:
        numNodes: 2
        numProcPerNode: 1
        command: [sh, -ec, 'if [ "$PET_NODE_RANK" = 0 ]; then said=$(echo "node 0 of $PET_NNODES" | busybox nc -l -p "$PET_MASTER_PORT"); test "$said" = "node 1"; echo "rate $PET_NNODES x/s"; else until said=$(echo "node $PET_NODE_RANK" | busybox nc "$PET_MASTER_ADDR" "$PET_MASTER_PORT"); do sleep 0.2; done; test "$said" = "node 0 of 2"; echo "rank $PET_NODE_RANK"; fi']
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s', role: node, index: 0}}}
    - {name: rank, unit: "1", better: higher, required: true, from: {log: {pattern: 'rank (?P<value>\S+)', role: node, index: 1}}}
  checks: [{metric: rate, finite: true}, {restarts: 0}]
"#;

/// The same from the cluster's runtime, whose pods bear no label of the run.
const REFERRED: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: referred}
spec:
  timeout: 4m
  workload:
    trainJob:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      runtimeRef: {name: e2e, kind: TrainingRuntime}
      trainer:
        numNodes: 2
        command: [sh, -ec, 'test "$RUNTIME" = cluster; echo "rank $JOB_COMPLETION_INDEX"; echo "rate 2 x/s"']
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s', role: node, index: 0}}}
    - {name: rank, unit: "1", better: higher, required: true, from: {log: {pattern: 'rank (?P<value>\S+)', role: node, index: 1}}}
  checks: [{metric: rate, finite: true}, {restarts: 0}]
"#;

/// One of two fails when the other is sure to have said that it waits.
const BREAKS: Failure = Failure {
    benchmark: "breaks",
    limits: "timeout: 4m",
    workload: "{trainJob: {image: 'busybox:1', resources: {cpu: 10m, memory: 32Mi}, pod: {terminationGracePeriodSeconds: 2}, runtime: {torch: {}}, trainer: {numNodes: 2, command: [sh, -c, 'if [ \"$PET_NODE_RANK\" = 1 ]; then until busybox nc \"$PET_MASTER_ADDR\" \"$PET_MASTER_PORT\" </dev/null; do sleep 0.2; done; sleep 1; echo NCCL error; exit 7; fi; echo waits; busybox nc -l -p \"$PET_MASTER_PORT\" </dev/null; sleep 300']}}}",
    status: "failed",
    code: "exitCode",
    words: &["node-1: exited with 7"],
    last: &["waits", "NCCL error"],
};

#[test]
fn a_train_job_runs_by_either_runtime() {
    const NAME: &str = "a_train_job_runs_by_either_runtime";
    if cluster_with(NAME, ("trainer", "trainjobs.trainer.kubeflow.org")).is_none() {
        return;
    }
    let (project, (path, breaks)) = (Settings::of("trainjobs").text(), BREAKS.file());
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("specs/carried.yaml", CARRIED),
        ("specs/referred.yaml", REFERRED),
        (path.as_str(), breaks.as_str()),
    ];
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    cycle.project().folder.write("runtime.json", runtime(cycle.namespace("test")).to_string());
    cycle.cluster().say(["create", "-f", &cycle.project().place("runtime.json")]);
    cycle.apply();
    cycle.ends("test", "carried", "Succeeded");
    cycle.ends("test", "referred", "Succeeded");
    cycle.ends("test", "breaks", "Failed");
    let results = cycle.results();
    BREAKS.judge(&results);
    for benchmark in ["carried", "referred"] {
        let of = results.of(benchmark);
        assert_eq!(of.len(), 1, "{benchmark}");
        assert_eq!(outcome(of[0]), ("succeeded", vec![Some(2.0), Some(1.0)]), "{:#}", of[0]);
        assert_eq!(
            of[0]["run"]["exits"],
            json!([{"code": 0, "index": 0, "role": "node"}, {"code": 0, "index": 1, "role": "node"}])
        );
    }
    let kinds = "trainjobs,jobsets,jobs,pods";
    let left =
        cycle.cluster().json(["-n", cycle.namespace("test"), "get", kinds, "-l", "kubebench.dev/run", "-o", "json"]);
    // What is deleted goes when the garbage collector has seen all that hung on it; it was seen to take minutes where definitions of
    // other kinds came meanwhile.
    let is_left = |item: &&Value| item["metadata"].get("deletionTimestamp").is_none();
    let left: Vec<&Value> = left["items"].as_array().unwrap().iter().filter(is_left).collect();
    assert_eq!(left, Vec::<&Value>::new());
    // That of the cluster stays.
    let left = cycle.cluster().say(["-n", cycle.namespace("test"), "get", "trainingruntimes", "-o", "name"]);
    assert_eq!(left.trim_end(), "trainingruntime.trainer.kubeflow.org/e2e");
}

/// What an administrator might have made.
fn runtime(namespace: &str) -> Value {
    let container = json!({
        "name": "node",
        "image": "busybox:1",
        "env": [{"name": "RUNTIME", "value": "cluster"}],
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
    });
    let pod = json!({
        "restartPolicy": "Never",
        "securityContext": {"runAsUser": 65532, "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    });
    let job = json!({
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"backoffLimit": 0, "template": {"spec": pod}},
        },
    });
    json!({
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {"name": "e2e", "namespace": namespace},
        "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [job]}}},
    })
}
