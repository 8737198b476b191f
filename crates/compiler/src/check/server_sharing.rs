//! KB0449: several runs at once against one server.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports `parallelism` above 1 with a server that is loaded.
pub(super) fn one_at_a_time(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let loads = benchmark.cases.iter().filter_map(|case| case.workload.serving.as_ref()?.load);
    if benchmark.parallelism < 2 || loads.count() == 0 {
        return;
    }
    let message = format!("{} runs at once would load one server", benchmark.parallelism);
    let fault = Diagnostic::at(&code::KB0449, benchmark.parallelism_span, message)
        .note("each would measure only the capacity that the others leave");
    diagnostics.push(fault.help(
        "delete `parallelism`; to load the server from several pods within a run, write `load: {parallelism: …}`",
    ));
}
