//! What a pod of the user's own object gets: labels, the variables of the run, and the volume of results where the spec asks
//! for it. Nothing else of it is touched.

use serde_json::{Map, Value as Json, json};

use super::{meta, pod, template};
use crate::model::{Benchmark, Case, Role, TemplateAt};

/// Equips the pods that stand at `at` in `object`.
pub(super) fn equip(object: &mut Json, at: &TemplateAt, (benchmark, case, role): (&Benchmark, Option<&Case>, &Role)) {
    let metadata = at.metadata();
    let (owner, field) = metadata.rsplit_once('/').unwrap_or_default();
    let owner = object.pointer_mut(owner).and_then(Json::as_object_mut);
    if let (Some(labels), Json::Object(ours)) = (
        owner.and_then(|owner| mapping(owner, field)).and_then(|metadata| mapping(metadata, "labels")),
        meta::pod_labels(benchmark, case),
    ) {
        labels.extend(ours);
        labels.insert(meta::ROLE.to_owned(), role.name.as_str().into());
    }
    let Some(main) = template::main_container(object, at, &role.container_name) else { return };
    let Some(Json::Object(main)) = object.pointer_mut(&main) else { return };
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
    let pod = object.pointer_mut(&at.pod()).and_then(Json::as_object_mut);
    if let Some(volumes) = pod.and_then(|pod| list(pod, "volumes")) {
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
