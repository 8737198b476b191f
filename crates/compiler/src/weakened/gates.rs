//! The gates of one benchmark on one target.

use std::collections::BTreeMap;

use super::at::At;
use super::found::Said;
use super::{Change, Held, HeldGate, amount, is_now, reading};
use crate::compile::Compiled;
use crate::model::{Benchmark, Gate, GateBaseline};
use kubebench_syntax::diag::Place;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::MetricSelector;

/// Adds the gates that hold of a benchmark, and what a change weakens of them.
pub(super) fn hold<'c>(
    change: Change<'c>,
    base: Option<&'c Compiled>,
    head: Option<&'c Compiled>,
    held: &mut Held<'c>,
) {
    match (base, head) {
        (Some(before), Some(now)) => hold_both(At { change, before, now }, held),
        (Some(Compiled { benchmark, .. }), None) => {
            held.found.gone(benchmark);
            held.gates.extend(together(benchmark).into_iter().map(|gate| HeldGate { span: Span::default(), ..gate }));
        }
        (None, Some(Compiled { benchmark, .. })) => {
            held.gates.extend(together(benchmark));
        }
        (None, None) => {}
    }
}

/// Returns the gates of a benchmark: those of one metric that compare with one baseline are one.
pub fn together(benchmark: &Benchmark) -> Vec<HeldGate<'_>> {
    let cases: Vec<(String, String)> = named(benchmark).into_iter().collect();
    let of_metric = |selector: MetricSelector| {
        let demands =
            baselines(benchmark, &selector).into_iter().map(|baseline| Demand::of(benchmark, &selector, baseline));
        demands.flat_map(|demand| demand.gates(benchmark, benchmark.name_span, &cases)).collect::<Vec<_>>()
    };
    selectors(benchmark).into_iter().flat_map(of_metric).collect()
}

fn hold_both<'c>(at: At<'c>, held: &mut Held<'c>) {
    let (before, now): (&'c Benchmark, &'c Benchmark) = (&at.before.benchmark, &at.now.benchmark);
    let mut all = named(before);
    all.extend(named(now));
    let cases: Vec<(String, String)> = all.into_iter().collect();
    for selector in selectors(before) {
        reading::report(at, &selector, held);
        let has_same_unit = reading::unit(before, &selector) == reading::unit(now, &selector);
        for baseline in baselines(before, &selector) {
            let old = Demand::of(before, &selector, baseline);
            let new = Demand::of(now, &selector, baseline);
            if reading::names(now, &selector) || !reading::names(before, &selector) {
                old.report(&new, at, has_same_unit, held);
            }
            let demand = if has_same_unit { old.tightened(&new) } else { old };
            held.gates.extend(demand.gates(before, now.name_span, &cases));
        }
    }
    for selector in selectors(now) {
        for baseline in baselines(now, &selector) {
            let old = Demand::of(before, &selector, baseline);
            // What the base demands of the metric already includes what the change demands.
            if old.limits.is_empty() {
                let new = Demand::of(now, &selector, baseline);
                held.gates.extend(new.gates(now, now.name_span, &cases));
            }
        }
    }
    report_cases(at, held);
    report_runs(at, held);
}

/// Reports fewer runs of a benchmark that has a gate, which then sees less.
fn report_runs(at: At<'_>, held: &mut Held<'_>) {
    let (before, now) = (&at.before.benchmark, &at.now.benchmark);
    let counts = [("repeats", before.repeats, now.repeats), ("warmups", before.warmups, now.warmups)];
    for (name, before_is, now_is) in counts.into_iter().filter(|(_, before, now)| now < before) {
        if !before.gates.is_empty() {
            let message = format!("`{name}` is {now_is}; at the base {before_is}: the gates are less certain");
            held.found.weaker(at.field(&[name]), now, message);
        }
    }
}

/// Which values a gate keeps out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    MaxRegression,
    Max,
    Min,
}

