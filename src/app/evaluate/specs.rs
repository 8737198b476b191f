//! What specs say of results: gates, thresholds, directions, and what is expected at all.

use kubebench_compiler::model::{Benchmark, Gate, GateBaseline};
use kubebench_compiler::weakened::HeldGate;
use kubebench_report::ExpectedBenchmark;
use kubebench_results::compare::{Against, Meant, Policies, Rule, Side, Stated};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::MetricSelector;

/// The label by which nodes say what they are.
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// Returns the rule of a gate that holds of a change, and where it is in the spec of that.
pub(super) fn held(held: &HeldGate<'_>) -> (Rule, Span) {
    let (rule, _) = rule(held.benchmark, &held.gate);
    (Rule { cases: held.cases.clone(), ..rule }, held.span)
}

/// Returns the rule of a gate, and where the gate or its metric is in the spec.
pub(super) fn rule(benchmark: &Benchmark, gate: &Gate) -> (Rule, Span) {
    let against = match &gate.baseline {
        GateBaseline::Default => Against::Default,
        GateBaseline::Branch(name) => Against::Lineage(Side::Branch(name.clone()).to_string()),
        GateBaseline::Tag(name) => Against::Lineage(Side::Tag(name.clone()).to_string()),
        GateBaseline::Value(value) => Against::Value(*value),
    };
    let named = benchmark.metrics.iter().find(|metric| metric.name.as_ref() == Some(&gate.metric));
    let place = named.map_or(gate.span, |metric| metric.span);
    let rule = Rule {
        benchmark: benchmark.name.clone(),
        target: benchmark.target.name.clone(),
        cases: benchmark.cases.iter().map(|case| (case.id.clone(), case.name.clone())).collect(),
        metric: MetricSelector::of(&gate.metric),
        max_regression: gate.max_regression,
        min: gate.min,
        max: gate.max,
        is_confirmed: gate.is_confirmed,
        direction: named.and_then(|metric| metric.direction),
        against,
    };
    (rule, place)
}

/// Adds what the spec of a benchmark says of metrics and of their gates.
pub(super) fn state(policies: &mut Policies, benchmark: &Benchmark) {
    let none = Stated { threshold: None, direction: None, unit: None };
    for metric in &benchmark.metrics {
        let stated = Stated { direction: metric.direction, unit: metric.unit.clone(), ..none.clone() };
        let meant = match metric.tool.as_ref().filter(|tool| tool.names.is_none()) {
            Some(all) => vec![Meant::Tool(all.tool.clone(), all.naming.clone())],
            None => metric.brought().into_iter().map(|(selector, _)| Meant::Series(selector)).collect(),
        };
        for meant in meant {
            policies.state(&benchmark.name, meant, stated.clone());
        }
    }
    for gate in &benchmark.gates {
        let stated = Stated { threshold: gate.max_regression, ..none.clone() };
        policies.state(&benchmark.name, Meant::Series(MetricSelector::of(&gate.metric)), stated);
    }
}

/// Returns what a report expects of a benchmark.
pub(super) fn expected(benchmark: &Benchmark) -> ExpectedBenchmark {
    ExpectedBenchmark {
        benchmark: benchmark.name.clone(),
        path: benchmark.path.clone(),
        description: benchmark.description.clone(),
        target: benchmark.target.name.clone(),
        instance_type: benchmark.target.node_selector.get(INSTANCE_TYPE).cloned(),
        cases: benchmark.cases.iter().map(|case| (case.id.clone(), case.name.clone())).collect(),
    }
}
