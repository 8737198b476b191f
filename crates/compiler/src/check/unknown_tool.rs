//! KB0362: metrics of tools whose output nothing here reads.

use crate::model::Benchmark;
use kubebench_extract::tool::{TOOLS, tool};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean, likely};

/// Reports tools that do not exist.
pub(super) fn known(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let wanted = benchmark.metrics.iter().filter_map(|metric| metric.tool.as_ref());
    for wanted in wanted.filter(|wanted| tool(&wanted.tool).is_none()) {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let fault = Diagnostic::at(&code::KB0362, wanted.span, format!("there is no tool `{}`", wanted.tool))
            .note(format!("tools are {}", names.join(", ")));
        let close = did_you_mean(&wanted.tool, names.iter().copied());
        diagnostics.push(match (close, likely(&wanted.tool, names.iter().copied())) {
            (Some(close), _) => fault.did_you_mean(wanted.span, close),
            (None, Some(likely)) => fault.help(format!("did you mean {likely}?")),
            (None, None) => fault.help("read its output by `log`, `keyValue`, `json` or another source"),
        });
    }
}
