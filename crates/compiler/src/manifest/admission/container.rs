//! Containers: what they must say, and what they may ask for.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::traced::Traced;
use super::{Part, refused, volume};
use crate::model::workload::is_extended;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::unit::Quantity;

const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
const HANDLERS: [&str; 4] = ["exec", "grpc", "httpGet", "tcpSocket"];

/// Reports two containers of one name; within a list, patches merge them.
pub(super) fn check_names(containers: &[Part<'_>], diagnostics: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for Part { traced, .. } in containers {
        if let Some(name) = traced.text("name").filter(|name| !seen.insert(*name)) {
            let fault = refused(traced.field("name").span(), format!("two containers are called `{name}`"));
            diagnostics.push(fault.help("give this one another name"));
        }
    }
}

/// Reports what is missing in `container` or does not fit; `volumes` can be mounted.
pub(super) fn check(container: &Part<'_>, volumes: &BTreeSet<&str>, diagnostics: &mut Diagnostics) {
    let Part { traced, list, is_main, needs, .. } = container;
    let missing = needs.iter().find(|field| traced.text(field).is_none());
    if let Some(field) = missing {
        let message = match traced.text("name") {
            Some(name) => format!("the container `{name}` has no `{field}`"),
            None => format!("the element of `{list}` has no `{field}`"),
        };
        diagnostics.push(refused(traced.span(), message).help(format!("write `{field}`")));
        return;
    }
    volume::check_mounts(traced, volumes, diagnostics);
    check_probes(container, diagnostics);
    check_variables(traced, diagnostics);
    if !is_main {
        check_resources(traced, diagnostics);
    }
}

fn check_probes(container: &Part<'_>, diagnostics: &mut Diagnostics) {
    let Part { traced, list, .. } = container;
    for name in PROBES {
        let probe = traced.field(name);
        if probe.is_absent() {
            continue;
        }
        let handlers: Vec<&str> = HANDLERS.into_iter().filter(|handler| probe.value.get(handler).is_some()).collect();
        let at_probe = |message: String| refused(probe.span(), message);
        if *list == "initContainers" && traced.text("restartPolicy") != Some("Always") {
            let fault = at_probe(format!("`{name}` is in an init container that ends before the others start"));
            diagnostics.push(fault.help("delete it, or write `restartPolicy: Always` for a sidecar"));
        } else if let [first, second, ..] = handlers.as_slice() {
            let fault = at_probe(format!("`{name}` has two handlers, `{first}` and `{second}`"));
            diagnostics.push(fault.help("keep one"));
        } else if handlers.is_empty() {
            let fault = at_probe(format!("`{name}` has no handler"));
            diagnostics.push(fault.help(format!("write one of `{}`", HANDLERS.join("`, `"))));
        }
    }
}

fn check_variables(container: &Traced<'_>, diagnostics: &mut Diagnostics) {
    for variable in container.elements("env", "name") {
        let Some(name) = variable.text("name") else {
            diagnostics.push(refused(variable.span(), "the variable has no `name`").help("write `name`"));
            continue;
        };
        if variable.text("value").is_some() && !variable.field("valueFrom").is_absent() {
            let fault = refused(variable.span(), format!("`{name}` has both `value` and `valueFrom`"));
            diagnostics.push(fault.help("keep one"));
        }
    }
}

/// Reports devices, which only the role may have, and requests that are above their limits.
fn check_resources(container: &Traced<'_>, diagnostics: &mut Diagnostics) {
    let resources = container.field("resources");
    let (requests, limits) = (resources.field("requests"), resources.field("limits"));
    let mut devices = BTreeSet::new();
    for amounts in [&limits, &requests] {
        for (name, amount) in amounts.value.as_object().into_iter().flatten() {
            let is_none = quantity(amount).is_some_and(|amount| amount.as_f64() == 0.0);
            if is_extended(name) && !is_none && devices.insert(name) {
                let message =
                    format!("a patch gives `{name}` to the container `{}`", container.text("name").unwrap_or_default());
                diagnostics.push(
                    Diagnostic::at(&code::KB0315, amounts.field(name).span(), message)
                        .note(
                            "budget, estimate and `/dev/shm` are computed from the role, and would miss these devices",
                        )
                        .help("write the devices in `resources` of the role, whose main container then uses them"),
                );
            }
        }
    }
    for (name, request) in requests.value.as_object().into_iter().flatten().filter(|(name, _)| !is_extended(name)) {
        let (Some(request), Some(limit)) = (quantity(request), limits.value.get(name).and_then(quantity)) else {
            continue;
        };
        if request > limit {
            let span = requests.field(name).span();
            diagnostics.push(crate::check::above_limit(name, &request, &limit, span));
        }
    }
}

fn quantity(amount: &Json) -> Option<Quantity> {
    let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
    Quantity::parse(&text).ok()
}
