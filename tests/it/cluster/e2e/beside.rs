//! All that may surround a run: a Job before it and one after it, carried files, containers of a pod patch, files
//! that jobs write, and a server of results that asks for a token and is signed by an authority of its own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Loop, Settings, run_folder};

const SPEC: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: beside}
spec:
  timeout: 5m
  results: {mountInJob: true}
  prepare:
    image: busybox:1
    command: [sh, -ec, 'cp "$KUBEBENCH_FILES/factor" "$KUBEBENCH_DATA_ROOT/prepared"; echo prepared']
    resources: {cpu: 10m, memory: 16Mi}
    timeout: 2m
  workload:
    job:
      image: busybox:1
      files: {main.sh: {path: scripts/main.sh}, factor: {path: scripts/factor}}
      command: [/kubebench/files/main.sh]
      resources: {cpu: 10m, memory: 16Mi}
      pod:
        initContainers:
          - {name: before, image: 'busybox:1', command: [echo, before the run], resources: {limits: {cpu: 10m, memory: 16Mi}}}
        containers:
          - {name: side, image: 'busybox:1', command: [sh, -c, 'echo beside the run; sleep 1; echo last words'], resources: {limits: {cpu: 10m, memory: 16Mi}}}
  postprocess:
    image: busybox:1
    command: [sh, -ec, 'n=$(cat "$KUBEBENCH_EXP_OUTPUT_PATH/written"); printf "{\"doubled\": %s}" $((n * 2)) >"$KUBEBENCH_EXP_RESULT_PATH/after.json"; cat "$KUBEBENCH_FILES/factor"']
    resources: {cpu: 10m, memory: 16Mi}
    timeout: 2m
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s'}}}
    - {name: written, unit: x/s, better: higher, from: {file: {path: written}}}
    - {name: doubled, unit: x/s, better: higher, from: {json: {file: after.json, pointer: /doubled}}}
"#;

const MAIN: &str = r#"#!/bin/sh
set -eu
factor=$(cat "$KUBEBENCH_DATA_ROOT/prepared")
# What is not its output it cannot write, and does not see.
if echo 9 >"$KUBEBENCH_DATA_ROOT/prepared"; then exit 3; fi
if echo 9 >"$KUBEBENCH_EXP_PATH/result.json"; then exit 4; fi
if [ "$(ls /kubebench/experiments "$KUBEBENCH_EXP_PATH" | tr '\n' ' ')" != "/kubebench/experiments: run  /kubebench/experiments/run: output " ]; then exit 5; fi
if rm -r "$KUBEBENCH_EXP_OUTPUT_PATH/logs"; then exit 6; fi
echo "rate $((factor * 3)) x/s"
echo "$((factor * 5))" >"$KUBEBENCH_EXP_OUTPUT_PATH/written"
"#;

#[test]
fn all_that_is_around_a_run_does_its_part() {
    let results = "mode: branch, credential: results-git";
    let project = Settings { results, repeats: 2, ..Settings::of("beside") }.text();
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("specs/beside.yaml", SPEC),
        ("scripts/main.sh", MAIN),
        ("scripts/factor", "7\n"),
    ];
    let Some(cycle) = Loop::secured("all_that_is_around_a_run_does_its_part", &files) else { return };
    cycle.apply();
    let ended = cycle.ends("test", "beside", "Succeeded");
    let results = cycle.results();
    let of = results.of("beside");
    assert_eq!(of.len(), 2);
    for result in of {
        assert_eq!(result["run"]["status"], "succeeded", "{result:#}");
        let value = |name: &str| {
            let metrics = result["metrics"].as_array().unwrap();
            metrics.iter().find(|metric| metric["name"] == name).unwrap()["value"].as_f64()
        };
        assert_eq!([value("rate"), value("written"), value("doubled")], [Some(21.0), Some(35.0), Some(70.0)]);
        let artifacts: Vec<&str> =
            result["artifacts"].as_array().unwrap().iter().map(|artifact| artifact["name"].as_str().unwrap()).collect();
        for name in ["logs/job-0.log", "logs/job-0.before.log", "logs/job-0.side.log", "written"] {
            assert!(artifacts.contains(&name), "{name}: {artifacts:?}");
        }
        assert_eq!(result["run"]["exits"], json!([{"code": 0, "index": 0, "role": "job"}]));
    }
    let said = cycle.look("test", "beside", "cat */output/logs/job-0.side.log; find . -name '*.log' | sort");
    assert_eq!(said.matches("beside the run\nlast words\n").count(), 2, "{said}");
    let modes = "stat -c '%a %u %g' beside-*/result.json beside-*/attempt.json beside-*/config | sort | uniq -c | tr -s ' '; \
        stat -c '%a %u %g' beside-*/output data/beside .workflows | sort | uniq -c | tr -s ' '";
    let steps = " 4 644 65531 65532\n 3 755 65531 65532\n";
    let shared = " 4 3770 65531 65532\n 1 755 65531 65532\n";
    assert_eq!(cycle.look("test", "beside", modes), format!("{steps}{shared}"));
    // Of what a run has made, nothing is left in the cluster.
    let namespace = cycle.namespace("test");
    let uid = ended["metadata"]["uid"].as_str().unwrap();
    let jobs = cycle.cluster().json(["-n", namespace, "get", "jobs,services", "-o", "json"]);
    let is_ours = |object: &&Value| object["metadata"]["ownerReferences"].to_string().contains(uid);
    assert_eq!(jobs["items"].as_array().unwrap().iter().filter(is_ours).count(), 0, "{jobs:#}");
}

impl Loop {
    /// Like [`Loop::new`], but on the git server of `tests/cluster` the steps use its https address; the Secret
    /// `results-git` of each namespace has its token and its authority.
    fn secured(test: &str, files: &[(&str, &str)]) -> Option<Self> {
        let cycle = Self::new(test, files)?;
        let Some(run) = run_folder(&cycle) else { return Some(cycle) };
        let text = fs::read_to_string(cycle.project.folder.path().join("kubebench.yaml")).unwrap();
        cycle.change("kubebench.yaml", &text.replace("remote: http://", "remote: https://"));
        let (token, authority) = (run.join("git/token"), run.join("keys/ca.crt"));
        let from = |key: &str, path: &Path| format!("--from-file={key}={}", path.display());
        for namespace in cycle.project.namespaces.values() {
            cycle.cluster().say([
                "-n",
                namespace,
                "create",
                "secret",
                "generic",
                "results-git",
                "--from-literal=username=kubebench",
                &from("password", &token),
                &from("ca.crt", &authority),
            ]);
        }
        Some(cycle)
    }
}
