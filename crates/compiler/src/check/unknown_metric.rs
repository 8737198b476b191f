//! KB0313: gates, checks and fixtures of metrics that nothing measures.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};

/// Reports references to unknown metrics, unless a tool brings names that are not listed.
pub(super) fn measured(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let tools = || benchmark.metrics.iter().filter_map(|metric| metric.tool.as_ref());
    if tools().any(|tool| tool.names.is_none()) {
        return;
    }
    let of_tools = tools().filter_map(|tool| tool.names.as_ref()).flatten().map(|(name, _)| name);
    let known: Vec<&str> = benchmark
        .metrics
        .iter()
        .filter_map(|metric| metric.name.as_ref())
        .chain(of_tools)
        .map(String::as_str)
        .collect();
    for reference in benchmark.references.iter().filter(|reference| !known.contains(&reference.name.as_str())) {
        let message = format!("this {} is about `{}`, which nothing measures", reference.by, reference.name);
        let note = match reference.by {
            "fixture" => "no log could have the value that it expects",
            _ => "it would never find a value, so it would never fail",
        };
        let fault = Diagnostic::at(&code::KB0313, reference.span, message).note(note);
        let help = match did_you_mean(&reference.name, known.iter().copied()) {
            Some(close) => format!("did you mean `{close}`?"),
            None if known.is_empty() => "add the metric under `metrics`".to_owned(),
            None => format!("write one of {}, or add it under `metrics`", quoted(&known)),
        };
        diagnostics.push(fault.help(help));
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