impl Bound {
    const ALL: [Self; 3] = [Self::MaxRegression, Self::Max, Self::Min];

    fn name(self) -> &'static str {
        match self {
            Self::MaxRegression => "maxRegression",
            Self::Max => "max",
            Self::Min => "min",
        }
    }

    fn of(self, gate: &Gate) -> Option<f64> {
        match self {
            Self::MaxRegression => gate.max_regression,
            Self::Max => gate.max,
            Self::Min => gate.min,
        }
    }

    fn is_weaker(self, one: f64, other: f64) -> bool {
        match self {
            Self::MaxRegression | Self::Max => one > other,
            Self::Min => one < other,
        }
    }

    fn words(self, value: f64) -> String {
        match self {
            Self::MaxRegression => format!("{}%", amount(value * 100.0)),
            Self::Max | Self::Min => amount(value),
        }
    }
}

/// A bound of a gate.
#[derive(Clone, Copy, Debug)]
struct Limit {
    value: f64,
    /// Whether a first hit waits for a second session.
    waits: bool,
    span: Span,
}

/// What all gates of one metric that compare with one baseline demand together.
struct Demand<'c> {
    metric: MetricSelector,
    baseline: &'c GateBaseline,
    limits: BTreeMap<Bound, Limit>,
}

impl<'c> Demand<'c> {
    fn of(benchmark: &Benchmark, metric: &MetricSelector, baseline: &'c GateBaseline) -> Self {
        let gates = || {
            let own = benchmark.gates.iter().filter(|gate| gate.baseline == *baseline);
            own.filter(|gate| MetricSelector::of(&gate.metric).has(metric.name(), metric.labels()))
        };
        let limit = |bound: Bound| {
            let all = gates()
                .filter_map(|gate| Some(Limit { value: bound.of(gate)?, waits: gate.is_confirmed, span: gate.span }));
            let strictest = all.reduce(|one, other| {
                let waits = one.waits && other.waits;
                Limit { waits, ..if bound.is_weaker(one.value, other.value) { other } else { one } }
            });
            Some((bound, strictest?))
        };
        Self { metric: metric.clone(), baseline, limits: Bound::ALL.into_iter().filter_map(limit).collect() }
    }

    /// Returns it with the stricter demands of another one, if there is one.
    fn tightened(mut self, other: &Self) -> Self {
        for (bound, limit) in &other.limits {
            self.limits.entry(*bound).or_insert(*limit);
        }
        for (bound, limit) in &mut self.limits {
            if let Some(other) = other.limits.get(bound) {
                let value = if bound.is_weaker(limit.value, other.value) { other.value } else { limit.value };
                *limit = Limit { value, waits: limit.waits && other.waits, span: other.span };
            }
        }
        self
    }

