//! KB0425, KB0426: jobs that Kueue does not hold back, although the target has a Kueue queue.

use crate::model::Benchmark;
use crate::model::target::Queue;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;

const PAST_THE_QUEUE: &str = "a job that Kueue does not manage starts immediately, bypasses the queue and its quotas, and disturbs what others measure";

/// What Kueue 0.19 integrates by default, of the kinds that benchmarks have.
const BY_DEFAULT: [&str; 6] = [
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/mpijob",
    "ray.io/raycluster",
    "ray.io/rayjob",
    "trainer.kubeflow.org/trainjob",
];
/// What it can integrate on demand.
const ON_DEMAND: [&str; 7] = [
    "kubeflow.org/jaxjob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "leaderworkerset.x-k8s.io/leaderworkerset",
    "sparkoperator.k8s.io/sparkapplication",
];

/// Reports kinds that Kueue manages only if configured to, and the MPIJob that it cannot manage.
pub(super) fn managed(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let target = &benchmark.target;
    let Queue::Kueue { frameworks, .. } = &target.queue else { return };
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        let kind = &*workload.api.kind;
        diagnostics.push(match (&*workload.api.api_version, kind) {
            ("kubeflow.org/v1", "MPIJob") => {
                let message = format!(
                    "Kueue, which queues the jobs of the target `{}`, does not support MPIJob v1",
                    target.name
                );
                Diagnostic::at(&code::KB0426, workload.span, message).note(PAST_THE_QUEUE).help(
                    "name targets without this queue, or install the MPI operator there and set `apis: {mpiJob: v2beta1}`",
                )
            }
            ("batch.volcano.sh/v1alpha1", _) => {
                let message = format!(
                    "Kueue, which queues the jobs of the target `{}`, does not support Volcano Jobs",
                    target.name
                );
                Diagnostic::at(&code::KB0426, workload.span, message)
                    .note(PAST_THE_QUEUE)
                    .help("name targets without this queue, such as one with `queue: {volcano: …}`")
            }
            ("machinelearning.seldon.io/v1" | "mlops.seldon.io/v1alpha1", _) => {
                let message = format!(
                    "Kueue, which queues the jobs of the target `{}`, does not support Seldon {kind}s",
                    target.name
                );
                Diagnostic::at(&code::KB0426, workload.span, message)
                    .note(PAST_THE_QUEUE)
                    .help("name targets without this queue, or serve the model by `deployment`")
            }
            (api, _) => {
                let of_workflow = || (kind == "Workflow" && frameworks.is_some()).then(|| "pod".to_owned());
                let Some(framework) = framework(api, kind).or_else(of_workflow) else { continue };
                let Some(fault) = unmanaged(target.span, &target.name, kind, &framework, frameworks.as_deref()) else {
                    continue;
                };
                fault.note(PAST_THE_QUEUE)
            }
        });
    }
}

/// Returns the finding about a kind that Kueue does not hold back, or may not; said of the target, so that all its benchmarks together say
/// it once.
fn unmanaged(span: Span, target: &str, kind: &str, framework: &str, listed: Option<&[String]>) -> Option<Diagnostic> {
    let of_pods = if ["deployment", "pod"].contains(&framework) { "the pods of " } else { "" };
    if let Some(listed) = listed {
        let is_listed = listed.iter().any(|one| one == framework);
        return (!is_listed).then(|| {
            let message = format!("Kueue on the target `{target}` does not manage {of_pods}{kind}s");
            Diagnostic::at(&code::KB0425, span, message)
                .note(format!("`frameworks` of its queue does not list `{framework}`"))
                .help(format!(
                    "add `{framework}` to `integrations.frameworks` of Kueue's configuration and to `frameworks` of the target, or run the benchmark on a target without this queue"
                ))
        });
    }
    let by_default = BY_DEFAULT.contains(&framework);
    (!by_default).then(|| {
        let message = format!("Kueue on the target `{target}` may not manage {of_pods}{kind}s");
        Diagnostic::at(&code::KB0425, span, message)
            .note("the default configuration of Kueue 0.19 leaves this kind out")
            .help(format!(
                "look at `integrations.frameworks` of Kueue's configuration, and write what it lists as `frameworks` of the queue: `queue: {{kueue: ml, frameworks: [batch/job, {framework}]}}`"
            ))
    })
}

/// Returns what `integrations.frameworks` of Kueue calls the objects of a kind that it can hold back.
fn framework(api: &str, kind: &str) -> Option<String> {
    match api {
        "apps/v1" => Some(kind.to_lowercase()).filter(|kind| ["deployment", "statefulset"].contains(&kind.as_str())),
        api if api.starts_with("serving.kserve.io/") => Some("pod".to_owned()),
        api => {
            let (group, _) = api.split_once('/')?;
            let framework = format!("{group}/{}", kind.to_lowercase());
            (BY_DEFAULT.contains(&framework.as_str()) || ON_DEMAND.contains(&framework.as_str())).then_some(framework)
        }
    }
}
