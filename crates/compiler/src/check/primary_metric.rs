//! KB0375 and KB0410: benchmarks without one metric to judge them by.

use crate::model::{Benchmark, Metric, ToolMetrics};
use kubebench_extract::tool::tool;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

const FALSE_ALARMS: &str = "among many metrics, some look worse by chance, and each of those is a false alarm";

/// Reports benchmarks that measure nothing, or several metrics of which none is primary.
pub(super) fn chosen(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let Some(first) = benchmark.metrics.first() else {
        let fault = Diagnostic::at(&code::KB0410, benchmark.name_span, "this benchmark measures nothing");
        diagnostics.push(fault.help(
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
    diagnostics.push(fault.note(FALSE_ALARMS).help(advice(first)));
}

/// Says how one metric becomes primary; a rule with several metrics cannot be primary.
fn advice(first: &Metric) -> String {
    match first.tool.as_ref().filter(|_| !is_single(first)) {
        Some(wanted) => format!(
            "choose the one that the benchmark is made for: `- {{primary: true, from: {{tool: {{name: {}, metrics: [{}]}}}}}}`, \
             and name the others in a rule of their own",
            wanted.tool,
            one_of(wanted)
        ),
        None => "add `primary: true` to the one that the benchmark is made for".to_owned(),
    }
}

/// Returns the first metric that a rule requests, or that its tool has.
fn one_of(wanted: &ToolMetrics) -> String {
    let asked = wanted.names.iter().flatten().next().map(|(name, _)| name.clone());
    let fixed = || tool(&wanted.tool).and_then(|tool| tool.fixed_names().into_iter().find(|name| tool.brings(name)));
    asked.or_else(fixed).unwrap_or_else(|| "NAME".to_owned())
}

/// Reports rules that make several metrics primary.
pub(super) fn single(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for metric in benchmark.metrics.iter().filter(|metric| metric.primary && !is_single(metric)) {
        let Some(wanted) = &metric.tool else { continue };
        let Some(tool) = tool(&wanted.tool) else { continue };
        let asked = wanted.names.as_ref().map(|names| names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
        let count = asked.as_ref().map_or_else(|| "all metrics".to_owned(), |names| format!("{} metrics", names.len()));
        let message = format!("this rule makes {count} of `{}` primary", wanted.tool);
        let brought = asked.map_or_else(|| tool.what_it_brings(), |names| format!("it asks for {}", names.join(", ")));
        diagnostics.push(Diagnostic::at(&code::KB0375, metric.span, message).note(FALSE_ALARMS).note(brought).help(
            format!(
                "name one, such as `metrics: [{}]`, and leave the others to a rule without `primary`",
                one_of(wanted)
            ),
        ));
    }
}

/// A tool has as many metrics as are requested; without names, all of its metrics.
fn is_single(metric: &Metric) -> bool {
    metric.tool.as_ref().is_none_or(|tool| tool.names.as_ref().is_some_and(|names| names.len() == 1))
}