    /// Returns it as gates; one that is gone is where the benchmark is.
    fn gates(&self, benchmark: &'c Benchmark, name: Span, cases: &[(String, String)]) -> Vec<HeldGate<'c>> {
        let gate = |waits: bool| {
            let own = |bound: Bound| self.limits.get(&bound).filter(|limit| limit.waits == waits);
            let is_here = |limit: &&Limit| limit.span.source == name.source;
            let first = Bound::ALL.into_iter().find_map(own)?;
            let span = Some(first).filter(is_here).map_or(name, |limit| limit.span);
            let value = |bound: Bound| own(bound).map(|limit| limit.value);
            let gate = Gate {
                metric: self.metric.to_string(),
                span,
                max_regression: value(Bound::MaxRegression),
                min: value(Bound::Min),
                max: value(Bound::Max),
                is_confirmed: waits,
                baseline: self.baseline.clone(),
            };
            Some(HeldGate { benchmark, gate, cases: cases.to_vec(), span })
        };
        [false, true].into_iter().filter_map(gate).collect()
    }

    /// Says what of it a change weakens.
    fn report(&self, now: &Self, at: At<'_>, has_same_unit: bool, held: &mut Held<'_>) {
        let name = self.metric.to_string();
        let benchmark = &at.now.benchmark;
        let mut say = |span, message: String| held.found.weaker(Place::Span(span), benchmark, message);
        let Some(first) = now.limits.values().next() else {
            let is_of_metric =
                |gate: &&Gate| MetricSelector::of(&gate.metric).has(self.metric.name(), self.metric.labels());
            if let Some(Gate { baseline, span, .. }) = benchmark.gates.iter().find(is_of_metric) {
                let (now, before) = (against(baseline), against(self.baseline));
                return say(*span, format!("the gate of `{name}` compares with {now}; at the base with {before}"));
            }
            let alone = format!("`{}` no longer has a gate for `{name}`", benchmark.name);
            let said = Said { alone, shared: format!("no gate for `{name}` is left") };
            return held.found.weaker(at.field(&["gates"]), benchmark, said);
        };
        for (bound, before) in &self.limits {
            let field = bound.name();
            match now.limits.get(bound) {
                None => {
                    let before = bound.words(before.value);
                    say(first.span, format!("the gate of `{name}` no longer has `{field}`; at the base {before}"));
                }
                // Numbers of another unit are not comparable.
                Some(now) if has_same_unit && bound.is_weaker(now.value, before.value) => {
                    let (now_is, before) = (bound.words(now.value), bound.words(before.value));
                    say(now.span, is_now(&format!("`{field}` of `{name}`"), now_is, before));
                }
                Some(now) if now.waits && !before.waits => {
                    say(now.span, format!("the gate of `{name}` waits for a second session (`confirm: required`)"));
                }
                Some(_) => {}
            }
        }
    }
}

/// Returns the metrics of which a benchmark has gates.
fn selectors(benchmark: &Benchmark) -> Vec<MetricSelector> {
    let mut selectors: Vec<MetricSelector> = Vec::new();
    for selector in benchmark.gates.iter().map(|gate| MetricSelector::of(&gate.metric)) {
        if !selectors.contains(&selector) {
            selectors.push(selector);
        }
    }
    selectors
}

/// Returns what the gates of a metric compare with.
fn baselines<'c>(benchmark: &'c Benchmark, metric: &MetricSelector) -> Vec<&'c GateBaseline> {
    let mut baselines: Vec<&GateBaseline> = Vec::new();
    for gate in benchmark.gates.iter().filter(|gate| MetricSelector::of(&gate.metric) == *metric) {
        if !baselines.contains(&&gate.baseline) {
            baselines.push(&gate.baseline);
        }
    }
    baselines
}

fn named(benchmark: &Benchmark) -> BTreeMap<String, String> {
    benchmark.cases.iter().map(|case| (case.id.clone(), case.name.clone())).collect()
}

/// Reports cases that have gates at the base and are gone.
fn report_cases(at: At<'_>, held: &mut Held<'_>) {
    let (before, now) = (&at.before.benchmark, &at.now.benchmark);
    let (old, new) = (named(before), named(now));
    let gone: Vec<&str> = old.iter().filter(|(id, _)| !new.contains_key(*id)).map(|(_, name)| name.as_str()).collect();
    if !gone.is_empty() && !before.gates.is_empty() {
        let gone = listed(gone);
        let alone = format!("`{}` lost cases for which the base has gates: {gone}", now.name);
        let said = Said { alone, shared: format!("cases for which the base has gates are gone: {gone}") };
        held.found.weaker(at.field(&["matrix", "variants"]), now, said);
    }
}

fn against(baseline: &GateBaseline) -> String {
    match baseline {
        GateBaseline::Default => "the default branch".to_owned(),
        GateBaseline::Branch(name) => format!("the branch `{name}`"),
        GateBaseline::Tag(name) => format!("the tag `{name}`"),
        GateBaseline::Value(value) => amount(*value),
    }
}
