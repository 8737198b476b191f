//! KB0450: times that no run has, or not every one that needs it.

use serde_json::{Map, Value as Json};

use crate::model::{Benchmark, Case, Metric, Order, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports metrics of the time until a server is ready where nothing serves or a server is kept over runs, and of the time that a
/// run takes where it has no end.
pub(super) fn is_there(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for metric in &benchmark.metrics {
        let fault = match &metric.duration {
            Some((word, _)) if word == "ready" => ready(benchmark, metric),
            Some((word, _)) if word == "run" => run(benchmark),
            _ => None,
        };
        if let (Some((message, note, help)), Some((_, span))) = (fault, &metric.duration) {
            diagnostics.push(Diagnostic::at(&code::KB0450, *span, message).note(note).help(help));
        }
    }
}

type Words = (&'static str, &'static str, &'static str);

fn ready(benchmark: &Benchmark, metric: &Metric) -> Option<Words> {
    let serves = |case: &Case| case.workload.serving.is_some();
    if !benchmark.cases.iter().any(serves) {
        return Some((
            "this benchmark has no server, so no run becomes ready",
            "`ready` is the time from the creation of a server to its first answer",
            "measure `{duration: startup}`, the time until all containers are started, or `{duration: run}`",
        ));
    }
    if metric.is_needed && keeps_a_server(benchmark) {
        return Some((
            "a run that reuses a running server has no `ready` time, and would be invalid without one",
            "the server that a run starts is kept for later runs that load the same one",
            "leave `primary` and `required` out here, or measure starts in a separate benchmark without `load`",
        ));
    }
    None
}

/// Returns whether one run after another loads the same server.
fn keeps_a_server(benchmark: &Benchmark) -> bool {
    let cases = &benchmark.cases;
    let again = benchmark.repeats > 1;
    let mut pairs: Vec<(&Case, &Case)> = cases.iter().zip(cases.iter().skip(1)).collect();
    match benchmark.order {
        Order::Grouped => pairs.extend(cases.iter().filter(|_| again).map(|case| (case, case))),
        Order::Interleaved => pairs.extend(cases.last().zip(cases.first()).filter(|_| again)),
    }
    pairs.into_iter().any(|(one, next)| loads_alike(one, next))
}

/// Returns whether two cases differ in their load alone.
fn loads_alike(one: &Case, other: &Case) -> bool {
    loaded(one).is_some()
        && loaded(other).is_some()
        && one.workload.spec == other.workload.spec
        && one.workload.patch == other.workload.patch
        && given(one) == given(other)
        && servers(one).eq(servers(other))
}

/// Returns the roles of a case except those of its load.
fn servers(case: &Case) -> impl Iterator<Item = &Role> {
    let load = loaded(case);
    case.workload.roles.iter().filter(move |role| Some(role.template_at.object) != load)
}

fn loaded(case: &Case) -> Option<usize> {
    case.workload.serving.as_ref()?.load
}

fn given(case: &Case) -> Option<&Map<String, Json>> {
    case.workload.given.as_ref().map(|given| &given.body)
}

fn run(benchmark: &Benchmark) -> Option<Words> {
    let has_no_end = |case: &Case| case.workload.serving.as_ref().is_some_and(|serving| serving.load.is_none());
    let is_none = !benchmark.cases.is_empty() && benchmark.cases.iter().all(has_no_end);
    is_none.then_some((
        "a server never completes, so no run has this duration",
        "without `load` a run ends when the server is ready",
        "measure `{duration: ready}`, or load the server with `load`",
    ))
}
