//! KB0409: metrics that cannot be judged.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports metrics without a direction that is better; metrics of a known tool have one.
pub(super) fn given(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for metric in benchmark.metrics.iter().filter(|metric| metric.direction.is_none() && metric.tool.is_none()) {
        let Some(name) = &metric.name else { continue };
        // KB0333 has said it of a gate.
        if benchmark.gates.iter().any(|gate| gate.max_regression.is_some() && gate.metric == *name) {
            continue;
        }
        let message = format!("`{name}` does not say whether higher or lower is better");
        let fault = Diagnostic::at(&code::KB0409, metric.span, message);
        diagnostics.push(
            fault
                .note("a change can be shown, but neither a gate nor a report can call it a regression")
                .help("add `better: higher` or `better: lower`"),
        );
    }
}
