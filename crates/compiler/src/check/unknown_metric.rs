//! KB0313: gates, checks and fixtures of metrics that nothing measures.

use crate::model::{Benchmark, ToolMetrics};
use kubebench_extract::tool::{Tool, tool};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};

/// Reports references to unknown metrics. What a tool cannot bring is another finding, and never what is suggested here.
pub(super) fn measured(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let tools: Vec<(&ToolMetrics, Option<&Tool>)> = benchmark
        .metrics
        .iter()
        .filter_map(|metric| metric.tool.as_ref())
        .map(|wanted| (wanted, tool(&wanted.tool)))
        .collect();
    let brings = |name: &str| {
        tools.iter().any(|(wanted, tool)| match (&wanted.names, tool) {
            (Some(names), _) => names.iter().any(|(known, _)| known == name),
            (None, Some(tool)) => tool.brings(name),
            (None, None) => true,
        })
    };
    let own = || benchmark.metrics.iter().filter_map(|metric| metric.name.clone());
    let of_tools = tools.iter().flat_map(|(wanted, tool)| match (&wanted.names, tool) {
        (Some(names), tool) => names
            .iter()
            .filter(|(name, _)| tool.is_none_or(|tool| tool.reports(name)))
            .map(|(name, _)| name.clone())
            .collect(),
        (None, Some(tool)) => tool.fixed_names().into_iter().filter(|name| tool.brings(name)).collect(),
        (None, None) => Vec::new(),
    });
    let known: Vec<String> = own().chain(of_tools).collect();
    let is_known = |name: &str| own().any(|known| known == name) || brings(name);
    for reference in benchmark.references.iter().filter(|reference| !is_known(&reference.name)) {
        let message = format!("this {} is about `{}`, which nothing measures", reference.by, reference.name);
        let note = match reference.by {
            "fixture" => "no log could have the value that it expects",
            _ => "it would never find a value, so it would never fail",
        };
        let fault = Diagnostic::at(&code::KB0313, reference.span, message).note(note);
        let now = tools.iter().find_map(|(_, tool)| tool.and_then(|tool| tool.name_now(&reference.name)));
        let help = match now.map(|now| format!("it is called `{now}` now")) {
            Some(help) => help,
            None => help(&reference.name, &tools, &known),
        };
        diagnostics.push(fault.help(help));
    }
}

/// Says what to write in the place of a name that nothing measures.
fn help(name: &str, tools: &[(&ToolMetrics, Option<&Tool>)], known: &[String]) -> String {
    let can_bring = |(_, tool): &&(&ToolMetrics, Option<&Tool>)| tool.is_some_and(|tool| tool.brings(name));
    match (tools.iter().find(can_bring), did_you_mean(name, known.iter().map(String::as_str))) {
        (Some((wanted, _)), _) => format!("add `{name}` to the `metrics` of `{}`, which reports it", wanted.tool),
        (None, Some(close)) => format!("did you mean `{close}`?"),
        (None, None) if known.is_empty() => "add the metric under `metrics`".to_owned(),
        (None, None) => format!("write one of {}, or add it under `metrics`", quoted(known)),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
