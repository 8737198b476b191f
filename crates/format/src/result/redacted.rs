//! Secrets out of the texts of a result. What identifies something stays as it is: a result that cannot be found, compared
//! or read again is lost.

use std::collections::BTreeMap;

use super::v1::{BenchmarkResult, Metric};
use kubebench_syntax::redact::{Redactor, without_tokens};

/// Removes secrets from every text of `result` that a program, a person or a machine may have written into it.
pub fn redact(result: &mut BenchmarkResult, redactor: &Redactor) {
    let clean = |text: &mut String| {
        if let std::borrow::Cow::Owned(clean) = redactor.text(text) {
            *text = clean;
        }
    };
    result.metadata.labels.values_mut().for_each(clean);
    result.metadata.params.values_mut().for_each(|value| redactor.json(value));
    redactor.json(&mut result.inputs);
    result.run.reasons.iter_mut().for_each(|reason| clean(&mut reason.message));
    for exit in &mut result.run.exits {
        // A private key spans several lines.
        let lines = redactor.text(&exit.last_lines.join("\n")).into_owned();
        exit.last_lines = lines.lines().map(str::to_owned).collect();
    }
    result.environment.software.values_mut().for_each(clean);
    for neighbor in &mut result.environment.neighbors {
        clean(&mut neighbor.pod);
        neighbor.benchmark.iter_mut().chain(&mut neighbor.run).for_each(clean);
    }
    let name = |name: &mut String| {
        if let std::borrow::Cow::Owned(clean) = redactor.name(name) {
            *name = clean;
        }
    };
    names(&mut result.metrics);
    for metric in &mut result.metrics {
        metric.labels.values_mut().for_each(clean);
        metric.reason.iter_mut().for_each(clean);
        metric.source.selector.iter_mut().for_each(clean);
        metric.source.artifact.iter_mut().for_each(name);
    }
    for node in result.workflow.iter_mut().flat_map(|workflow| &mut workflow.nodes) {
        // The turns of a loop have their values in their names.
        clean(&mut node.name);
        node.message.iter_mut().for_each(clean);
    }
    for trial in result.experiment.iter_mut().flat_map(|experiment| &mut experiment.trials) {
        trial.parameters.values_mut().for_each(clean);
        trial.message.iter_mut().for_each(clean);
    }
    result.validity.checks.iter_mut().for_each(|check| clean(&mut check.observed));
    result.artifacts.iter_mut().for_each(|artifact| name(&mut artifact.name));
    for native in result.native.values_mut() {
        name(&mut native.artifact);
        native.text.iter_mut().for_each(clean);
    }
    result.annotations.values_mut().for_each(clean);
}

/// Removes tokens from names and units, which come from logs too. What a variable happens to hold, and parameters of
/// benchmarks such as `token=short`, rename nothing; two metrics stay two.
pub fn names(metrics: &mut [Metric]) {
    let mut changed: BTreeMap<String, u32> = BTreeMap::new();
    for metric in metrics {
        metric.unit.iter_mut().for_each(|unit| *unit = without_tokens(unit).into_owned());
        if let std::borrow::Cow::Owned(clean) = without_tokens(&metric.name) {
            let count = changed.entry(clean.clone()).or_default();
            *count += 1;
            metric.name = if *count == 1 { clean } else { format!("{clean}#{count}") };
        }
    }
}
