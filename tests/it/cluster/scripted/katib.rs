//! Katib 0.19 as its documents and its API describe it: an Experiment gets Trials, a Trial gets a job made from `trialSpec`, what
//! its primary container prints becomes the observation, and the conditions follow one another as in the API's comments.
//!
//! It is no Katib: it tries the values of a grid in their order, makes Jobs alone, and ends no trial early but the one whose value
//! is `stops`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Hands;
use crate::cluster::{Cluster, definitions};

pub(in crate::cluster) const EXPERIMENTS: &str = "experiments.kubeflow.org";
const TRIALS: &str = "trials.kubeflow.org";
/// The value of a parameter whose trial is ended early.
const STOPS: &str = "stops";

/// Installs what Katib defines. Its own definitions keep whatever they are given, so that one without it loses nothing.
pub(in crate::cluster) fn define(cluster: &Cluster) {
    definitions::of_anything(cluster, ("kubeflow.org", "v1beta1"), "Trial", "trials");
    definitions::of_anything(cluster, ("kubeflow.org", "v1beta1"), "Experiment", "experiments");
}

/// Takes one step with an Experiment.
pub(in crate::cluster) fn act(hands: &Hands<'_>, experiment: &Value) {
    let name = experiment["metadata"]["name"].as_str().unwrap();
    let has_ended = has(experiment, "Succeeded") || has(experiment, "Failed");
    if has_ended || experiment["metadata"].get("deletionTimestamp").is_some() {
        return;
    }
    let spec = &experiment["spec"];
    let trials = hands.list(TRIALS, &format!("katib.kubeflow.org/experiment={name}"));
    for trial in &trials {
        follow(hands, experiment, trial);
    }
    let trials = hands.list(TRIALS, &format!("katib.kubeflow.org/experiment={name}"));
    let (over, active): (Vec<&Value>, Vec<&Value>) = trials.iter().partition(|trial| is_over(trial));
    let values = values(spec);
    let most = count(&spec["maxTrialCount"]).min(values.len());
    let at_once = count(&spec["parallelTrialCount"]);
    for (number, value) in
        values.iter().enumerate().take(most).skip(trials.len()).take(at_once.saturating_sub(active.len()))
    {
        hands.create(&trial(experiment, number, value));
    }
    let failed = over.iter().filter(|trial| has(trial, "Failed")).count() as u64;
    let allowed = spec["maxFailedTrialCount"].as_u64();
    let mut status = json!({
        "conditions": conditions(&[("Created", ""), ("Running", "Experiment is running")]),
        "startTime": experiment["metadata"]["creationTimestamp"],
        "trials": trials.len(), "trialsSucceeded": over.len() as u64 - failed, "trialsFailed": failed,
    });
    if let Some(best) = best(spec, &over) {
        status["currentOptimalTrial"] = json!({
            "bestTrialName": best["metadata"]["name"], "parameterAssignments": best["spec"]["parameterAssignments"],
            "observation": best["status"]["observation"],
        });
    }
    if allowed.is_some_and(|allowed| failed > allowed) {
        status["conditions"] =
            conditions(&[("Created", ""), ("Failed", "Experiment has failed because max failed count has reached")]);
    } else if over.len() == most {
        status["conditions"] = conditions(&[
            ("Created", ""),
            ("Succeeded", "Experiment has succeeded because max trial count has reached"),
        ]);
        status["completionTime"] = over
            .iter()
            .map(|trial| &trial["status"]["completionTime"])
            .max_by_key(ToString::to_string)
            .unwrap()
            .clone();
    }
    hands.set_status(EXPERIMENTS, name, &status);
}

/// Takes one step with a Trial: makes its job, and reads what came of that.
fn follow(hands: &Hands<'_>, experiment: &Value, trial: &Value) {
    if is_over(trial) {
        return;
    }
    let name = trial["metadata"]["name"].as_str().unwrap();
    let jobs = hands.list("jobs.batch", &format!("katib.kubeflow.org/trial={name}"));
    let Some(job) = jobs.first() else {
        let mut job = trial["spec"]["runSpec"].clone();
        job["metadata"]["name"] = json!(name);
        job["metadata"]["labels"]["katib.kubeflow.org/trial"] = json!(name);
        job["metadata"]["labels"]["katib.kubeflow.org/experiment"] = experiment["metadata"]["name"].clone();
        job["metadata"]["ownerReferences"] = owned_by(trial);
        hands.create(&job);
        hands.set_status(
            TRIALS,
            name,
            &json!({
                "conditions": conditions(&[("Created", ""), ("Running", "Trial is running")]),
                "startTime": trial["metadata"]["creationTimestamp"],
            }),
        );
        return;
    };
    let ended = |word: &str| {
        let found = job["status"]["conditions"].as_array().into_iter().flatten();
        found.into_iter().find(|condition| condition["type"] == word && condition["status"] == "True").cloned()
    };
    let Some(end) = ended("Complete").or_else(|| ended("Failed")) else { return };
    let stops = trial["spec"]["parameterAssignments"].as_array().unwrap().iter().any(|one| one["value"] == STOPS);
    let word = match end["type"].as_str().unwrap() {
        "Failed" => "Failed",
        _ if stops => "EarlyStopped",
        _ => "Succeeded",
    };
    let mut status = json!({
        "startTime": trial["metadata"]["creationTimestamp"], "completionTime": end["lastTransitionTime"],
        "conditions": conditions(&[("Created", ""), (word, &format!("Trial has {}", word.to_lowercase()))]),
    });
    let metrics = observed(hands, experiment, name);
    if metrics.is_empty() && word == "Succeeded" {
        status["conditions"] = conditions(&[("Created", ""), ("MetricsUnavailable", "Metrics are not available")]);
    } else {
        status["observation"] = json!({ "metrics": metrics });
    }
    hands.set_status(TRIALS, name, &status);
}

