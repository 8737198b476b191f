//! KB0428: queries that no server answers.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports Prometheus queries on a target that names no Prometheus.
pub(super) fn named(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    if benchmark.target.prometheus.is_some() {
        return;
    }
    let target = &benchmark.target.name;
    for (_, span) in &benchmark.queries {
        let message = format!("the target `{target}` names no Prometheus that could answer this query");
        diagnostics.push(
            Diagnostic::at(&code::KB0428, *span, message).note("every run there would end without the metric").help(
                "add `prometheus: {url: …}` to the target in kubebench.yaml, or \
                     restrict `targets` to those that have one",
            ),
        );
    }
}
