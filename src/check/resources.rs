//! KB0403: pods that do not say what they need.

use crate::diag::{Diagnostic, Diagnostics, code};
use crate::model::{Benchmark, Role};

/// Reports roles that give neither a request nor a limit for CPU or memory.
pub(super) fn stated(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        let missing: Vec<&str> = ["cpu", "memory"].into_iter().filter(|resource| !has(role, resource)).collect();
        if missing.is_empty() {
            continue;
        }
        let missing = missing.iter().map(|resource| format!("`{resource}`")).collect::<Vec<_>>().join(" and ");
        let (span, message) = match role.resources_span {
            Some(span) => (span, format!("these resources leave out {missing}")),
            None => (role.span, format!("`{}` has no resources: {missing} are missing", role.name)),
        };
        let fault = Diagnostic::at(&code::KB0403, span, message).note(
            "its pods get what the node has left and are evicted first, so the result depends on who else is there",
        );
        diagnostics.push(fault.help(format!("add {missing}, as in `resources: {{cpu: 8, memory: 32Gi}}`")));
    }
}

/// Kubernetes takes a limit without a request for both.
fn has(role: &Role, resource: &str) -> bool {
    role.requests.contains_key(resource) || role.limits.contains_key(resource)
}
