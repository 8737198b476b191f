//! KB0404: amounts of devices that the API server refuses.

use std::collections::BTreeSet;

use crate::model::workload::is_extended;
use crate::model::{Benchmark, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports devices whose request and limit differ, that have no limit, or that are not whole.
pub(super) fn whole_and_equal(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        let names: BTreeSet<&String> = role.requests.keys().chain(role.limits.keys()).collect();
        for name in names.into_iter().filter(|name| is_extended(name)) {
            let Some(Refusal { message, rule, help }) = refusal(role, name) else { continue };
            let fault = Diagnostic::at(&code::KB0404, role.resources_span.unwrap_or(role.span), message);
            let note =
                format!("Kubernetes refuses every such pod ({rule}), so the job would wait for pods until its timeout");
            diagnostics.push(fault.note(note).help(help));
        }
    }
}

/// What is wrong with the amount of a device.
struct Refusal {
    message: String,
    rule: String,
    help: String,
}

fn refusal(role: &Role, name: &str) -> Option<Refusal> {
    let (request, limit) = (role.requests.get(name), role.limits.get(name));
    if let Some(amount) = [request, limit].into_iter().flatten().find(|amount| !amount.is_integer()) {
        return Some(Refusal {
            message: format!("`{amount}` of `{name}` is not a whole number"),
            rule: "its rule: \"must be an integer\"".to_owned(),
            help: "write a whole number; a share of a device is a separate resource, such as `nvidia.com/gpu.shared`"
                .to_owned(),
        });
    }
    match (request, limit) {
        (Some(request), Some(limit)) if request != limit => Some(Refusal {
            message: format!("the request of `{name}` is {request}, but its limit is {limit}"),
            rule: format!("its rule: \"must be equal to {name} limit of {limit}\""),
            help: format!("write `{name}: {limit}` directly under `resources`, which sets both"),
        }),
        (Some(request), None) => Some(Refusal {
            message: format!("`{name}` has a request but no limit"),
            rule: "its rule: \"Limit must be set for non overcommitable resources\"".to_owned(),
            help: format!("write `{name}: {request}` directly under `resources`, which sets both"),
        }),
        (Some(_) | None, Some(_)) | (None, None) => None,
    }
}
