//! KB0411: runs that may hang for a day.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports benchmarks for which neither the spec nor the project sets a timeout.
pub(super) fn set(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let Some(case) = benchmark.cases.first().filter(|_| !benchmark.timeout_is_set) else { return };
    let message = format!("`timeout` is not set, so a run that hangs holds its nodes for {}", case.timeout);
    let fault = Diagnostic::at(&code::KB0411, benchmark.name_span, message);
    diagnostics.push(
        fault
            .note("every later run of the benchmark waits as well")
            .help("set about twice the usual duration of a run, such as `timeout: 2h`; time in a queue does not count"),
    );
}
