//! KB0410: benchmarks without a metric to judge them by.

use crate::model::{Benchmark, Metric};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports benchmarks that measure nothing, or several metrics of which none is primary.
pub(super) fn chosen(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let Some(first) = benchmark.metrics.first() else {
        let fault = Diagnostic::at(&code::KB0410, benchmark.name_span, "this benchmark measures nothing");
        diagnostics.push(fault.note("its runs would end without a number that can be compared").help(
            "add a metric; the simplest is \
                 `metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]`",
        ));
        return;
    };
    let is_one = benchmark.metrics.len() == 1 && is_single(first);
    if is_one || benchmark.metrics.iter().any(|metric| metric.primary) {
        return;
    }
    let fault = Diagnostic::at(&code::KB0410, first.span, "several metrics are measured, and none of them is primary");
    diagnostics.push(
        fault
            .note("of many metrics judged alike, some look worse by chance, and each of those is a false alarm")
            .help("add `primary: true` to the one that the benchmark is made for"),
    );
}

/// A tool gives as many metrics as are asked for; without names, all that it has.
fn is_single(metric: &Metric) -> bool {
    metric.tool.as_ref().is_none_or(|tool| tool.names.as_ref().is_some_and(|names| names.len() == 1))
}
