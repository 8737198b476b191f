//! KB0313: gates, checks and fixtures of metrics that nothing measures.

use crate::model::{Benchmark, ToolMetrics};
use kubebench_extract::tool::{Tool, tool};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::{MetricSelector, UnitError};
use kubebench_syntax::yaml::write_string_scalar;

/// Reports references to unknown metrics. What a tool cannot measure is another finding, and is never suggested here.
pub(super) fn measured(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let tools: Vec<(&ToolMetrics, Option<&Tool>)> = benchmark
        .metrics
        .iter()
        .filter_map(|metric| metric.tool.as_ref())
        .map(|wanted| (wanted, tool(&wanted.tool)))
        .collect();
    let brings = |asked: &MetricSelector| {
        tools.iter().any(|(wanted, tool)| match (brought(wanted), tool) {
            // The unknown tool is a finding, and its metrics are unknown.
            (_, None) => true,
            (Some(names), Some(_)) => names.iter().any(|known| known.name() == asked.name() && !known.excludes(asked)),
            (None, Some(tool)) => {
                let own = wanted.naming.of_brought(asked);
                let brought = wanted.naming.selector(&own);
                tool.brings(own.name()) && brought.name() == asked.name() && !brought.excludes(asked)
            }
        })
    };
    let is_misnamed = |asked: &MetricSelector| {
        benchmark.metrics.iter().any(|metric| metric.tool.is_some() && metric.name.as_deref() == Some(asked.name()))
    };
    // A name next to a tool is another finding.
    let own =
        || benchmark.metrics.iter().filter(|metric| metric.tool.is_none()).filter_map(|metric| metric.name.clone());
    let of_tools = tools.iter().flat_map(|(wanted, tool)| match (&wanted.names, tool) {
        (Some(names), tool) => names
            .iter()
            .map(|(name, _)| MetricSelector::of(name))
            .filter(|name| tool.is_none_or(|tool| tool.reports(name.name())))
            .map(|name| wanted.naming.selector(&name).to_string())
            .collect(),
        (None, Some(tool)) => {
            let fixed = tool.fixed_names().into_iter().filter(|name| tool.brings(name));
            fixed.map(|name| wanted.naming.name(&name)).collect()
        }
        (None, None) => Vec::new(),
    });
    let known: Vec<String> = own().chain(of_tools).collect();
    let is_known =
        |asked: &MetricSelector| asked.labels().is_empty() && own().any(|known| known == asked.name()) || brings(asked);
    for reference in &benchmark.references {
        let asked = match MetricSelector::parse(&reference.name) {
            Ok(asked) => asked,
            Err(UnitError { message, help, .. }) => {
                let fault = Diagnostic::at(&code::KB0313, reference.span, message);
                diagnostics.push(help.into_iter().fold(fault, Diagnostic::help));
                continue;
            }
        };
        if is_known(&asked) || is_misnamed(&asked) {
            continue;
        }
        let message = format!("there is no metric `{}` for this {}", reference.name, reference.by);
        let fault = Diagnostic::at(&code::KB0313, reference.span, message);
        let now = tools.iter().find_map(|(_, tool)| tool.and_then(|tool| tool.name_now(asked.name())));
        diagnostics.push(match now {
            Some(now) => fault
                .help(format!("write `{now}`, its current name"))
                .likely_fix(reference.span, write_string_scalar(&now)),
            None => advised(fault, reference.span, &asked, &tools, &known),
        });
    }
}

/// Returns the metrics of a rule, if it lists them.
fn brought(wanted: &ToolMetrics) -> Option<Vec<MetricSelector>> {
    let names = wanted.names.as_ref()?.iter();
    Some(names.map(|(name, _)| wanted.naming.selector(&MetricSelector::of(name))).collect())
}

/// Says what to write in the place of a name that nothing measures. A tool whose output alone has the names may report any: what is close
/// to a known one is more likely mistyped.
fn advised(
    fault: Diagnostic,
    span: Span,
    asked: &MetricSelector,
    tools: &[(&ToolMetrics, Option<&Tool>)],
    known: &[String],
) -> Diagnostic {
    let of_tool = tools.iter().find_map(|(wanted, tool)| {
        let own = wanted.naming.of_brought(asked);
        tool.filter(|tool| tool.brings(own.name())).map(|tool| (wanted, tool, own))
    });
    let is_fixed =
        |(_, tool, own): &(_, &Tool, MetricSelector)| tool.fixed_names().iter().any(|name| name == own.name());
    match (of_tool, did_you_mean(&asked.to_string(), known.iter().map(String::as_str))) {
        (Some(found), close) if close.is_none() || is_fixed(&found) => {
            let (wanted, _, own) = &found;
            let which = if is_fixed(&found) { ", which reports it" } else { ", if its output has it" };
            fault.help(format!("add `{own}` to the `metrics` of `{}`{which}", wanted.tool))
        }
        (_, Some(close)) => fault.did_you_mean(span, close),
        (_, None) if known.is_empty() => fault.help("add the metric under `metrics`"),
        (_, None) => fault.help(format!("write one of {}, or add it under `metrics`", quoted(known))),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
