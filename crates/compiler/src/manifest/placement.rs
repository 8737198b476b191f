//! Demands on where pods are to each other, as Kubernetes' scheduler has them.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use crate::model::placement::{Placement, Wanted};
use crate::model::{Benchmark, Role};
use kubebench_contract::labels;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::invariant::Invariant as _;

/// Adds what `placement` requests for the pods of `role` to their `template`; it applies only to pods of the same run.
pub(super) fn add(benchmark: &Benchmark, placement: &[Placement], role: &Role, template: &mut Json) {
    let Some(spec) = template.get_mut("spec").and_then(Json::as_object_mut) else { return };
    for Placement { wanted, over } in placement {
        match wanted {
            Wanted::Together(roles) if roles.contains(&role.name) => {
                let term = json!({
                    "labelSelector": selector(benchmark, roles),
                    "matchLabelKeys": [labels::RUN],
                    "topologyKey": over,
                });
                let affinity = object(spec, "affinity");
                let terms = object(affinity, "podAffinity");
                list(terms, "requiredDuringSchedulingIgnoredDuringExecution").push(term);
            }
            Wanted::Spread(name) if *name == role.name => {
                let constraint = json!({
                    "labelSelector": selector(benchmark, std::slice::from_ref(name)),
                    "matchLabelKeys": [labels::RUN],
                    "maxSkew": 1,
                    "topologyKey": over,
                    "whenUnsatisfiable": "DoNotSchedule",
                });
                list(spec, "topologySpreadConstraints").push(constraint);
            }
            Wanted::Together(_) | Wanted::Spread(_) => {}
        }
    }
}

/// Reports combinations of constraints of the pods of `role` that Kubernetes refuses, whatever their origin.
pub(super) fn check(role: &Role, template: &Json, diagnostics: &mut Diagnostics) {
    let constraints = template.pointer("/spec/topologySpreadConstraints").and_then(Json::as_array);
    let mut known = BTreeSet::new();
    for constraint in constraints.into_iter().flatten() {
        let text = |field: &str| constraint.get(field).and_then(Json::as_str).unwrap_or_default();
        let (over, otherwise) = (text("topologyKey"), text("whenUnsatisfiable"));
        if !known.insert((over, otherwise)) {
            let message =
                format!("pods of `{}` are spread over `{over}` twice, both times with `{otherwise}`", role.name);
            let fault = Diagnostic::at(&code::KB0393, role.span, message)
                .note("Kubernetes refuses a pod with two such constraints; `placement`, `topologySpreadConstraints` of the spec and those of the target are one list");
            diagnostics.push(fault.help("keep one of them"));
        }
    }
}

fn selector(benchmark: &Benchmark, roles: &[String]) -> Json {
    json!({
        "matchExpressions": [{ "key": labels::ROLE, "operator": "In", "values": roles }],
        "matchLabels": { labels::BENCHMARK: benchmark.name },
    })
}

/// Returns the mapping `field`, which is created if it is missing.
fn object<'f>(fields: &'f mut Map<String, Json>, field: &str) -> &'f mut Map<String, Json> {
    let value = fields.entry(field).or_insert_with(|| Json::Object(Map::new()));
    if !value.is_object() {
        *value = Json::Object(Map::new());
    }
    value.as_object_mut().expected("a mapping, which was just made")
}

/// Returns the list `field`, which is created if it is missing.
fn list<'f>(fields: &'f mut Map<String, Json>, field: &str) -> &'f mut Vec<Json> {
    let value = fields.entry(field).or_insert_with(|| Json::Array(Vec::new()));
    if !value.is_array() {
        *value = Json::Array(Vec::new());
    }
    value.as_array_mut().expected("a list, which was just made")
}
