//! KB0420: metrics read from a file that stays in the pod.

use crate::model::{Benchmark, Metric};
use kubebench_extract::tool::tool;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports metrics that are read from a file which neither the pods nor a `postprocess` can put on the results volume.
pub(super) fn reachable(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let is_postprocessed = benchmark.cases.iter().any(|case| case.postprocess.is_some());
    if benchmark.mount_in_job || is_postprocessed {
        return;
    }
    let is_known = |metric: &&Metric| metric.tool.as_ref().is_none_or(|wanted| tool(&wanted.tool).is_some());
    for span in benchmark.metrics.iter().filter(is_known).filter_map(|metric| metric.file_span) {
        let fault = Diagnostic::at(&code::KB0420, span, "this file is on a volume that the pods do not mount");
        diagnostics.push(
            fault
                .note("a file in a pod's own file system is lost with the pod, so the metric would have no value")
                .help(
                    "add `results: {mountInJob: true}` and let the program write below `$KUBEBENCH_EXP_OUTPUT_PATH`, \
                     or print the value and read it from the log",
                ),
        );
    }
}
