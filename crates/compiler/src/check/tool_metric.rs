//! KB0355: names that a tool's metrics do not have.

use crate::model::Benchmark;
use kubebench_extract::tool::tool;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};

/// Reports names in `metrics` that the tool reports in no version of it, where it names its metrics and not its user.
pub(super) fn reported(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for wanted in benchmark.metrics.iter().filter_map(|metric| metric.tool.as_ref()) {
        let Some(metrics) = tool(&wanted.tool).and_then(|tool| tool.metrics) else { continue };
        let metrics = metrics();
        let names: Vec<String> = metrics.iter().flat_map(|metric| metric.names()).collect();
        let series: Vec<&str> = metrics.iter().map(|metric| metric.name).collect();
        let is_unknown = |name: &str| !names.iter().any(|known| known == name);
        for (name, span) in wanted.names.iter().flatten().filter(|(name, _)| is_unknown(name)) {
            let fault = Diagnostic::at(&code::KB0355, *span, format!("`{}` reports no metric `{name}`", wanted.tool))
                .note("every run would end without it");
            let close = did_you_mean(name, names.iter().map(String::as_str));
            let help = close.map_or_else(
                || format!("its metrics are {}", series.join(", ")),
                |close| format!("did you mean `{close}`?"),
            );
            diagnostics.push(fault.help(help));
        }
    }
}
