//! KB0324: metrics read from the log of a role that does not exist.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use crate::model::{Benchmark, Workload};

/// Reports metrics whose role the workload does not have in any case.
pub(super) fn exists(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let workloads = || benchmark.cases.iter().map(|case| &case.workload);
    let mut roles: BTreeSet<&str> =
        workloads().flat_map(|workload| &workload.roles).map(|role| role.name.as_str()).collect();
    // Of a Workflow's templates some have an image that is known only when they run, so they are no roles of the model.
    let templates = workloads().filter(|workload| workload.api.kind == "Workflow").filter_map(Workload::given_spec);
    let templates = templates.filter_map(|spec| spec.get("templates")?.as_array()).flatten();
    roles.extend(templates.filter_map(|template| template.get("name")?.as_str()));
    if roles.is_empty() {
        return;
    }
    let wanted = benchmark.metrics.iter().filter_map(|metric| metric.role.as_ref());
    for (name, span) in wanted.filter(|(name, _)| !roles.contains(name.as_str())) {
        let list = roles.iter().map(|role| format!("`{role}`")).collect::<Vec<_>>().join(", ");
        let fault = Diagnostic::at(&code::KB0324, *span, format!("the workload has no role `{name}`"))
            .note(format!("its roles: {list}"));
        diagnostics.push(match did_you_mean(name, roles.iter().copied()) {
            Some(close) => fault.help(format!("did you mean `{close}`?")),
            None => fault.help("write one of its roles, or leave `role` out to read every log"),
        });
    }
}
