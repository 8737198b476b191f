//! Gates that could not decide: without a bound, between bounds that exclude each other, twice about one thing.

use crate::model;
use kubebench_format::spec::v1::metric::{Gate, GateBaseline, Metric};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::MetricSelector;
use kubebench_syntax::yaml::Node;

/// Returns the gates of `spec`, reporting what keeps them from deciding.
pub(super) fn gates(
    wires: &[Gate],
    metrics: &[Metric],
    spec: &Node,
    diagnostics: &mut Diagnostics,
) -> Vec<model::Gate> {
    check(wires, metrics, spec, diagnostics);
    let nodes = spec.items_of("gates");
    let gate = |(wire, node): (&Gate, &Node)| model::Gate {
        metric: wire.metric.clone(),
        span: node.get("metric").map_or(node.span, |metric| metric.span),
        max_regression: wire.max_regression.as_ref().map(|share| share.0.fraction()),
        min: wire.min.as_ref().map(|min| min.0),
        max: wire.max.as_ref().map(|max| max.0),
        is_confirmed: wire.confirm.is_some(),
        baseline: baseline(wire.baseline.as_ref()),
    };
    wires.iter().zip(nodes).map(gate).collect()
}

fn baseline(wire: Option<&GateBaseline>) -> model::GateBaseline {
    match wire {
        Some(GateBaseline { branch: Some(branch), .. }) => model::GateBaseline::Branch(branch.0.clone()),
        Some(GateBaseline { tag: Some(tag), .. }) => model::GateBaseline::Tag(tag.0.clone()),
        Some(GateBaseline { value: Some(value), .. }) => model::GateBaseline::Value(value.0),
        Some(_) | None => model::GateBaseline::Default,
    }
}

fn check(gates: &[Gate], metrics: &[Metric], spec: &Node, diagnostics: &mut Diagnostics) {
    let mut decided: Vec<(MetricSelector, &str, model::GateBaseline, Span)> = Vec::new();
    for (gate, node) in gates.iter().zip(spec.items_of("gates")) {
        let name = gate.metric.as_str();
        // Spaces, quotes and the order of labels make no other series.
        let selector = MetricSelector::of(name);
        let bounds = [
            ("maxRegression", gate.max_regression.is_some()),
            ("min", gate.min.is_some()),
            ("max", gate.max.is_some()),
        ];
        if bounds.iter().all(|(_, given)| !given) {
            let fault = Diagnostic::at(&code::KB0202, node.span, "this gate has no limit");
            diagnostics.push(fault.help("add `maxRegression: 3%`, `min: …` or `max: …`"));
        }
        let span = |field: &str| node.get(field).map_or(node.span, |value| value.span);
        if let (Some(min), Some(max)) = (&gate.min, &gate.max)
            && min.0 > max.0
        {
            let message = format!("no value of `{name}` is at least {} and at most {}", min.0, max.0);
            let fault =
                Diagnostic::at(&code::KB0333, span("max"), message).related(Place::Span(span("min")), "the other");
            diagnostics.push(fault.note("the gate would fail for every revision").help("swap them, or keep one"));
        }
        if gate.max_regression.is_some() && has_no_direction(metrics, name) {
            let message = format!("`{name}` has no direction, so no change of it is a regression");
            let fault = Diagnostic::at(&code::KB0333, span("maxRegression"), message);
            diagnostics.push(fault.note("the gate would never fail").help(format!(
                "add `better: higher` or `better: lower` to the metric `{name}`, or write `min: …` or `max: …` here"
            )));
        }
        for (field, _) in bounds.into_iter().filter(|(_, given)| *given) {
            // The level of a release and that of last week are two different baselines; limits have none.
            let against = match field {
                "maxRegression" => baseline(gate.baseline.as_ref()),
                _ => model::GateBaseline::Default,
            };
            let same = decided.iter().find(|(of, bound, base, _)| (of, *bound, base) == (&selector, field, &against));
            if let Some((_, _, _, first)) = same {
                let message = format!("another gate already has a `{field}` for `{name}`");
                let fault = Diagnostic::at(&code::KB0333, span(field), message).related(Place::Span(*first), "first");
                diagnostics.push(fault.note("only the stricter one would have an effect").help("keep one of them"));
            } else {
                decided.push((selector.clone(), field, against, span(field)));
            }
        }
    }
}

/// Returns true when the metric is listed without a direction; a tool's own metrics have one.
fn has_no_direction(metrics: &[Metric], name: &str) -> bool {
    let mut listed = metrics.iter().filter(|metric| metric.name.as_deref() == Some(name));
    listed.any(|metric| metric.better.is_none() && metric.from.tool.is_none())
}

#[cfg(test)]
mod tests;
