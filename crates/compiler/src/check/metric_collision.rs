//! KB0312: two metrics of one name.

use crate::model::{Benchmark, Metric};
use kubebench_extract::tool::tool;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::MetricSelector;

/// A metric of results, as far as it is known before a run.
struct Brought {
    selector: MetricSelector,
    span: Span,
    is_of_tool: bool,
}

/// Reports metrics that two rules bring under one name. Names that only the output of a tool has are compared when a run ends.
pub(super) fn told_apart(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let mut known: Vec<Brought> = Vec::new();
    for metric in &benchmark.metrics {
        // A rule that brings much is reported once.
        let mut first = None;
        let all = brought(metric);
        for one in &all {
            let same = known.iter().find(|other| is_same(&other.selector, &one.selector));
            first = first.or_else(|| same.map(|other| (one, other.span, one.is_of_tool || other.is_of_tool)));
        }
        if let Some((one, earlier, is_of_tool)) = first {
            let name = &one.selector;
            let fault = Diagnostic::at(&code::KB0312, one.span, format!("a metric `{name}` exists already"));
            let fault = fault.related(Place::Span(earlier), "first");
            diagnostics.push(if is_of_tool {
                let own = name.name();
                fault.note("results, gates and histories would take the values of both for one series").help(format!(
                    "tell them apart in `tool`: `labels: {{part: a}}`, `prefix: a-` or `rename: {{{own}: a-{own}}}`"
                ))
            } else {
                fault.help("give one of them another name")
            });
        }
        known.extend(all);
    }
}

fn brought(metric: &Metric) -> Vec<Brought> {
    let Some(of_tool) = &metric.tool else {
        let own = metric.name.as_deref().map(|name| Brought {
            selector: MetricSelector::of(name),
            span: metric.span,
            is_of_tool: false,
        });
        return own.into_iter().collect();
    };
    let asked = of_tool.names.clone().unwrap_or_else(|| {
        let tool = tool(&of_tool.tool);
        let names = tool.into_iter().flat_map(|tool| tool.fixed_names().into_iter().filter(|name| tool.brings(name)));
        names.map(|name| (name, of_tool.span)).collect()
    });
    let named = |(own, span): (String, Span)| Brought {
        selector: of_tool.naming.selector(&MetricSelector::of(&own)),
        span,
        is_of_tool: true,
    };
    asked.into_iter().map(named).collect()
}

/// Returns whether one series may be both: the names are equal, and no label tells them apart.
fn is_same(one: &MetricSelector, other: &MetricSelector) -> bool {
    let differs = |(label, value): (&String, &String)| other.labels().get(label).is_some_and(|known| known != value);
    one.name() == other.name() && !one.labels().iter().any(differs)
}
