//! KB0440: TrainJobs whose pods are described in the cluster, where nothing says which version was measured.

use crate::model::Benchmark;
use crate::model::target::{Queue, TrainerApi};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports runtimes that are not in git.
pub(super) fn carried(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let target = &benchmark.target;
    for workload in
        benchmark.cases.iter().map(|case| &case.workload).filter(|workload| workload.takes_pods_of_cluster())
    {
        let name = workload.spec.get("runtimeRef").and_then(|reference| reference.get("name"));
        let name = name.and_then(|name| name.as_str()).unwrap_or_default();
        let mut left = vec!["restarts", "the token of the service account"];
        if target.trainer < TrainerApi::V2_2 {
            left.push("security contexts");
        }
        if target.priority_class.is_some() {
            left.push("the target's priority class");
        }
        if target.trainer == TrainerApi::V2_0 {
            left.push("labels and annotations of all pods of the target");
        }
        if let Queue::Volcano(_) = target.queue {
            left.push("the target's Volcano queue");
        }
        let message = format!("the runtime `{name}` of the cluster is neither in git nor in the run digest");
        let fault = Diagnostic::at(&code::KB0440, workload.span, message)
            .note(
                "a change of the runtime changes what is measured under the same digest; shipped runtimes change \
                 with each release",
            )
            .note(format!("a TrainJob of {} cannot set for these pods: {}", target.trainer.name(), left.join(", ")));
        diagnostics
            .push(fault.help("write `runtime: {torch: {}}` (or `mpi`, `jax`, `xgboost`), which is carried in git"));
    }
}
