//! KB0427: jobs whose gang scheduling depends on how their operator was started.

use crate::model::Benchmark;
use crate::model::target::Queue;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports each kind of Kubeflow's operators on a target with a Volcano queue, for all benchmarks of the target the same.
pub(super) fn scheduled(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let target = &benchmark.target;
    let Queue::Volcano(_) = target.queue else { return };
    for api in benchmark.cases.iter().map(|case| &case.workload.api) {
        let (operator, flag) = match &*api.api_version {
            "kubeflow.org/v1" => ("training operator", "--gang-scheduler-name=volcano"),
            "kubeflow.org/v2beta1" => ("MPI operator", "--gang-scheduling=volcano"),
            "sparkoperator.k8s.io/v1beta2" => ("Spark operator", "--enable-batch-scheduler=true"),
            _ => continue,
        };
        let message = format!("{}s on the target `{}` may not reach its Volcano queue", api.kind, target.name);
        let fault = Diagnostic::at(&code::KB0427, target.span, message).note(format!(
            "the {operator} ignores the queue unless it was started with `{flag}`; pods then start one by one, and two \
             jobs that each got half of the nodes wait for each other until their timeouts"
        ));
        diagnostics
            .push(fault.help(format!("start the {operator} with `{flag}`, then {}", code::KB0427.switched_off())));
    }
}
