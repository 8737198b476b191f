//! KB0347: objects that keep one name, while several runs are to exist at once.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports `parallelism` above 1 with objects that would all have the same name.
pub(super) fn alone(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    if benchmark.parallelism < 2 {
        return;
    }
    let workloads = benchmark.cases.iter().map(|case| &case.workload);
    let named = workloads.flat_map(|workload| {
        let own = workload.given.iter().filter_map(|given| Some((&workload.api.kind, given.name.as_ref()?)));
        own.chain(workload.supporting.iter().filter_map(|object| Some((&object.api.kind, object.name.as_ref()?))))
    });
    if let Some((kind, name)) = named.into_iter().next() {
        let runs = benchmark.parallelism;
        let message = format!("{runs} runs at once would each need a {kind} `{name}`");
        let fault = Diagnostic::at(&code::KB0347, benchmark.parallelism_span, message).note(
            "objects of a manifest keep their names where other objects refer to them, so the second run would \
             find the first run's object",
        );
        diagnostics.push(fault.help("delete `parallelism`, so that the runs come one after another"));
    }
}
