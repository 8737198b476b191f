//! KB0416: more runs than one Workflow can keep track of.

use crate::expand::MAX_RUNS;
use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports benchmarks with more runs.
pub(super) fn respected(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let runs = benchmark.runs();
    if runs <= MAX_RUNS as u64 {
        return;
    }
    let message = format!("{runs} runs in one Workflow are more than {MAX_RUNS}");
    let fault = Diagnostic::at(&code::KB0416, benchmark.name_span, message);
    diagnostics.push(
        fault
            .note(format!(
                "cases × (repeats + warmups): {} × ({} + {})",
                benchmark.cases.len(),
                benchmark.repeats,
                benchmark.warmups
            ))
            .note("Argo keeps the state of every run in one object, and cannot save it beyond about 1 MiB")
            .help("use fewer cases or repeats, or split the matrix over two benchmarks"),
    );
}
