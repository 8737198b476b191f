//! KB0403: pods that do not say what they need. KB0327: pods that need more than they may use.

use super::pods;
use crate::model::pods::StepPods;
use crate::model::workload::is_extended;
use crate::model::{Benchmark, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::Quantity;

pub(crate) const REFUSED_POD: &str = "Kubernetes would refuse the pod, and the run would wait for it until its timeout";

/// Reports roles, and containers that patches add, with neither a request nor a limit for CPU or memory.
pub(super) fn stated(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        let Some(missing) = missing(|resource| has(role, resource)) else { continue };
        let (span, message) = match role.resources_span {
            Some(span) => (span, format!("these resources leave out {missing}")),
            None => (role.span, format!("`{}` has no resources: {missing} are missing", role.name)),
        };
        diagnostics
            .push(unstated(span, message).help(format!("add {missing}, as in `resources: {{cpu: 8, memory: 32Gi}}`")));
    }
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        for role in workload.pods() {
            for (name, container) in pods::patches(workload, role).added() {
                // A container without an image is not a separate one: it changes the one that Argo adds to the pod.
                if container.iter().all(|node| node.get("image").is_none()) {
                    continue;
                }
                let amounts = || container.iter().filter_map(|node| node.get("resources"));
                let says = |list: &str, resource: &str| {
                    amounts().filter_map(|resources| resources.get(list)).any(|amounts| amounts.get(resource).is_some())
                };
                let Some(missing) = missing(|resource| says("requests", resource) || says("limits", resource)) else {
                    continue;
                };
                let Some(span) = amounts().next_back().or(container.last().copied()).map(|node| node.span) else {
                    continue;
                };
                let message = format!("the container `{name}` leaves out {missing}");
                let help = format!("add {missing}, as in `resources: {{limits: {{cpu: 1, memory: 1Gi}}}}`");
                diagnostics.push(unstated(span, message).help(help));
            }
        }
    }
}

/// Returns which of CPU and memory a container does not have.
fn missing(has: impl Fn(&str) -> bool) -> Option<String> {
    let missing: Vec<String> = ["cpu", "memory"]
        .into_iter()
        .filter(|resource| !has(resource))
        .map(|resource| format!("`{resource}`"))
        .collect();
    (!missing.is_empty()).then(|| missing.join(" and "))
}

fn unstated(span: Span, message: String) -> Diagnostic {
    Diagnostic::at(&code::KB0403, span, message).note(
        "its pods get what the node has left and are evicted first, so the result depends on the other pods of \
         the node",
    )
}

/// Reports requests that are above the limit; those of devices have a rule of their own.
pub(super) fn within_limits(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        for (name, request) in role.requests.iter().filter(|(name, _)| !is_extended(name)) {
            let Some(limit) = role.limits.get(name).filter(|limit| request > limit) else { continue };
            let span = role.request_spans.get(name).copied().or(role.resources_span).unwrap_or(role.span);
            diagnostics.push(above_limit(name, request, limit, span));
        }
    }
    let StepPods { requests, limits, pods } = &benchmark.target.steps;
    for (name, request) in requests {
        let Some(limit) = limits.get(name).filter(|limit| request > limit) else { continue };
        let written = pods.written.as_ref().and_then(|steps| steps.get("resources")?.get("requests")?.get(name));
        diagnostics.push(above_limit(name, request, limit, written.map_or(benchmark.target.span, |value| value.span)));
    }
}

/// Says that the request at `span` is above its limit.
pub(crate) fn above_limit(name: &str, request: &Quantity, limit: &Quantity, span: Span) -> Diagnostic {
    let message = format!("the request of `{name}` ({request}) is above its limit ({limit})");
    Diagnostic::at(&code::KB0327, span, message)
        .note(REFUSED_POD)
        .help(format!("write at most {limit}, or `{name}` directly under `resources`, which sets both"))
}

/// Kubernetes takes a limit without a request for both.
fn has(role: &Role, resource: &str) -> bool {
    role.requests.contains_key(resource) || role.limits.contains_key(resource)
}
