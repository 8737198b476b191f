//! KB0312: two metrics of one name.

use std::collections::BTreeMap;

use crate::model::{Benchmark, Metric};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::MetricSelector;

/// A metric of results.
struct Brought<'m> {
    metric: &'m Metric,
    selector: MetricSelector,
    span: Span,
}

/// Reports metrics that two rules report under one name. Names that are only in the output of a tool are compared after a run.
pub(super) fn distinguishable(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let mut known: Vec<Brought<'_>> = Vec::new();
    for metric in &benchmark.metrics {
        let all: Vec<Brought<'_>> =
            metric.brought().into_iter().map(|(selector, span)| Brought { metric, selector, span }).collect();
        // A rule with many metrics is reported once.
        let clash = all.iter().find_map(|one| Some((one, known.iter().find(|other| is_same(other, one))?)));
        if let Some((one, earlier)) = clash {
            let fault = Diagnostic::at(&code::KB0312, one.span, format!("a metric `{}` already exists", one.selector))
                .related(Place::Span(earlier.span), "first");
            let of_tool = [one, earlier].into_iter().find_map(|brought| Some((brought, brought.metric.tool.as_ref()?)));
            diagnostics.push(if let Some((brought, tool)) = of_tool {
                let own = tool.naming.of_brought(&brought.selector);
                let (own, name) = (own.name(), brought.selector.name());
                fault.note("results, gates and histories would treat the values of both as one series").help(format!(
                    "tell them apart in `tool`: `labels: {{part: a}}`, `prefix: a-` or `rename: {{{own}: a-{name}}}`"
                ))
            } else {
                fault.help("give one of them another name")
            });
        }
        known.extend(all);
    }
}

/// Returns whether two series may be the same: names and labels of the rules are equal, and no requested label differs.
fn is_same(one: &Brought<'_>, other: &Brought<'_>) -> bool {
    let none = BTreeMap::new();
    let [first, second] =
        [one, other].map(|brought| brought.metric.tool.as_ref().map_or(&none, |tool| tool.naming.labels()));
    one.selector.name() == other.selector.name() && first == second && !one.selector.excludes(&other.selector)
}
