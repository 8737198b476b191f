//! KB0373: pods that have a token of the API server because their kind cannot work without one.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};

/// Says which pods these are.
pub(super) fn shown(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        for role in workload.pods().filter(|role| role.needs_token) {
            let message = format!("the pods of `{}` have a token of the cluster's API", role.name);
            let mut fault = Diagnostic::at(&code::KB0373, role.span, message);
            fault.severity = Severity::Info;
            let account = role.service_account.as_ref().map_or_else(String::new, |name| format!(" `{name}`"));
            diagnostics.push(
                fault.note(format!("their kind needs it; what they may do with it, their account{account} says")),
            );
        }
    }
}
