//! Objects as they are: a Job with what is next to it, and a kind of which Kubebench knows nothing but what the spec says.

use super::{Loop, Settings};

/// Read as kubectl reads it: two documents, an octal mode, names that refer to one another, and a lookup.
const JOB: &str = r#"---
apiVersion: v1
kind: ConfigMap
metadata: {name: rates}
data:
  rate.sh: |
    #!/bin/sh
    echo "rate $1 x/s of $KUBEBENCH_EXP_ID"
---
apiVersion: batch/v1
kind: Job
metadata: {name: rates, labels: {team: storage}}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      securityContext: {runAsUser: 65532, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: rates
          image: busybox:1
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
          command: [/scripts/rate.sh, "${{ matrix.rate }}"]
          resources: {limits: {cpu: 10m, memory: 32Mi}}
          volumeMounts: [{name: scripts, mountPath: /scripts}]
      volumes:
        - {name: scripts, configMap: {name: rates, defaultMode: 0755}}
"#;

/// What a notebook needs of its image: it reads what papermill is given, and leaves a notebook where it should.
const PAPERMILL: &str = r#"#!/bin/sh
set -eu
while [ $# -gt 2 ]; do
  case $1 in --parameters_yaml) values=$2; shift ;; esac
  shift
done
cp "$1" "$2"
echo "rate $(echo "$values" | sed 's/[^0-9.]//g') x/s"
"#;
const NOTEBOOK: &str = r#"{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;
const CELLS: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: cells}
spec:
  timeout: 5m
  workload:
    notebook:
      image: busybox:1
      file: notebooks/x.ipynb
      files: {papermill: {path: scripts/papermill}}
      env: {PATH: '/kubebench/files:/bin'}
      parameters: {rate: 7.5}
      resources: {cpu: 10m, memory: 32Mi}
  metrics: [{name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\\S+) x/s'}}}]
";

fn benchmark(name: &str, more: &str, manifest: &str, metric: &str) -> String {
    format!(
        "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: {name}}}
spec:
  timeout: 5m
{more}
  workload:
    manifest:
{manifest}
  metrics: [{{name: rate, better: higher, primary: true, {metric}}}]
"
    )
}

/// A Deployment, which has no end of its own: it is done when it is available, and has failed when it is not `within` seconds.
fn deployment(name: &str, image: &str, within: u32) -> String {
    format!(
        "      main: Deployment/{name}
      success: condition=Available
      failure: condition=Progressing=False
      object:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {{name: {name}}}
        spec:
          progressDeadlineSeconds: {within}
          selector: {{matchLabels: {{app: {name}}}}}
          template:
            metadata: {{labels: {{app: {name}}}}}
            spec:
              terminationGracePeriodSeconds: 0
              securityContext: {{runAsUser: 65532, runAsNonRoot: true, seccompProfile: {{type: RuntimeDefault}}}}
              containers:
                - {{name: {name}, image: '{image}', imagePullPolicy: Never, securityContext: {{allowPrivilegeEscalation: false, capabilities: {{drop: [ALL]}}}}, command: [sleep, '1000'], resources: {{limits: {{cpu: 10m, memory: 32Mi}}}}}}"
    )
}

#[test]
fn objects_run_as_they_are() {
    let file = "      file: jobs/rates.yaml\n      name: keep";
    let log = "unit: x/s, from: {log: {pattern: 'rate (?P<value>\\S+) x/s'}}";
    let startup = "unit: s, from: {duration: startup}";
    let files = [
        ("jobs/rates.yaml", JOB.to_owned()),
        ("specs/kept.yaml", benchmark("kept", "  repeats: 2\n  matrix: {axes: {rate: [3, 4]}}", file, log)),
        ("notebooks/x.ipynb", NOTEBOOK.to_owned()),
        ("scripts/papermill", PAPERMILL.to_owned()),
        ("specs/cells.yaml", CELLS.to_owned()),
        ("specs/served.yaml", benchmark("served", "", &deployment("served", "busybox:1", 240), startup)),
        ("specs/stuck.yaml", benchmark("stuck", "", &deployment("stuck", "nowhere.example/no:1", 10), startup)),
    ];
    let project = Settings::of("manifests").text();
    let mut all = vec![("kubebench.yaml", project.as_str())];
    all.extend(files.iter().map(|(path, text)| (*path, text.as_str())));
    let Some(cycle) = Loop::new("objects_run_as_they_are", &all) else { return };
    cycle.apply();
    cycle.ends("test", "kept", "Succeeded");
    cycle.ends("test", "cells", "Succeeded");
    cycle.ends("test", "served", "Succeeded");
    cycle.ends("test", "stuck", "Failed");
    let results = cycle.results();
    let rates: Vec<f64> =
        results.of("kept").iter().map(|result| result["metrics"][0]["value"].as_f64().unwrap()).collect();
    let mut sorted = rates.clone();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(sorted, [3.0, 3.0, 4.0, 4.0]);
    let cells = &results.of("cells")[0];
    assert_eq!(cells["metrics"][0]["value"], 7.5, "{cells:#}");
    assert!(
        cells["artifacts"].to_string().contains("x.ipynb"),
        "the executed notebook is kept: {:#}",
        cells["artifacts"]
    );
    assert_eq!(results.of("served")[0]["run"]["status"], "succeeded");
    let run = &results.of("stuck")[0]["run"];
    // What comes first: that its image cannot be had, or the end of its time.
    assert_eq!(run["status"], "failed", "{run:#}");
    let told = run["reasons"].to_string();
    assert!(told.contains("imagePull") || told.contains("ProgressDeadlineExceeded"), "{told}");
}
