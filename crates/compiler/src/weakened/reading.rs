//! How a gated metric is measured.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use super::at::At;
use super::found::Said;
use super::{Held, is_now};
use crate::compile::Compiled;
use crate::model::{Benchmark, Metric};
use kubebench_syntax::diag::Place;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit::MetricSelector;

/// Returns whether a rule of the spec is about this metric by its name.
pub(super) fn names(benchmark: &Benchmark, metric: &MetricSelector) -> bool {
    named(benchmark, metric).is_some()
}

/// Returns the unit that the spec says.
pub(super) fn unit<'b>(benchmark: &'b Benchmark, metric: &MetricSelector) -> Option<&'b str> {
    named(benchmark, metric)?.unit.as_deref()
}

/// Reports a metric that is gone, or is measured otherwise than at the base.
pub(super) fn report(at: At<'_>, metric: &MetricSelector, held: &mut Held<'_>) {
    let (base, head) = (at.before, at.now);
    let now = &head.benchmark;
    if names(&base.benchmark, metric) && !names(now, metric) {
        let alone = format!("`{}` no longer has the metric `{metric}`, for which the base has a gate", now.name);
        let said = Said { alone, shared: format!("the metric `{metric}`, for which the base has a gate, is gone") };
        return held.found.weaker(at.field(&["metrics"]), now, said);
    }
    let mut say = |span, message: String| held.found.weaker(Place::Span(span), now, message);
    let span = named(now, metric).map_or(now.name_span, |metric| metric.span);
    let (before, after) = (parts(base, metric), parts(head, metric));
    let required = [json!(true).to_string()].into();
    let fields: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut others = Vec::new();
    for field in fields.into_iter().filter(|field| before.get(*field) != after.get(*field)) {
        // Then a run without it is invalid.
        if field == "required" && after.get(field) == Some(&required) {
            continue;
        }
        match (before.get(field).and_then(word), after.get(field).and_then(word)) {
            (Some(before), Some(after)) => {
                say(span, is_now(&format!("`{field}` of `{metric}`"), after, before));
            }
            _ => others.push(field.as_str()),
        }
    }
    if !others.is_empty() {
        say(span, format!("`{metric}` is measured differently from the base: {}", listed(others)));
    }
}

fn named<'b>(benchmark: &'b Benchmark, metric: &MetricSelector) -> Option<&'b Metric> {
    benchmark.metrics.iter().find(|own| own.name.as_deref() == Some(metric.name()))
}

/// Returns what the rules of a benchmark say of a metric, by field: those of its own rule, else of the tools that may bring it, and of the
/// checks without which a run does not count.
fn parts(of: &Compiled, metric: &MetricSelector) -> BTreeMap<String, BTreeSet<String>> {
    let rules: Json = serde_json::from_str(&of.rules).expected("rules are written as JSON");
    let list = |name: &str| rules.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
    let is_named = names(&of.benchmark, metric);
    let is_about = |own: &Metric| {
        if is_named { own.name.as_deref() == Some(metric.name()) } else { own.name.is_none() && may_bring(own, metric) }
    };
    // Rules have the order of the spec.
    let about = of.benchmark.metrics.iter().zip(list("metrics")).filter(|(own, _)| is_about(own));
    let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (field, mut value) in about.filter_map(|(_, rule)| rule.as_object().cloned()).flat_map(said) {
        if let Some(tool) = value.get_mut("tool").and_then(Json::as_object_mut) {
            // Other requested metrics of the tool do not affect this one.
            tool.remove("metrics");
        }
        parts.entry(field).or_default().insert(value.to_string());
    }
    let own = |check: &Json| check.get("metric").is_none_or(|own| own == metric.name());
    let checks: BTreeSet<String> = list("checks").iter().filter(|check| own(check)).map(Json::to_string).collect();
    if !checks.is_empty() {
        parts.insert("checks".to_owned(), checks);
    }
    parts
}

/// Returns whether the metrics of a tool are asked for among which this one may be.
fn may_bring(own: &Metric, metric: &MetricSelector) -> bool {
    let brought = own.brought();
    brought.is_empty()
        || brought.iter().any(|(one, _)| metric.has(one.name(), one.labels()) || one.name() == metric.name())
}

/// Returns what a rule says of how its metric is measured, and what does not hold without it.
fn said(rule: Map<String, Json>) -> impl Iterator<Item = (String, Json)> {
    // These have a reduction of their own.
    let is_special = rule.get("from").is_some_and(|from| from.get("tool").or(from.get("prometheus")).is_some());
    rule.into_iter().filter(move |(field, value)| match field.as_str() {
        "name" | "primary" => false,
        "reduce" => is_special || value != "last",
        "required" => value != false,
        "window" => *value != json!({}) && *value != json!({ "skipFirst": 0 }),
        _ => true,
    })
}

/// Returns what a field says in one word.
fn word(values: &BTreeSet<String>) -> Option<String> {
    let mut all = values.iter().map(|text| serde_json::from_str(text));
    match (all.next(), all.next()) {
        (Some(Ok(Json::String(text))), None) => Some(text),
        (Some(Ok(Json::Bool(is))), None) => Some(is.to_string()),
        _ => None,
    }
}
