//! KB0371: units into which the values of a source cannot be converted.

use crate::model::{Benchmark, Metric};
use kubebench_extract::tool::tool;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::unit::MetricUnit;

/// Reports a `unit` that measures something else than the source does. Of files and logs that is known only when a run ends.
pub(super) fn fits(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for metric in &benchmark.metrics {
        let Some((unit, span)) = metric.unit.as_deref().zip(metric.unit_span) else { continue };
        let wanted = MetricUnit::of(unit);
        let is_other = |(_, own): &(String, &str)| MetricUnit::of(own).conversion_of_source_to(&wanted).is_none();
        let Some((what, own)) = reported(metric).into_iter().find(is_other) else { continue };
        let message = format!("{what} is in `{own}`, which cannot be converted into `{unit}`");
        let fault = Diagnostic::at(&code::KB0371, span, message).note("every run would end without this value");
        diagnostics.push(match &metric.tool {
            Some(of_tool) if of_tool.names.as_ref().is_none_or(|names| names.len() > 1) => fault.help(
                "delete `unit`, which applies to every metric of the rule, or choose metrics that have it: `tool: \
                 {metrics: […]}`",
            ),
            _ => fault.help(format!("write `unit: {own}`, or a unit of the same kind")),
        });
    }
}

/// Returns what a metric reads that has a unit of its own, in the words of its author, and the unit.
fn reported(metric: &Metric) -> Vec<(String, &'static str)> {
    let Some(of_tool) = &metric.tool else {
        return metric.own_unit.map(|(source, unit)| (format!("`{source}`"), unit)).into_iter().collect();
    };
    let Some(tool) = tool(&of_tool.tool) else { return Vec::new() };
    let names = of_tool.asked().into_iter().map(|(asked, _)| asked.name().to_owned());
    // A value that a tool prints without a unit gets that of the spec.
    let unit = |name: &str| tool.unit_of(name).filter(|unit| !MetricUnit::of(unit).is_pure());
    names.filter_map(|name| unit(&name).map(|unit| (format!("`{name}` of {}", of_tool.tool), unit))).collect()
}
