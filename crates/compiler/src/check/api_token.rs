//! KB0373: pods that have a token of the API server, because their kind cannot work without one, or because a manifest leaves it to them.

use crate::model::{Benchmark, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::Value;

/// Says which pods these are.
pub(super) fn shown(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        for role in workload.pods() {
            let why = if role.needs_token {
                "their kind needs the token"
            } else if workload.given.is_some() && !refuses(role) {
                "the manifest does not set `automountServiceAccountToken: false`"
            } else {
                continue;
            };
            let message = format!("the pods of `{}` get a token for the Kubernetes API", role.name);
            let finding = Diagnostic::at(&code::KB0373, role.span, message).info();
            let finding = finding.value(format!("the cluster's API ({})", role.name));
            let account = role.service_account.as_ref().map_or_else(String::new, |name| format!(" `{name}`"));
            diagnostics.push(
                finding
                    .note(format!("{why}; the RBAC roles of their service account{account} decide what they may do")),
            );
        }
    }
}

/// Returns whether the pod of a manifest says that it needs no token.
fn refuses(role: &Role) -> bool {
    let said = role.pod_patches.iter().find_map(|pod| pod.get("automountServiceAccountToken"));
    said.is_some_and(|said| said.value == Value::Bool(false))
}
