//! `workflow.yaml`: a thin Workflow or CronWorkflow. It holds names made by the compiler and no text of a user's.

use serde_json::{Value as Json, json};

use super::identity::Identity;
use super::{claim, config, meta, pipeline, rules};
use crate::model::{Benchmark, Case, Serving};

/// Seconds beyond both timeouts before Argo ends a run's step by itself: room to collect and clean up.
const GRACE: u64 = 3600;

/// Returns the Workflow, or the CronWorkflow of a benchmark with a schedule.
pub(super) fn workflow(benchmark: &Benchmark, identity: &Identity) -> Json {
    let runs: Vec<&str> = identity.runs.iter().map(|run| run.id.as_str()).collect();
    let longest = benchmark
        .cases
        .iter()
        .map(|case| {
            let after = case.postprocess.as_ref().map_or(0, |job| job.timeout.seconds());
            case.timeout.seconds() + after + until_ready(benchmark, case)
        })
        .max()
        .unwrap_or_default();
    let prepare = benchmark.prepare.as_ref().map_or(0, |job| job.timeout.seconds());
    let deadline = |longest: u64| (benchmark.queue_timeout.seconds() + longest + GRACE).to_string();
    let session = if benchmark.schedule.is_some() { "scheduled" } else { "once" };
    let parameter = |name: &str, value: String| json!({ "name": name, "value": value });
    let spec = json!({
        "arguments": {
            "parameters": [
                parameter("benchmark", benchmark.name.clone()),
                parameter("claim", claim::name(benchmark)),
                parameter("config", config::name(benchmark, identity)),
                parameter("prepare-deadline", deadline(prepare)),
                parameter("rules", rules::name(benchmark)),
                parameter("run-deadline", deadline(longest)),
                parameter("runs", Json::from(runs).to_string()),
                parameter("session", session.to_owned()),
            ],
        },
        "entrypoint": pipeline::entrypoint(benchmark.parallelism),
        "workflowTemplateRef": { "name": pipeline::TEMPLATE },
    });
    match &benchmark.schedule {
        None => json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "metadata": meta::applied(&benchmark.target, &name(benchmark, identity), Some(benchmark)),
            "spec": spec,
        }),
        Some(schedule) => json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "CronWorkflow",
            "metadata": meta::applied(&benchmark.target, &benchmark.name, Some(benchmark)),
            "spec": {
                // Two sessions at once would measure each other.
                "concurrencyPolicy": "Forbid",
                "failedJobsHistoryLimit": 3,
                "schedules": [schedule.cron],
                "startingDeadlineSeconds": 3600,
                "successfulJobsHistoryLimit": 3,
                "timezone": schedule.timezone,
                "workflowMetadata": { "labels": { meta::BENCHMARK: benchmark.name } },
                "workflowSpec": spec,
            },
        }),
    }
}

/// Returns how long a run may wait for its server, in seconds: until that is there, is ready, and is warmed up.
fn until_ready(benchmark: &Benchmark, case: &Case) -> u64 {
    let Some(Serving { served, load }) = &case.workload.serving else { return 0 };
    let warmups = u64::from(benchmark.warmups) * case.timeout.seconds();
    served.ready_seconds + if load.is_some() { benchmark.queue_timeout.seconds() + warmups } else { 0 }
}

/// Returns the name of the Workflow.
pub(super) fn name(benchmark: &Benchmark, identity: &Identity) -> String {
    format!("{}-{}-r{}", benchmark.name, identity.digest.short(), benchmark.run)
}
