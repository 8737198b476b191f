//! Strategic merge patches: what users may say over what Kubebench emits.
//!
//! Lists merge by the key that Kubernetes gives them, `null` removes, `$patch: replace|delete` work as in kubectl.

mod conflict;
mod directive;
mod object;
mod owned;
mod repeated;

use serde_json::{Map, Value as Json};

use crate::api;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::yaml::Node;

pub(super) use conflict::report as report_conflicts;
pub(super) use object::apply_to_object;
pub(super) use owned::{refuse_owned, refuse_resources};

/// The merge keys of lists in pod specs (`patchMergeKey` in the Kubernetes API); all other lists are replaced.
const MERGE_KEYS: &[(&str, &str)] = &[
    ("containers", "name"),
    ("initContainers", "name"),
    ("ephemeralContainers", "name"),
    ("volumes", "name"),
    ("env", "name"),
    ("ports", "containerPort"),
    ("volumeMounts", "mountPath"),
    ("volumeDevices", "devicePath"),
    ("imagePullSecrets", "name"),
    ("hostAliases", "ip"),
    ("topologySpreadConstraints", "topologyKey"),
    ("resourceClaims", "name"),
    ("schedulingGates", "name"),
    // For custom resources, whose lists have no merge key: the lists that contain roles.
    ("replicatedJobs", "name"),
    ("tasks", "name"),
    ("workerGroupSpecs", "groupName"),
];

/// Merges `patch` into `base`.
pub(super) fn merge(base: &mut Json, patch: &Json) {
    let (Json::Object(fields), Json::Object(changes)) = (&mut *base, patch) else {
        *base = fresh(patch);
        return;
    };
    match directive(patch) {
        Some("replace") => {
            *base = fresh(patch);
            return;
        }
        Some("delete") => {
            fields.clear();
            return;
        }
        _ => {}
    }
    for (key, change) in changes.iter().filter(|(key, _)| !key.starts_with('$')) {
        match (fields.get_mut(key), change, merge_key(key)) {
            (_, Json::Null, _) => {
                fields.remove(key);
            }
            (Some(Json::Array(list)), Json::Array(changes), Some(by)) => merge_list(key, list, changes, by),
            (Some(old), _, _) => merge(old, change),
            (None, _, _) if is_removal(change) => {}
            (None, _, _) => {
                fields.insert(key.clone(), fresh(change));
            }
        }
    }
}

/// Returns the result of `patch` where there was no value: without directives, and without `null`, which means no value.
fn fresh(patch: &Json) -> Json {
    match patch {
        Json::Object(fields) => Json::Object(
            fields
                .iter()
                .filter(|(key, value)| !key.starts_with('$') && !is_removal(value))
                .map(|(key, value)| (key.clone(), fresh(value)))
                .collect::<Map<String, Json>>(),
        ),
        Json::Array(items) => {
            let is_kept = |item: &&Json| !is_removal(item) && directive(item) != Some("replace");
            Json::Array(items.iter().filter(is_kept).map(fresh).collect())
        }
        scalar => scalar.clone(),
    }
}

/// Returns true for a change that takes away what it meets.
fn is_removal(change: &Json) -> bool {
    change.is_null() || directive(change) == Some("delete")
}

fn directive(patch: &Json) -> Option<&str> {
    patch.get("$patch").and_then(Json::as_str)
}

fn merge_key(list: &str) -> Option<&'static str> {
    MERGE_KEYS.iter().find(|(name, _)| *name == list).map(|(_, key)| *key)
}

/// Merges `changes` into `list`, the field called `field`, whose elements are identified by `key`.
fn merge_list(field: &str, list: &mut Vec<Json>, changes: &[Json], key: &str) {
    if changes.iter().any(|change| directive(change) == Some("replace")) {
        list.clear();
    }
    for change in changes {
        let id = change.get(key);
        let at = list.iter().position(|item| id.is_some() && item.get(key) == id);
        match (directive(change), at) {
            (Some("delete"), Some(at)) => {
                list.remove(at);
            }
            (Some("replace"), _) | (Some("delete"), None) => {}
            (_, Some(at)) => {
                if let Some(item) = list.get_mut(at) {
                    drop_alternatives(field, item, change);
                    merge(item, change);
                }
            }
            (_, None) => list.push(fresh(change)),
        }
    }
}

/// A volume has one source, and a variable a value or a source of it: the one in the change replaces the previous one.
fn drop_alternatives(field: &str, item: &mut Json, change: &Json) {
    if !matches!(field, "volumes" | "env") {
        return;
    }
    let (Json::Object(item), Json::Object(change)) = (item, change) else { return };
    let brings = |key: &String, value: &Json| {
        key != "name" && !key.starts_with('$') && !value.is_null() && !item.contains_key(key)
    };
    if change.iter().any(|(key, value)| brings(key, value)) {
        item.retain(|key, _| key == "name" || change.contains_key(key));
    }
}

/// Returns a pod patch, reporting what in it does not match the Kubernetes API.
pub(super) fn of_pod(patch: &Node, diagnostics: &mut Diagnostics) -> Json {
    read(patch, api::POD_SPEC, "the pod spec", diagnostics)
}

/// Returns a container patch, reporting what in it does not match the Kubernetes API.
pub(super) fn of_container(patch: &Node, diagnostics: &mut Diagnostics) -> Json {
    read(patch, api::CONTAINER, "the container", diagnostics)
}

fn read(patch: &Node, wanted: api::Type, name: &str, diagnostics: &mut Diagnostics) -> Json {
    directive::check(patch, diagnostics);
    repeated::check(patch, diagnostics);
    api::read_patch(patch, wanted, name, diagnostics)
}

#[cfg(test)]
mod tests;
