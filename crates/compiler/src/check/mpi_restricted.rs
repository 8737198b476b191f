//! KB0413: MPIJob v1 where its launcher is refused.

use crate::model::Benchmark;
use crate::model::target::PodSecurity;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports any `MPIJob` of v1 on a target whose namespace is restricted.
pub(super) fn possible(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    if benchmark.target.pod_security != PodSecurity::Restricted {
        return;
    }
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        if workload.key != "mpiJob" || !workload.roles.iter().any(|role| role.needs_token) {
            continue;
        }
        let message =
            format!("an MPIJob of v1 cannot start on the target `{}`, which is `restricted`", benchmark.target.name);
        let fault = Diagnostic::at(&code::KB0413, workload.span, message).note(
            "its operator adds a container without security settings to the launcher; the API server refuses that pod, \
             the job does not report it, and the run hangs until its timeout",
        );
        diagnostics.push(fault.help(
            "name targets that are not `restricted`, or install the MPI operator there and set `apis: {mpiJob: v2beta1}`",
        ));
    }
}
