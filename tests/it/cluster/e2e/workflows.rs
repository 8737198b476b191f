//! Argo Workflows as what is measured, run by the same Argo that runs the benchmarks.

use serde_json::{Value, json};

use super::{Loop, Settings, outcome};

/// Two steps, the second in a loop with a turn that is tried again; its braces are Argo's.
const CHAIN: &str = r#"
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: chain-}
spec:
  entrypoint: all
  arguments:
    parameters: [{name: rate, value: "1"}, {name: words, value: "{{workflow.name}}"}]
  securityContext: {runAsUser: 65532, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  podSpecPatch: |
    containers: [{name: wait, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]
    initContainers: [{name: init, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]
  templates:
    - name: all
      dag:
        tasks:
          - {name: load, template: load-data}
          - name: train
            template: train
            dependencies: [load]
            arguments: {parameters: [{name: turn, value: "{{item}}"}]}
            withItems: [2, 4]
    - name: load-data
      container:
        image: busybox:1
        command: [sh, -c, 'echo "loads {{workflow.parameters.words}}"']
        resources: {limits: {cpu: 10m, memory: 32Mi}}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    - name: train
      inputs: {parameters: [{name: turn}]}
      retryStrategy: {limit: "1"}
      script:
        image: busybox:1
        command: [sh]
        env: [{name: RETRY, value: "{{retries}}"}]
        source: |
          set -eu
          if [ "{{inputs.parameters.turn}}" = 4 ] && [ "$RETRY" = 0 ]; then echo "tries once"; exit 3; fi
          sleep "{{inputs.parameters.turn}}"
          echo "rate $(({{inputs.parameters.turn}} * {{workflow.parameters.rate}})) x/s"
        resources: {limits: {cpu: 10m, memory: 32Mi}}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
"#;

const MEASURED: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: chain}
spec:
  timeout: 15m
  matrix: {axes: {rate: [3]}}
  workload:
    workflow: {file: pipelines/chain.yaml, arguments: {rate: '${{ matrix.rate }}'}}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\\S+) x/s', role: train}}}
    - {name: train, unit: s, better: lower, required: true, from: {node: {name: train}}, reduce: max}
    - {name: load, unit: s, better: lower, required: true, from: {node: {name: load}}}
    - {name: seconds, unit: s, better: lower, required: true, from: {duration: run}}
";

const BREAKS: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: breaks}
spec:
  timeout: 15m
  workload:
    workflow: {file: pipelines/breaks.yaml}
  metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]
";

#[test]
fn a_workflow_is_measured_by_its_nodes() {
    let breaks = CHAIN.replace("set -eu", "echo it breaks; exit 7");
    let project = Settings::of("workflows").text();
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("pipelines/chain.yaml", CHAIN),
        ("pipelines/breaks.yaml", breaks.as_str()),
        ("specs/chain.yaml", MEASURED),
        ("specs/breaks.yaml", BREAKS),
    ];
    let Some(cycle) = Loop::new("a_workflow_is_measured_by_its_nodes", &files) else { return };
    cycle.apply();
    cycle.ends("test", "chain", "Succeeded");
    cycle.ends("test", "breaks", "Failed");
    let results = cycle.results();
    let chain = results.of("chain");
    assert_eq!(chain.len(), 1);
    let (status, values) = outcome(chain[0]);
    assert_eq!(status, "succeeded", "{:#}", chain[0]);
    assert!(matches!(values[0], Some(6.0 | 12.0)), "the braces are expanded when it runs: {values:?}");
    // On a small machine a pod waits for the CPUs of other tests, and Argo counts that as time of its node.
    assert!(values[1].is_some_and(|seconds| (4.0..900.0).contains(&seconds)), "{values:?}");
    assert!(values[3].is_some_and(|seconds| (6.0..900.0).contains(&seconds)), "{values:?}");
    assert_eq!(chain[0]["metrics"][1]["n"], 3, "two turns, one of which was tried twice: {:#}", chain[0]["workflow"]);
    let nodes = chain[0]["workflow"]["nodes"].as_array().unwrap();
    let load = nodes.iter().find(|node| node["name"] == "load").unwrap();
    assert_eq!(
        (&load["template"], &load["type"], &load["phase"]),
        (&json!("load-data"), &json!("Pod"), &json!("Succeeded"))
    );
    let logs: Vec<&str> = chain[0]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| artifact["name"].as_str().unwrap())
        .filter(|name| !name.contains(".init.") && !name.contains(".wait."))
        .collect();
    assert_eq!(logs, ["logs/load-data-0.log", "logs/train-0.log", "logs/train-1.log", "logs/train-2.log"]);
    let broken = results.of("breaks")[0];
    assert_eq!(broken["run"]["status"], "failed", "{:#}", broken["run"]);
    assert!(broken["run"]["reasons"].to_string().contains("exited with 7"), "{:#}", broken["run"]["reasons"]);
    assert!(broken["run"]["exits"].to_string().contains("it breaks"), "{:#}", broken["run"]["exits"]);
    let namespace = cycle.namespace("test");
    let left = cycle.cluster().json([
        "-n",
        namespace,
        "get",
        "workflows,workflowtemplates,pods",
        "-l",
        "kubebench.dev/run",
        "-o",
        "json",
    ]);
    assert_eq!(left["items"], Value::Array(Vec::new()), "what was measured is deleted");
}
