//! KB0414: `PyTorchJobs` whose operator may add a container that is refused.

use crate::model::Benchmark;
use crate::model::target::PodSecurity;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports `PyTorchJobs` with a master and workers on a restricted target; without a master the operator adds nothing.
pub(super) fn prepared(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    if benchmark.target.pod_security != PodSecurity::Restricted {
        return;
    }
    for workload in benchmark.cases.iter().map(|case| &case.workload).filter(|workload| workload.key == "pytorchJob") {
        if !["master", "worker"].into_iter().all(|name| workload.roles.iter().any(|role| role.name == name)) {
            continue;
        }
        let message = format!(
            "the target `{}` is `restricted` and may refuse the container that the operator adds to the workers",
            benchmark.target.name
        );
        let fault = Diagnostic::at(&code::KB0414, workload.span, message)
            .note("it waits for the master and has no security settings by default; a refused worker hangs the run");
        diagnostics.push(fault.help(format!(
            "start the operator with `--pytorch-init-container-template-file` and a template that has a \
             `securityContext`, then {}; or leave out `master`",
            code::KB0414.switched_off()
        )));
    }
}
