//! A search as what is measured. Katib cannot be had here: a script plays it ([`katib`](super::super::scripted::katib)), and all else
//! is real: the runner follows the Experiment, reads its trials, and deletes it.

use serde_json::{Value, json};

use super::super::cluster;
use super::super::scripted::{Scripted, katib};
use super::{Loop, Settings, outcome};

/// Four trials, two at once: one reaches most, one less, one prints nothing that Katib reads, and one is ended early.
const SEARCH: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: search}
spec:
  timeout: 5m
  workload:
    experiment:
      objective: {type: maximize, objectiveMetricName: accuracy, additionalMetricNames: [loss]}
      algorithm: {algorithmName: grid}
      parameters: [{name: mode, parameterType: categorical, feasibleSpace: {list: [fast, exact, silent, stops]}}]
      maxTrialCount: 4
      parallelTrialCount: 2
      maxFailedTrialCount: 1
      trial:
        job:
          image: busybox:1
          command: [sh, -ec, 'case ${trialParameters.mode} in fast) echo accuracy=0.5; echo accuracy=0.25; echo loss=2 ;; exact) echo accuracy=0.75; echo loss=4 ;; stops) echo accuracy=0.125 ;; esac; echo "tries ${trialParameters.mode}"']
          resources: {cpu: 10m, memory: 32Mi}
  metrics:
    - {name: accuracy, unit: "1", better: higher, primary: true, from: {trials: {metric: accuracy}}}
    - {name: all, unit: "1", better: higher, from: {trials: {metric: accuracy, of: all}}, reduce: min}
    - {name: loss, unit: "1", better: lower, from: {trials: {metric: loss}}}
    - {name: seconds, unit: s, better: lower, required: true, from: {duration: run}}
"#;

/// More trials fail than may.
const BREAKS: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: breaks}
spec:
  timeout: 5m
  workload:
    experiment:
      objective: {type: minimize, objectiveMetricName: loss}
      algorithm: {algorithmName: grid}
      parameters: [{name: code, parameterType: categorical, feasibleSpace: {list: ["7", "8"]}}]
      maxTrialCount: 2
      parallelTrialCount: 1
      maxFailedTrialCount: 1
      trial: {job: {image: 'busybox:1', command: [sh, -c, 'echo it breaks; exit ${trialParameters.code}'], resources: {cpu: 10m, memory: 32Mi}}}
  metrics: [{name: loss, unit: "1", better: lower, primary: true, from: {trials: {metric: loss}}}]
"#;

#[test]
fn a_search_is_measured_by_its_trials() {
    const NAME: &str = "a_search_is_measured_by_its_trials";
    let Some(cluster) = cluster(NAME) else { return };
    katib::define(cluster);
    let project = Settings::of("searches").text();
    let files = [("kubebench.yaml", project.as_str()), ("specs/search.yaml", SEARCH), ("specs/breaks.yaml", BREAKS)];
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    let played = Scripted::play(cluster, cycle.namespace("test"), katib::EXPERIMENTS, katib::act);
    cycle.apply();
    cycle.ends("test", "search", "Succeeded");
    cycle.ends("test", "breaks", "Failed");
    drop(played);
    let results = cycle.results();
    let search = results.of("search")[0];
    let (status, values) = outcome(search);
    assert_eq!(status, "succeeded", "{search:#}");
    assert_eq!(values[..3], [Some(0.75), Some(0.125), Some(4.0)], "{:#}", search["metrics"]);
    assert!(values[3].is_some(), "{:#}", search["metrics"]);
    let experiment = &search["experiment"];
    assert_eq!(experiment["objective"], json!({"metric": "accuracy", "type": "maximize"}));
    assert_eq!(experiment["counts"], json!({"succeeded": 2, "metricsUnavailable": 1, "earlyStopped": 1}));
    let trials = experiment["trials"].as_array().unwrap();
    let told: Vec<(&str, &str, bool)> = trials
        .iter()
        .map(|trial| {
            let text = |at: &str| trial.pointer(at).unwrap().as_str().unwrap();
            (text("/parameters/mode"), text("/status"), trial["best"] == true)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("fast", "succeeded", false),
            ("exact", "succeeded", true),
            ("silent", "metricsUnavailable", false),
            ("stops", "earlyStopped", false),
        ]
    );
    let fast = &trials[0]["metrics"];
    assert_eq!(fast[0], json!({"name": "accuracy", "value": 0.5, "latest": 0.25, "min": 0.25, "max": 0.5}));
    let artifacts: Vec<&str> =
        search["artifacts"].as_array().unwrap().iter().map(|artifact| artifact["name"].as_str().unwrap()).collect();
    for trial in trials {
        let logs = trial["logs"].as_array().unwrap();
        assert!(logs.len() == 1 && artifacts.contains(&logs[0].as_str().unwrap()), "{trial:#} {artifacts:?}");
    }
    let broken = results.of("breaks")[0];
    assert_eq!(broken["run"]["status"], "failed", "{:#}", broken["run"]);
    assert!(broken["run"]["reasons"].to_string().contains("exited with"), "{:#}", broken["run"]["reasons"]);
    assert_eq!(broken["experiment"]["counts"], json!({"failed": 2}));
    let namespace = cycle.namespace("test");
    let left = cycle.cluster().json([
        "-n",
        namespace,
        "get",
        "experiments.kubeflow.org,trials.kubeflow.org,jobs.batch,pods",
        "-l",
        "katib.kubeflow.org/experiment",
        "-o",
        "json",
    ]);
    assert_eq!(left["items"], Value::Array(Vec::new()), "what was measured is deleted with all that it made");
}