/// What the primary container of a trial printed of the metrics, as `name=value`.
fn observed(hands: &Hands<'_>, experiment: &Value, trial: &str) -> Vec<Value> {
    let primary = experiment["spec"]["trialTemplate"]["primaryPodLabels"].as_object().unwrap();
    let labels: Vec<String> =
        primary.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap())).collect();
    let pods = hands.list("pods", &format!("batch.kubernetes.io/job-name={trial},{}", labels.join(",")));
    let log = pods.first().map(|pod| hands.log(pod["metadata"]["name"].as_str().unwrap())).unwrap_or_default();
    let objective = &experiment["spec"]["objective"];
    let others = objective["additionalMetricNames"].as_array().into_iter().flatten();
    let names = std::iter::once(&objective["objectiveMetricName"]).chain(others).map(|name| name.as_str().unwrap());
    let read = names.filter_map(|name| {
        let of_line =
            |line: &str| line.split_once('=').filter(|(found, _)| *found == name)?.1.trim().parse::<f64>().ok();
        let values: Vec<f64> = log.lines().filter_map(of_line).collect();
        let (min, max) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        let text = |value: f64| value.to_string();
        Some(json!({"name": name, "latest": text(*values.last()?), "min": text(min), "max": text(max)}))
    });
    read.collect()
}

/// The best of the trials that have ended, by the greatest or the least value of the objective.
fn best<'t>(spec: &Value, over: &[&'t Value]) -> Option<&'t Value> {
    let (field, sign) = if spec["objective"]["type"] == "minimize" { ("min", -1.0) } else { ("max", 1.0) };
    let value = |trial: &Value| -> Option<f64> {
        let metrics = trial["status"]["observation"]["metrics"].as_array()?;
        let metric = metrics.iter().find(|metric| metric["name"] == spec["objective"]["objectiveMetricName"])?;
        Some(sign * metric[field].as_str()?.parse::<f64>().ok()?)
    };
    let known = over.iter().filter_map(|trial| Some((value(trial)?, *trial)));
    known.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, trial)| trial)
}

/// The Trial that tries `values`, with its job filled in.
fn trial(experiment: &Value, number: usize, values: &BTreeMap<String, String>) -> Value {
    let experiment_name = experiment["metadata"]["name"].as_str().unwrap();
    let template = &experiment["spec"]["trialTemplate"];
    let mut text = template["trialSpec"].to_string();
    for parameter in template["trialParameters"].as_array().unwrap() {
        let value = &values[parameter["reference"].as_str().unwrap()];
        text = text.replace(&format!("${{trialParameters.{}}}", parameter["name"].as_str().unwrap()), value);
    }
    let run: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&run["apiVersion"], &run["kind"]), (&json!("batch/v1"), &json!("Job")), "the script makes Jobs alone");
    let assigned: Vec<Value> = values.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    json!({
        "apiVersion": "kubeflow.org/v1beta1", "kind": "Trial",
        "metadata": {
            "name": format!("{experiment_name}-{number:08x}"),
            "labels": {"katib.kubeflow.org/experiment": experiment_name},
            "ownerReferences": owned_by(experiment),
        },
        "spec": {"objective": experiment["spec"]["objective"], "parameterAssignments": assigned, "runSpec": run},
    })
}

/// All combinations of the listed values, the first parameter changing last.
fn values(spec: &Value) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    for parameter in spec["parameters"].as_array().unwrap() {
        let list = parameter["feasibleSpace"]["list"].as_array().expect("the script knows lists alone");
        let name = parameter["name"].as_str().unwrap();
        let with = |known: &BTreeMap<String, String>, value: &Value| {
            let mut more = known.clone();
            more.insert(name.to_owned(), value.as_str().unwrap().to_owned());
            more
        };
        all = all.iter().flat_map(|known| list.iter().map(|value| with(known, value))).collect();
    }
    all
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn owned_by(object: &Value) -> Value {
    json!([{
        "apiVersion": object["apiVersion"], "kind": object["kind"], "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"], "controller": true, "blockOwnerDeletion": false,
    }])
}

/// Conditions of these types, of which the last alone still holds in addition to the first.
fn conditions(said: &[(&str, &str)]) -> Value {
    let all = said.iter().map(|(word, message)| {
        json!({"type": word, "status": "True", "reason": format!("Scripted{word}"), "message": message})
    });
    all.collect()
}

fn has(object: &Value, word: &str) -> bool {
    let found = object["status"]["conditions"].as_array().into_iter().flatten();
    found.into_iter().any(|condition| condition["type"] == word && condition["status"] == "True")
}

fn is_over(trial: &Value) -> bool {
    ["Succeeded", "Failed", "EarlyStopped", "Killed", "MetricsUnavailable"].iter().any(|word| has(trial, word))
}
