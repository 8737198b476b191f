//! The gates of one benchmark on one target.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Held, HeldGate, amount, weakening};
use crate::compile::Compiled;
use crate::model::{Benchmark, Gate, GateBaseline, Metric};
use kubebench_syntax::diag::Place;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::MetricSelector;

/// Adds the gates that hold of a benchmark, and what a change weakens of them.
pub(super) fn hold<'c>(base: Option<&'c Compiled>, head: Option<&'c Compiled>, held: &mut Held<'c>) {
    let Some(base) = base else {
        let own = head.into_iter().flat_map(|head| head.benchmark.gates.iter().map(|gate| (&head.benchmark, gate)));
        held.gates.extend(own.map(|(benchmark, gate)| as_it_is(benchmark, gate)));
        return;
    };
    let before = &base.benchmark;
    let Some(head) = head else {
        report_gone(before, held);
        held.gates.extend(before.gates.iter().map(|gate| HeldGate { span: Span::default(), ..as_it_is(before, gate) }));
        return;
    };
    let now = &head.benchmark;
    let mut cases: BTreeMap<String, String> = named(before);
    cases.extend(named(now));
    for gate in &before.gates {
        let pair = Pair { base, head, gate };
        pair.report(held);
        held.gates.push(HeldGate { cases: cases.clone().into_iter().collect(), ..pair.held() });
    }
    let is_new = |gate: &&Gate| !before.gates.iter().any(|other| is_same(other, gate));
    held.gates.extend(now.gates.iter().filter(is_new).map(|gate| as_it_is(now, gate)));
    report_cases(before, now, held);
}

/// A gate of the base, and the benchmark that has it, before and now.
#[derive(Clone, Copy)]
struct Pair<'c> {
    base: &'c Compiled,
    head: &'c Compiled,
    gate: &'c Gate,
}

impl<'c> Pair<'c> {
    /// Returns the gate of the change that compares the same metric with the same.
    fn successor(self) -> Option<&'c Gate> {
        self.head.benchmark.gates.iter().find(|gate| is_same(gate, self.gate))
    }

    fn unit(self) -> [Option<&'c str>; 2] {
        [self.base, self.head].map(|of| metric(&of.benchmark, self.gate)?.unit.as_deref())
    }

    /// Returns the gate of the base with what of the change is stricter. Numbers of another unit are neither.
    fn held(self) -> HeldGate<'c> {
        let own = as_it_is(&self.base.benchmark, self.gate);
        let span = self.successor().map_or(self.head.benchmark.name_span, |gate| gate.span);
        let [before, now] = self.unit();
        let Some(gate) = self.successor().filter(|_| before == now) else { return HeldGate { span, ..own } };
        let least = |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).min_by(f64::total_cmp);
        let greatest = |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).max_by(f64::total_cmp);
        let gate = Gate {
            max_regression: least(self.gate.max_regression, gate.max_regression),
            min: greatest(self.gate.min, gate.min),
            max: least(self.gate.max, gate.max),
            is_confirmed: self.gate.is_confirmed && gate.is_confirmed,
            ..self.gate.clone()
        };
        HeldGate { gate, span, ..own }
    }

    fn report(self, held: &mut Held<'c>) {
        let (name, now) = (&self.gate.metric, &self.head.benchmark);
        let mut say = |span, message: String| held.weakened.push(weakening(Place::Span(span), message));
        let place = metric(now, self.gate).map_or(now.name_span, |metric| metric.span);
        self.report_reading(|message| say(place, message));
        let [before, unit] = self.unit();
        let Some(gate) = self.successor() else {
            let of_metric = |gate: &&Gate| MetricSelector::of(&gate.metric) == MetricSelector::of(name);
            match now.gates.iter().find(of_metric) {
                Some(other) => say(
                    other.span,
                    format!(
                        "the gate of `{name}` compares with {}; at the base with {}",
                        against(&other.baseline),
                        against(&self.gate.baseline)
                    ),
                ),
                None => say(now.name_span, format!("`{}` has no gate of `{name}` any more", now.name)),
            }
            return;
        };
        if before == unit {
            let bounds = [
                ("maxRegression", Bound::Most, self.gate.max_regression, gate.max_regression),
                ("max", Bound::Most, self.gate.max, gate.max),
                ("min", Bound::Least, self.gate.min, gate.min),
            ];
            for (field, bound, before, now) in bounds {
                let words = if field == "maxRegression" { percent } else { amount };
                match (before, now) {
                    (Some(before), None) => say(
                        gate.span,
                        format!("the gate of `{name}` has no `{field}` any more; at the base {}", words(before)),
                    ),
                    (Some(before), Some(now)) if bound.is_weaker(now, before) => say(
                        gate.span,
                        format!("`{field}` of `{name}` is {}; at the base {}", words(now), words(before)),
                    ),
                    _ => {}
                }
            }
        }
        if gate.is_confirmed && !self.gate.is_confirmed {
            say(gate.span, format!("the gate of `{name}` waits for a second session (`confirm: required`)"));
        }
    }

    /// Says what of the way in which a metric is read changed.
    fn report_reading(self, mut say: impl FnMut(String)) {
        let name = &self.gate.metric;
        let parts = |of: &Compiled| parts(&of.rules, MetricSelector::of(name).name());
        let (before, mut now) = (parts(self.base), parts(self.head));
        if metric(&self.base.benchmark, self.gate).is_some() && metric(&self.head.benchmark, self.gate).is_none() {
            return say(format!("nothing is called `{name}` any more, of which the base has a gate"));
        }
        let mut changed: Vec<String> = before
            .into_iter()
            .filter(|(part, value)| now.remove(part).as_ref() != Some(value))
            .map(|(part, _)| part)
            .collect();
        changed.extend(now.into_keys());
        changed.sort();
        changed.dedup();
        if !changed.is_empty() {
            let fields = listed(changed.iter().map(String::as_str));
            say(format!("`{name}` is not measured as at the base: {fields}"));
        }
    }
}

