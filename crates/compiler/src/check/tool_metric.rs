//! KB0355: names that a tool's metrics do not have.

use crate::model::Benchmark;
use kubebench_extract::tool::tool;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean, likely};
use kubebench_syntax::unit::MetricSelector;
use kubebench_syntax::yaml::write_string_scalar;

/// Reports names in `metrics` that the tool reports in no version of it, and that no output can make.
pub(super) fn reported(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for wanted in benchmark.metrics.iter().filter_map(|metric| metric.tool.as_ref()) {
        let Some(tool) = tool(&wanted.tool) else { continue };
        let asked =
            wanted.names.iter().flatten().map(|(name, span)| (MetricSelector::of(name).name().to_owned(), *span));
        let named = asked.chain(wanted.renamed.iter().cloned());
        for (name, span) in named.filter(|(name, _)| !tool.reports(name)) {
            let name = name.as_str();
            let fault = Diagnostic::at(&code::KB0355, span, format!("`{}` reports no metric `{name}`", wanted.tool))
                .note("every run would end without it");
            let names: Vec<String> = (tool.metrics)().iter().flat_map(|metric| metric.names()).collect();
            let close = likely(name, names.iter().map(String::as_str));
            let meant =
                tool.name_now(name).or_else(|| did_you_mean(name, names.iter().map(String::as_str)).map(Into::into));
            let fault = match meant {
                Some(meant) => fault.likely_fix(span, write_string_scalar(&meant)),
                None => fault,
            };
            let help = match (tool.name_now(name), close) {
                (Some(now), _) => format!("write `{now}`, its current name"),
                (None, Some(close)) => {
                    format!("did you mean {close}? `kubebench explain tool.{}` lists all", tool.name)
                }
                (None, None) => tool.what_it_brings(),
            };
            diagnostics.push(fault.help(help));
        }
    }
}
