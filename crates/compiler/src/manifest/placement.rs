//! Demands on where pods are to each other, as Kubernetes' scheduler has them.

use serde_json::{Map, Value as Json, json};

use crate::model::placement::{Placement, Wanted};
use crate::model::{Benchmark, Role};
use kubebench_contract::labels;
use kubebench_syntax::invariant::Invariant as _;

/// Adds what `placement` asks of the pods of `role` to their `template`: pods of one run alone are meant, whatever else runs.
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

fn selector(benchmark: &Benchmark, roles: &[String]) -> Json {
    json!({
        "matchExpressions": [{ "key": labels::ROLE, "operator": "In", "values": roles }],
        "matchLabels": { labels::BENCHMARK: benchmark.name },
    })
}

/// Returns the mapping `field`, which is there from now on.
fn object<'f>(fields: &'f mut Map<String, Json>, field: &str) -> &'f mut Map<String, Json> {
    let value = fields.entry(field).or_insert_with(|| Json::Object(Map::new()));
    if !value.is_object() {
        *value = Json::Object(Map::new());
    }
    value.as_object_mut().expected("a mapping, which was just made")
}

/// Returns the list `field`, which is there from now on.
fn list<'f>(fields: &'f mut Map<String, Json>, field: &str) -> &'f mut Vec<Json> {
    let value = fields.entry(field).or_insert_with(|| Json::Array(Vec::new()));
    if !value.is_array() {
        *value = Json::Array(Vec::new());
    }
    value.as_array_mut().expected("a list, which was just made")
}