/// Which values a number keeps out.
#[derive(Clone, Copy)]
enum Bound {
    Least,
    Most,
}

impl Bound {
    fn is_weaker(self, now: f64, before: f64) -> bool {
        match self {
            Self::Least => now < before,
            Self::Most => now > before,
        }
    }
}

/// Returns what the rules of a benchmark say of a metric, by field: those of its own entry, of tools that may bring it, and of the checks
/// without which a run does not count.
fn parts(rules: &str, name: &str) -> BTreeMap<String, Vec<Json>> {
    let rules: Json = serde_json::from_str(rules).expected("rules are written as JSON");
    let of = |list: &str| rules.get(list).and_then(Json::as_array).cloned().unwrap_or_default();
    let entries = of("metrics").into_iter().filter(|entry| entry.get("name").is_none_or(|own| own == name));
    let mut parts: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for (field, value) in entries.filter_map(|entry| entry.as_object().cloned()).flatten() {
        // What stands for the benchmark is shown first, and decides nothing.
        if field != "primary" && field != "name" {
            parts.entry(field).or_default().push(value);
        }
    }
    for check in of("checks").into_iter().filter(|check| check.get("metric").is_none_or(|own| own == name)) {
        parts.entry("checks".to_owned()).or_default().push(check);
    }
    parts
}

fn metric<'c>(benchmark: &'c Benchmark, gate: &Gate) -> Option<&'c Metric> {
    let name = MetricSelector::of(&gate.metric);
    benchmark.metrics.iter().find(|metric| metric.name.as_deref() == Some(name.name()))
}

fn is_same(one: &Gate, other: &Gate) -> bool {
    MetricSelector::of(&one.metric) == MetricSelector::of(&other.metric) && one.baseline == other.baseline
}

fn as_it_is<'c>(benchmark: &'c Benchmark, gate: &Gate) -> HeldGate<'c> {
    HeldGate { benchmark, gate: gate.clone(), cases: named(benchmark).into_iter().collect(), span: gate.span }
}

fn named(benchmark: &Benchmark) -> BTreeMap<String, String> {
    benchmark.cases.iter().map(|case| (case.id.clone(), case.name.clone())).collect()
}

fn report_gone(benchmark: &Benchmark, held: &mut Held<'_>) {
    let Benchmark { name, target, path, gates, .. } = benchmark;
    if !gates.is_empty() {
        let metrics = listed(gates.iter().map(|gate| gate.metric.as_str()));
        let message = format!(
            "no benchmark is called `{name}` on `{}` any more, of which the base has gates: {metrics}",
            target.name
        );
        held.weakened.push(weakening(Place::File(path.clone()), message));
    }
}

/// Reports cases that have gates at the base and are gone.
fn report_cases(before: &Benchmark, now: &Benchmark, held: &mut Held<'_>) {
    let (old, new) = (named(before), named(now));
    let gone: Vec<&str> = old.iter().filter(|(id, _)| !new.contains_key(*id)).map(|(_, name)| name.as_str()).collect();
    if !gone.is_empty() && !before.gates.is_empty() {
        let message =
            format!("`{}` has no such cases any more, of which the base has gates: {}", now.name, listed(gone));
        held.weakened.push(weakening(Place::Span(now.name_span), message));
    }
}

fn against(baseline: &GateBaseline) -> String {
    match baseline {
        GateBaseline::Default => "the default branch".to_owned(),
        GateBaseline::Branch(name) => format!("the branch `{name}`"),
        GateBaseline::Tag(name) => format!("the tag `{name}`"),
        GateBaseline::Value(value) => value.to_string(),
    }
}

fn percent(share: f64) -> String {
    format!("{}%", amount(share * 100.0))
}
