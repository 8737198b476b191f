//! What a pod of the user's own object gets: labels, the variables of the run, and the volume of results where the spec asks
//! for it. Nothing else of it is touched.

use serde_json::{Map, Value as Json, json};

use super::{meta, pod};
use crate::model::{Benchmark, Case, Role};

/// Equips the pod template that stands at `pointer` in `object`.
pub(super) fn equip(object: &mut Json, pointer: &str, (benchmark, case, role): (&Benchmark, &Case, &Role)) {
    let Some(Json::Object(template)) = object.pointer_mut(pointer) else { return };
    if let (Some(labels), Json::Object(ours)) = (
        mapping(template, "metadata").and_then(|metadata| mapping(metadata, "labels")),
        meta::pod_labels(benchmark, Some(case)),
    ) {
        labels.extend(ours);
        labels.insert(meta::ROLE.to_owned(), role.name.as_str().into());
    }
    let Some(Json::Object(spec)) = template.get_mut("spec") else { return };
    let containers = spec.get_mut("containers").and_then(Json::as_array_mut).into_iter().flatten();
    let mut named = containers.filter_map(Json::as_object_mut);
    let Some(main) = named.find(|container| container.get("name").is_some_and(|name| name == &*role.container_name))
    else {
        return;
    };
    if let Some(variables) = list(main, "env") {
        let is_said = |name: &str| variables.iter().any(|variable| variable.get("name").is_some_and(|own| own == name));
        let ours = pod::own_variables(benchmark).into_iter().filter(|ours| !is_said(&ours.name));
        // The user's may refer to them, which Kubernetes resolves only backwards.
        let ours: Vec<Json> = ours.map(|variable| json!(variable)).collect();
        variables.splice(0..0, ours);
    }
    if !benchmark.mount_in_job {
        return;
    }
    let (volume, mount) = pod::results(benchmark);
    if let Some(mounts) = list(main, "volumeMounts") {
        mounts.push(json!(mount));
    }
    if let Some(volumes) = list(spec, "volumes") {
        volumes.push(json!(volume));
    }
}

/// Returns the value under `field`; an absent one, or `null`, becomes `empty`.
fn under<'a>(object: &'a mut Map<String, Json>, field: &str, empty: Json) -> &'a mut Json {
    let value = object.entry(field).or_insert(Json::Null);
    if value.is_null() {
        *value = empty;
    }
    value
}

fn mapping<'a>(object: &'a mut Map<String, Json>, field: &str) -> Option<&'a mut Map<String, Json>> {
    under(object, field, Json::Object(Map::new())).as_object_mut()
}

fn list<'a>(object: &'a mut Map<String, Json>, field: &str) -> Option<&'a mut Vec<Json>> {
    under(object, field, Json::Array(Vec::new())).as_array_mut()
}
