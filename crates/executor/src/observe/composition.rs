//! What the run of a Workflow or of an Experiment was made of, from what their controllers write.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Deserialize;
use serde_json::Value as Json;

use super::Replica;
use kubebench_compiler::workload::condition_of;
use kubebench_contract::text_at;
use kubebench_format::result::v1::{Experiment, Objective, Trial, TrialMetric, TrialStatus, Workflow, WorkflowNode};

/// Where Katib writes that it has no value.
const UNAVAILABLE: &str = "unavailable";

/// Returns the nodes of a Workflow, in the order in which they started.
pub(crate) fn workflow(object: &Json) -> Workflow {
    let nodes = object.pointer("/status/nodes").and_then(Json::as_object);
    let of_nodes = nodes.into_iter().flatten().map(|(_, node)| node);
    let mut nodes: Vec<WorkflowNode> = of_nodes.map(node).collect();
    nodes.sort_by(|one, other| {
        let key = |node: &WorkflowNode| (node.started_at.is_none(), node.started_at.clone(), node.name.clone());
        key(one).cmp(&key(other))
    });
    let is_elsewhere = ["/status/compressedNodes", "/status/offloadNodeStatusVersion"]
        .iter()
        .any(|at| !text_at(object, at).is_empty());
    let reason = (nodes.is_empty() && is_elsewhere)
        .then(|| "the Workflow has so many nodes that Argo keeps them compressed or in its database".to_owned());
    Workflow { nodes, left_out: 0, reason }
}

fn node(node: &Json) -> WorkflowNode {
    let said = |at: &str| Some(text_at(node, at)).filter(|text| !text.is_empty()).map(str::to_owned);
    let template = said("/templateName").or_else(|| said("/templateRef/template"));
    WorkflowNode {
        name: text_at(node, "/displayName").to_owned(),
        template,
        r#type: text_at(node, "/type").to_owned(),
        phase: text_at(node, "/phase").to_owned(),
        started_at: said("/startedAt"),
        seconds: seconds(node, "/startedAt", "/finishedAt"),
        message: said("/message"),
    }
}

/// Returns what `trials` of the Experiment `object` were, whose pods were `replicas`.
pub(crate) fn experiment(object: &Json, trials: &[Json], replicas: &[&Replica]) -> Experiment {
    let objective = object.pointer("/spec/objective").unwrap_or(&Json::Null);
    let strategies = Strategies::of(objective);
    let best = text_at(object, "/status/currentOptimalTrial/bestTrialName");
    let mut trials: Vec<&Json> = trials.iter().collect();
    trials.sort_by_key(|trial| (text_at(trial, "/metadata/creationTimestamp"), text_at(trial, "/metadata/name")));
    let trials: Vec<Trial> = trials.into_iter().map(|object| trial(object, &strategies, best, replicas)).collect();
    let mut counts: BTreeMap<TrialStatus, u64> = BTreeMap::new();
    for trial in &trials {
        *counts.entry(trial.status).or_default() += 1;
    }
    Experiment {
        objective: Objective {
            metric: text_at(objective, "/objectiveMetricName").to_owned(),
            r#type: text_at(objective, "/type").to_owned(),
            goal: objective.get("goal").and_then(Json::as_f64),
        },
        counts,
        trials,
        left_out: 0,
        reason: None,
    }
}

fn trial(object: &Json, strategies: &Strategies<'_>, best: &str, replicas: &[&Replica]) -> Trial {
    let name = text_at(object, "/metadata/name");
    let (status, message) = status(object);
    let assigned = object.pointer("/spec/parameterAssignments").and_then(Json::as_array).into_iter().flatten();
    let observed = object.pointer("/status/observation/metrics").and_then(Json::as_array).into_iter().flatten();
    let is_own = |pod: &str| pod.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let own = replicas.iter().filter(|replica| is_own(&replica.pod.name));
    Trial {
        name: name.to_owned(),
        status,
        best: !best.is_empty() && name == best,
        parameters: assigned.map(|one| (text_at(one, "/name").to_owned(), text_at(one, "/value").to_owned())).collect(),
        metrics: observed.map(|metric| observed_of(metric, strategies)).collect(),
        started_at: Some(text_at(object, "/status/startTime")).filter(|text| !text.is_empty()).map(str::to_owned),
        seconds: seconds(object, "/status/startTime", "/status/completionTime"),
        message,
        logs: own.map(|replica| format!("logs/{}-{}.log", replica.role, replica.index)).collect(),
    }
}

/// Returns how a trial ended, and what Katib says of that where it did not succeed.
fn status(object: &Json) -> (TrialStatus, Option<String>) {
    const WORDS: [(&str, TrialStatus); 5] = [
        ("EarlyStopped", TrialStatus::EarlyStopped),
        ("MetricsUnavailable", TrialStatus::MetricsUnavailable),
        ("Killed", TrialStatus::Killed),
        ("Failed", TrialStatus::Failed),
        ("Succeeded", TrialStatus::Succeeded),
    ];
    for (word, status) in WORDS {
        if let Some(condition) = condition_of(object, word, "True") {
            let message = Some(text_at(condition, "/message")).filter(|text| !text.is_empty());
            return (status, message.filter(|_| status != TrialStatus::Succeeded).map(str::to_owned));
        }
    }
    (TrialStatus::Unfinished, None)
}

fn observed_of(metric: &Json, strategies: &Strategies<'_>) -> TrialMetric {
    let name = text_at(metric, "/name");
    let value = |field: &str| number(metric.get(field)?);
    let (latest, min, max) = (value("latest"), value("min"), value("max"));
    let compared = match strategies.of_metric(name) {
        "min" => min,
        "max" => max,
        _ => latest,
    };
    TrialMetric { name: name.to_owned(), value: compared.or(latest), latest, min, max }
}

/// Returns a finite number, which Katib writes as text.
fn number(value: &Json) -> Option<f64> {
    let text = value.as_str().filter(|text| *text != UNAVAILABLE);
    let number = text.and_then(|text| text.trim().parse().ok()).or_else(|| value.as_f64());
    number.filter(|number| number.is_finite())
}

/// By which of its values Katib compares trials, for each metric.
struct Strategies<'a> {
    said: BTreeMap<&'a str, &'a str>,
    otherwise: &'static str,
}

impl<'a> Strategies<'a> {
    fn of(objective: &'a Json) -> Self {
        let said = objective.get("metricStrategies").and_then(Json::as_array).into_iter().flatten();
        Self {
            said: said.map(|one| (text_at(one, "/name"), text_at(one, "/value"))).collect(),
            // As Katib's own defaults have it.
            otherwise: match text_at(objective, "/type") {
                "minimize" => "min",
                "maximize" => "max",
                _ => "latest",
            },
        }
    }

    fn of_metric(&self, name: &str) -> &'a str {
        self.said.get(name).copied().unwrap_or(self.otherwise)
    }
}

/// Returns the seconds between two times of an object.
fn seconds(object: &Json, from: &str, to: &str) -> Option<f64> {
    let time =
        |at: &str| object.pointer(at).and_then(|time| Time::deserialize(time).ok()).map(|time| time.0.as_millisecond());
    let milliseconds = time(to)?.saturating_sub(time(from)?);
    (milliseconds >= 0).then(|| milliseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests;
