//! KB0358: metrics read from a node or a trial that the workload does not have.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::model::{Benchmark, Part, Workload};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::text::Span;

/// Fields of a Workflow that add nodes defined elsewhere.
const ELSEWHERE: [&str; 2] = ["templateRef", "workflowTemplateRef"];

/// Reports metrics whose node or trial metric exists in no case.
pub(super) fn exists(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for (part, span) in benchmark.metrics.iter().filter_map(|metric| metric.of_part.as_ref()) {
        match part {
            Part::Node(name) => node(benchmark, name, *span, diagnostics),
            Part::Trials(name) => trials(benchmark, name, *span, diagnostics),
        }
    }
}

fn node(benchmark: &Benchmark, name: &str, span: Span, diagnostics: &mut Diagnostics) {
    let workflows: Vec<&Json> = of_kind(benchmark, "Workflow").filter_map(Workload::given_spec).collect();
    if workflows.is_empty() {
        let fault = Diagnostic::at(&code::KB0358, span, "the workload is not a Workflow, so it has no nodes");
        diagnostics.push(fault.help("measure `from: {duration: run}`, or read a log of the workload"));
        return;
    }
    let mut names = BTreeSet::new();
    if workflows.iter().any(|spec| !add_names(spec, &mut names)) || names.contains(name) {
        return;
    }
    let fault = Diagnostic::at(&code::KB0358, span, format!("the Workflow has no step or task `{name}`"));
    diagnostics.push(match did_you_mean(name, names.iter().copied()) {
        Some(close) => fault.did_you_mean(span, close),
        None if names.is_empty() => {
            fault.note("the Workflow has only its entry point").help("measure `from: {duration: run}`")
        }
        None => fault
            .note(format!("its steps, tasks and containers are {}", listed(&names)))
            .help("write one of them; the whole Workflow is `from: {duration: run}`"),
    });
}

/// Adds the names of the steps, tasks and containers of a Workflow; returns false if it has others that are unknown here.
fn add_names<'a>(value: &'a Json, names: &mut BTreeSet<&'a str>) -> bool {
    match value {
        Json::Array(items) => items.iter().all(|item| add_names(item, names)),
        Json::Object(fields) => {
            if ELSEWHERE.iter().any(|field| fields.contains_key(*field)) {
                return false;
            }
            let is_part = ["template", "inline", "image"].iter().any(|field| fields.contains_key(*field));
            names.extend(fields.get("name").and_then(Json::as_str).filter(|_| is_part));
            fields.values().all(|value| add_names(value, names))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => true,
    }
}

fn trials(benchmark: &Benchmark, name: &str, span: Span, diagnostics: &mut Diagnostics) {
    if of_kind(benchmark, "Experiment").next().is_none() {
        let fault = Diagnostic::at(&code::KB0358, span, "the workload is not an Experiment, so it has no trials");
        diagnostics.push(fault.help("read the metric from a log of the workload: `from: {log: {pattern: …}}`"));
        return;
    }
    let mut names = BTreeSet::new();
    for objective in of_kind(benchmark, "Experiment").filter_map(|workload| workload.spec_field("objective")) {
        let others = objective.get("additionalMetricNames").and_then(Json::as_array).into_iter().flatten();
        names.extend(objective.get("objectiveMetricName").into_iter().chain(others).filter_map(Json::as_str));
    }
    if names.contains(name) {
        return;
    }
    let fault = Diagnostic::at(&code::KB0358, span, format!("the Experiment does not collect `{name}`"));
    diagnostics.push(match did_you_mean(name, names.iter().copied()) {
        Some(close) => fault.did_you_mean(span, close),
        None => fault
            .note(format!("it collects {}", listed(&names)))
            .help("add it to `objective.additionalMetricNames`, or write one of these"),
    });
}

fn listed(names: &BTreeSet<&str>) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the workloads of all cases that are a `kind`.
fn of_kind<'a>(benchmark: &'a Benchmark, kind: &'a str) -> impl Iterator<Item = &'a Workload> {
    benchmark.cases.iter().map(|case| &case.workload).filter(move |workload| workload.api.kind == kind)
}
