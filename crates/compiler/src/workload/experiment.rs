//! `experiment`: a search by Katib, whose trials are workloads of a kind that Kubebench knows.

mod check;
mod form;
mod trial;

use serde_json::{Map, Value as Json, json};

use self::form::Experiment;
use super::kind_of;
use super::status::{self, Outcome, PodSet};
use super::{Kind, Lowering, Purpose, insert};
use crate::model::{Api, Workload};

pub(super) const KIND: Kind = Kind {
    key: "experiment",
    api: Api::known("kubeflow.org/v1beta1", "Experiment", "experiments"),
    schema: form::schema,
    lower,
    purpose: Purpose::Works,
    container: "main",
    outcome,
    // Katib decides how many trials may fail.
    deciders: |_| status::all_of([]),
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
experiment:
  objective: {type: maximize, objectiveMetricName: throughput}
  algorithm: {algorithmName: grid}
  parameters:
    - {name: batch, parameterType: categorical, feasibleSpace: {list: [\"64\", \"128\", \"256\"]}}
  maxTrialCount: 3
  parallelTrialCount: 1
  trial:
    job:
      image: docker.io/library/python:3.13-slim
      # Katib reads `name=value` in what the first container prints.
      command: [python3, -c, 'import sys; print(f\"throughput={float(sys.argv[1]) / 2}\")', \"${trialParameters.batch}\"]
      resources: {cpu: 1, memory: 1Gi}
";

/// Where the object of a trial is.
const TRIAL_SPEC: &str = "/spec/trialTemplate/trialSpec";
/// How many trials Katib runs at once by default.
const AT_ONCE: u32 = 3;

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let form: Experiment = cx.form()?;
    check::check(cx, &form);
    let at_once = form.parallel_trial_count.map_or(AT_ONCE.min(form.max_trial_count.0), |count| count.0);
    let trial = trial::lower(cx)?;
    let used = trial::parameters(cx, &form);
    let Experiment { objective, algorithm, parameters, .. } = &form;
    let mut spec = Map::new();
    spec.insert("objective".to_owned(), objective.to_json());
    spec.insert("algorithm".to_owned(), algorithm.to_json());
    spec.insert("parameters".to_owned(), parameters.iter().map(form::Parameter::to_json).collect());
    spec.insert("maxTrialCount".to_owned(), form.max_trial_count.0.into());
    spec.insert("parallelTrialCount".to_owned(), at_once.into());
    insert(&mut spec, "maxFailedTrialCount", form.max_failed_trial_count.map(|count| count.0));
    insert(&mut spec, "earlyStopping", form.early_stopping.as_ref().map(form::Algorithm::to_json));
    insert(&mut spec, "metricsCollectorSpec", form.metrics_collector.map(|patch| patch.0));
    // A search that has ended stays as it is.
    spec.insert("resumePolicy".to_owned(), "Never".into());
    let references = used.iter().map(|name| json!({ "name": name, "reference": name }));
    spec.insert("trialTemplate".to_owned(), trial.template(references.collect()));
    let roles = trial.roles(at_once);
    let workload = trial.workload;
    let within = |at: &String| format!("{TRIAL_SPEC}{at}");
    Some(Workload {
        headless_service: workload.headless_service,
        name_at: workload.name_at.iter().map(within).collect(),
        supporting: workload.supporting,
        scale_is_manual: workload.scale_is_manual,
        ..cx.workload(KIND.api, spec, roles)
    })
}

/// Reads an Experiment by its conditions.
fn outcome(object: &Json) -> Outcome {
    status::read(object, &["Failed"], &["Succeeded"], &["Running", "Restarting"])
}

/// Returns the pods of one trial; which trial one is of, no number says.
fn pods(object: &Json) -> Vec<PodSet> {
    let trial = object.pointer(TRIAL_SPEC);
    let kind = trial.and_then(kind_of);
    let Some((trial, kind)) = trial.zip(kind) else { return Vec::new() };
    let of_trial = (kind.pods)(trial).into_iter();
    of_trial.map(|set| PodSet { completions: 0, ..set.below(TRIAL_SPEC) }).collect()
}

#[cfg(test)]
mod tests;
