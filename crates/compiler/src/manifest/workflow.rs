//! `workflow.yaml`: a thin Workflow or CronWorkflow. It holds names made by the compiler and no text of a user's.

use serde_json::{Value as Json, json};

use super::identity::Identity;
use super::{claim, meta, pipeline, rules};
use crate::model::{Benchmark, Case, Schedule, Serving};
use kubebench_contract::labels;

/// Seconds beyond both timeouts before Argo itself ends a run's step: time to collect and clean up.
const GRACE: u64 = 3600;

/// Returns the Workflow, or the CronWorkflow of a benchmark with a schedule.
pub(super) fn workflow(benchmark: &Benchmark, identity: &Identity) -> Json {
    let runs = identity.runs.iter().map(|run| Json::from(run.id.as_str()));
    let parameters = [
        ("benchmark", benchmark.name.clone()),
        ("claim", claim::name(benchmark)),
        ("config", identity.config.clone()),
        ("prepare-deadline", prepare_deadline(benchmark).to_string()),
        ("rules", rules::name(benchmark)),
        ("run-deadline", run_deadline(benchmark).to_string()),
        ("runs", list(runs)),
        ("session", session(benchmark.schedule.as_ref()).to_owned()),
    ];
    let spec = spec(&parameters, &pipeline::entrypoint(benchmark.parallelism), pipeline::TEMPLATE);
    match &benchmark.schedule {
        None => once(&meta::applied(&benchmark.target, &name(benchmark, identity), Some(benchmark)), &spec),
        Some(schedule) => {
            let metadata = meta::applied(&benchmark.target, &benchmark.name, Some(benchmark));
            scheduled(&metadata, schedule, &json!({ labels::BENCHMARK: benchmark.name }), &spec)
        }
    }
}

/// Returns how long a run may wait for its server, in seconds: until it exists, is ready, and is warmed up.
fn until_ready(benchmark: &Benchmark, case: &Case) -> u64 {
    let Some(Serving { served, load }) = &case.workload.serving else { return 0 };
    if load.is_none() {
        return served.ready_seconds;
    }
    let queue = benchmark.queue_timeout.seconds();
    queue + served.ready_seconds + u64::from(benchmark.warmups) * (queue + case.timeout.seconds())
}

/// Returns the seconds after which Argo ends the step of a run.
pub(super) fn run_deadline(benchmark: &Benchmark) -> u64 {
    let of_case = |case: &Case| {
        let after = case.postprocess.as_ref().map_or(0, |job| job.timeout.seconds());
        case.timeout.seconds() + after + until_ready(benchmark, case)
    };
    let longest = benchmark.cases.iter().map(of_case).max().unwrap_or_default();
    benchmark.queue_timeout.seconds() + longest + GRACE
}

/// Returns the seconds after which Argo ends the step before the runs.
pub(super) fn prepare_deadline(benchmark: &Benchmark) -> u64 {
    let prepare = benchmark.prepare.as_ref().map_or(0, |job| job.timeout.seconds());
    benchmark.queue_timeout.seconds() + prepare + GRACE
}

/// Returns `items` as JSON for Argo's `withParam`, one a line: one run more is one line more.
pub(super) fn list(items: impl Iterator<Item = Json>) -> String {
    let lines: Vec<String> = items.map(|item| item.to_string()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// Returns the input of steps that decides how the names of their jobs are made.
pub(super) fn session(schedule: Option<&Schedule>) -> &'static str {
    if schedule.is_some() { "scheduled" } else { "once" }
}

/// Returns the `spec` of a Workflow: values for the parameters of a WorkflowTemplate, and where it begins.
pub(super) fn spec(parameters: &[(&str, String)], entrypoint: &str, template: &str) -> Json {
    let parameters: Vec<Json> =
        parameters.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    json!({
        "arguments": { "parameters": parameters },
        "entrypoint": entrypoint,
        "workflowTemplateRef": { "name": template },
    })
}

/// Returns the Workflow of this `spec`.
pub(super) fn once(metadata: &Json, spec: &Json) -> Json {
    json!({ "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata, "spec": spec })
}

/// Returns the CronWorkflow whose Workflows have this `spec` and these `labels`.
pub(super) fn scheduled(metadata: &Json, schedule: &Schedule, labels: &Json, spec: &Json) -> Json {
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "CronWorkflow",
        "metadata": metadata,
        "spec": {
            // Two sessions at once would measure each other.
            "concurrencyPolicy": "Forbid",
            "failedJobsHistoryLimit": 3,
            "schedules": [schedule.cron.as_str()],
            "startingDeadlineSeconds": 3600,
            "successfulJobsHistoryLimit": 3,
            "timezone": schedule.timezone.as_str(),
            "workflowMetadata": { "labels": labels },
            "workflowSpec": spec,
        },
    })
}

/// Returns the name of the Workflow.
pub(super) fn name(benchmark: &Benchmark, identity: &Identity) -> String {
    format!("{}-{}-r{}", benchmark.name, identity.digest.short(), benchmark.run)
}
