//! KB0324: metrics read from the log of a role that does not exist, or not in every case that needs them.

use std::collections::BTreeSet;

use crate::model::{Benchmark, Case, Workload};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::text::Span;

/// Reports metrics whose role exists in no case, or not in every case where a run without the metric is invalid.
pub(super) fn exists(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let roles: BTreeSet<&str> = benchmark.cases.iter().flat_map(|case| roles_of(&case.workload)).collect();
    if roles.is_empty() {
        return;
    }
    for metric in &benchmark.metrics {
        let Some((name, span)) = &metric.role else { continue };
        if roles.contains(name.as_str()) {
            let lacks = |case: &&Case| {
                let roles = roles_of(&case.workload);
                !roles.is_empty() && !roles.contains(name.as_str())
            };
            if let Some(case) = benchmark.cases.iter().find(lacks).filter(|_| metric.is_needed) {
                diagnostics.push(lacking(case, name, *span));
            }
            continue;
        }
        let list = roles.iter().map(|role| format!("`{role}`")).collect::<Vec<_>>().join(", ");
        let fault = Diagnostic::at(&code::KB0324, *span, format!("the workload has no role `{name}`"))
            .note(format!("its roles: {list}"));
        diagnostics.push(match did_you_mean(name, roles.iter().copied()) {
            Some(close) => fault.did_you_mean(*span, close),
            None => fault.help("write one of its roles, or leave `role` out to read every log"),
        });
    }
}

/// Returns the names of the roles of `workload`. Of a Workflow's templates some have an image that is known only when they run, so
/// they are no roles of the model.
fn roles_of(workload: &Workload) -> BTreeSet<&str> {
    let spec = Some(workload).filter(|workload| workload.api.kind == "Workflow").and_then(Workload::given_spec);
    let templates = spec.and_then(|spec| spec.get("templates")?.as_array()).into_iter().flatten();
    let templates = templates.filter_map(|template| template.get("name")?.as_str());
    workload.roles.iter().map(|role| role.name.as_str()).chain(templates).collect()
}

fn lacking(case: &Case, name: &str, span: Span) -> Diagnostic {
    let list = roles_of(&case.workload).iter().map(|role| format!("`{role}`")).collect::<Vec<_>>().join(", ");
    let message = format!("the workload has no role `{name}` in the case {}", case.name);
    Diagnostic::at(&code::KB0324, span, message)
        .note(format!("its roles there: {list}; a run without the metric is invalid"))
        .help("leave `role` out to read every log, or make the metric neither `primary` nor `required`")
}
