//! KB0425, KB0426: jobs that Kueue does not hold back, although the target has a queue of it.

use crate::model::Benchmark;
use crate::model::target::Queue;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::invariant::Invariant as _;

const PAST_THE_QUEUE: &str = "a job that Kueue does not manage starts immediately, bypasses the queue and its quotas, and disturbs what others measure";

/// Reports kinds that Kueue manages only when told to, and the MPIJob that it cannot manage.
pub(super) fn managed(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let target = &benchmark.target;
    let Queue::Kueue(_) = target.queue else { return };
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
            (api, _) if api == "apps/v1" || api.starts_with("serving.kserve.io/") => {
                let framework = if api == "apps/v1" { "deployment" } else { "pod" };
                let message = format!("Kueue on the target `{}` may not manage the pods of {kind}s", target.name);
                Diagnostic::at(&code::KB0425, target.span, message)
                    .note("the default configuration of Kueue 0.19 leaves them out")
                    .note(PAST_THE_QUEUE)
                    .help(format!(
                        "make sure that `integrations.frameworks` of Kueue's configuration lists `{framework}`, then {}",
                        code::KB0425.switched_off()
                    ))
            }
            (api @ ("kubeflow.org/v1" | "sparkoperator.k8s.io/v1beta2"), _) => {
                let group = api.split('/').next().expected("a first part of every split");
                // Said of the target, so that all its benchmarks together say it once.
                let message = format!("Kueue on the target `{}` may not manage {kind}s", target.name);
                Diagnostic::at(&code::KB0425, target.span, message)
                    .note("the default configuration of Kueue 0.19 leaves this kind out")
                    .note(PAST_THE_QUEUE)
                    .help(format!(
                        "make sure that `integrations.frameworks` of Kueue's configuration lists `{group}/{}`, \
                         then {}",
                        kind.to_lowercase(),
                        code::KB0425.switched_off()
                    ))
            }
            _ => continue,
        });
    }
}
