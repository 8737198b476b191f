//! What of a search Katib would refuse when the run is due, or never finish.

use std::collections::BTreeSet;

use super::super::Lowering;
use super::form::{Algorithm, Experiment, Parameter, ParameterType};
use kubebench_format::spec::v1::scalar::Text;
use kubebench_syntax::diag::{Code, Diagnostic, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

/// Algorithms that search for a network, which is described by `nasConfig` and not by `parameters`.
const OF_NETWORKS: [&str; 2] = ["darts", "enas"];
/// Settings without which `hyperband` does not start.
const OF_HYPERBAND: [&str; 2] = ["r_l", "resource_name"];

/// Reports what is wrong with `form`, which is the entry of `cx`.
pub(super) fn check(cx: &mut Lowering<'_>, form: &Experiment) {
    algorithm(cx, &form.algorithm);
    counts(cx, form);
    let nodes = cx.entry.value.items_of("parameters");
    let mut seen = BTreeSet::new();
    for (parameter, node) in form.parameters.iter().zip(nodes) {
        if !seen.insert(parameter.name.as_str()) {
            let message = format!("two parameters are called `{}`", parameter.name);
            let at = node.get("name").map_or(node.span, |name| name.span);
            fault(cx, &code::KB0317, at, message, "give one of them another name");
        }
        space(cx, parameter, node, &form.algorithm.algorithm_name.0);
    }
}

fn algorithm(cx: &mut Lowering<'_>, algorithm: &Algorithm) {
    let Text(name) = &algorithm.algorithm_name;
    let at = cx.entry.value.get("algorithm").and_then(|algorithm| algorithm.get("algorithmName"));
    let at = at.map_or(cx.entry.key_span, |node| node.span);
    if OF_NETWORKS.contains(&name.as_str()) {
        let fault = Diagnostic::at(
            &code::KB0204,
            at,
            format!("`{name}` searches for a network architecture, not for parameters"),
        )
        .note("its `nasConfig` has no simple form");
        cx.report(fault.help("use the whole Experiment: `manifest: {file: jobs/search.yaml}`"));
    }
    let missing: Vec<&str> =
        OF_HYPERBAND.into_iter().filter(|setting| !algorithm.algorithm_settings.contains_key(*setting)).collect();
    if name == "hyperband" && !missing.is_empty() {
        let message = format!("`hyperband` needs the settings {}", missing.join(" and "));
        let help = "write `algorithmSettings: {r_l: \"9\", eta: \"3\", resource_name: epochs}`: `r_l` is the maximum \
                    of a resource, and `resource_name` its parameter";
        fault(cx, &code::KB0202, at, message, help);
    }
}

fn counts(cx: &mut Lowering<'_>, form: &Experiment) {
    let most = form.max_trial_count.0;
    let said = [
        ("parallelTrialCount", form.parallel_trial_count.map(|count| count.0)),
        ("maxFailedTrialCount", form.max_failed_trial_count.map(|count| count.0)),
    ];
    for (field, count) in said {
        let Some(count) = count.filter(|count| *count > most) else { continue };
        let at = cx.entry.value.get(field).map_or(cx.entry.key_span, |node| node.span);
        let message = format!("`{field}` {count} is more than `maxTrialCount` {most}");
        fault(cx, &code::KB0206, at, message, &format!("write {most} or less, or raise `maxTrialCount`"));
    }
}

/// Reports a space without values, or one that the algorithm cannot go through.
fn space(cx: &mut Lowering<'_>, parameter: &Parameter, node: &Node, algorithm: &str) {
    let Parameter { name, kind: of, feasible_space } = parameter;
    let kind = of.name();
    let whole = node.get("feasibleSpace").map_or(node.span, |space| space.span);
    let at = |field: &str| node.get("feasibleSpace").and_then(|space| space.get(field)).map_or(whole, |node| node.span);
    if matches!(of, ParameterType::Discrete | ParameterType::Categorical) {
        let values = feasible_space.list.as_deref().unwrap_or_default();
        if values.is_empty() {
            fault(cx, &code::KB0202, whole, format!("`{name}` is {kind} and has no values"), "write `list: [a, b]`");
        }
        for field in ["min", "max", "step"].into_iter().filter(|field| has(node, field)) {
            let message = format!("`{field}` belongs to a range, but `{name}` is {kind}");
            fault(cx, &code::KB0317, at(field), message, "delete it, or make the parameter a `double` or an `int`");
        }
        if *of == ParameterType::Discrete {
            for value in values.iter().filter(|value| number(value).is_none()) {
                let message = format!("`{}` is not a number, but `{name}` is {kind}", value.0);
                fault(cx, &code::KB0205, at("list"), message, "write numbers, or `parameterType: categorical`");
            }
        }
        return;
    }
    if has(node, "list") {
        let message = format!("`list` belongs to `discrete` and `categorical`, but `{name}` is {kind}");
        fault(cx, &code::KB0317, at("list"), message, "write `min` and `max`, or `parameterType: discrete`");
    }
    let missing: Vec<&str> = ["min", "max"].into_iter().filter(|field| !has(node, field)).collect();
    if !missing.is_empty() {
        let message = format!("the range of `{name}` has no {}", missing.join(" and no "));
        fault(cx, &code::KB0202, whole, message, "write `min` and `max`");
    }
    let mut read = |field: &str, said: &Option<Text>| -> Option<f64> {
        let text = said.as_ref()?;
        let number = number(text).filter(|number| *of == ParameterType::Double || number.fract() == 0.0);
        if number.is_none() {
            let what = if *of == ParameterType::Int { "whole number" } else { "number" };
            let message = format!("`{}` is not a {what}, but `{name}` is {kind}", text.0);
            fault(cx, &code::KB0205, at(field), message, &format!("write a {what}"));
        }
        number
    };
    let (min, max) = (read("min", &feasible_space.min), read("max", &feasible_space.max));
    let step = read("step", &feasible_space.step);
    if let (Some(min), Some(max)) = (min, max)
        && min >= max
    {
        let message = format!("the range of `{name}` has no values: its `min` {min} is not less than its `max` {max}");
        fault(cx, &code::KB0206, at("max"), message, "write the smaller one as `min`");
    }
    if step.is_some_and(|step| step <= 0.0) {
        let message = format!("the `step` of `{name}` is not above 0");
        fault(cx, &code::KB0206, at("step"), message, "write a number above 0");
    }
    if algorithm == "grid" && *of == ParameterType::Double && !has(node, "step") {
        let message = format!("`grid` tries all values of `{name}`, but a range without `step` has infinitely many");
        fault(cx, &code::KB0202, whole, message, "add `step: \"0.01\"`, the distance between two values");
    }
}

fn has(parameter: &Node, field: &str) -> bool {
    parameter.get("feasibleSpace").is_some_and(|space| space.get(field).is_some())
}

fn number(text: &Text) -> Option<f64> {
    text.0.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

fn fault(cx: &mut Lowering<'_>, code: &'static Code, at: Span, message: String, help: &str) {
    let note = "Katib would refuse the Experiment when the run starts";
    cx.report(Diagnostic::at(code, at, message).note(note).help(help));
}
