//! Strategic merge patches: what users may say over what Kubebench emits.
//!
//! Lists merge by the key that Kubernetes gives them, `null` removes, `$patch: replace|delete` work as in kubectl.

use k8s_openapi::api::core::v1::{Container, PodSpec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use crate::model::workload::Patch;
use crate::yaml::{Node, Step};

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
];

/// Merges `patch` into `base`.
pub(super) fn merge(base: &mut Json, patch: &Json) {
    let (Json::Object(_), Json::Object(patch)) = (&*base, patch) else {
        *base = patch.clone();
        return;
    };
    if patch.get("$patch").is_some_and(|directive| directive == "replace") {
        *base = Json::Object(without_directives(patch));
        return;
    }
    let Json::Object(base) = base else { return };
    for (key, value) in without_directives(patch) {
        match (base.get_mut(&key), &value) {
            (_, Json::Null) => {
                base.remove(&key);
            }
            (Some(Json::Array(list)), Json::Array(changes)) if merge_key(&key).is_some() => {
                merge_list(list, changes, merge_key(&key).unwrap_or_default());
            }
            (Some(old), _) => merge(old, &value),
            (None, _) => {
                let mut fresh = Json::Null;
                if value.is_object() {
                    fresh = Json::Object(Map::new());
                }
                merge(&mut fresh, &value);
                base.insert(key, fresh);
            }
        }
    }
}

fn merge_key(list: &str) -> Option<&'static str> {
    MERGE_KEYS.iter().find(|(name, _)| *name == list).map(|(_, key)| *key)
}

fn without_directives(object: &Map<String, Json>) -> Map<String, Json> {
    object.iter().filter(|(key, _)| !key.starts_with('$')).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn merge_list(list: &mut Vec<Json>, changes: &[Json], key: &str) {
    if changes.iter().any(|change| change.get("$patch").is_some_and(|directive| directive == "replace")) {
        list.clear();
    }
    for change in changes {
        let id = change.get(key);
        let at = list.iter().position(|item| id.is_some() && item.get(key) == id);
        match (change.get("$patch").and_then(Json::as_str), at) {
            (Some("delete"), Some(at)) => {
                list.remove(at);
            }
            (Some("replace"), _) | (Some("delete"), None) => {}
            (_, Some(at)) => {
                if let Some(item) = list.get_mut(at) {
                    drop_alternatives(item, change);
                    merge(item, change);
                }
            }
            (_, None) => list.push(change.clone()),
        }
    }
}

/// A volume has one source, and a variable a value or a source of it: what the change brings replaces what was there.
fn drop_alternatives(item: &mut Json, change: &Json) {
    const SHARED: &[&str] = &["name", "mountPath", "readOnly", "subPath", "containerPort", "protocol"];
    let (Json::Object(item), Json::Object(change)) = (item, change) else { return };
    let is_variable = item.contains_key("value") || item.contains_key("valueFrom");
    let is_volume =
        !is_variable && ["emptyDir", "persistentVolumeClaim"].iter().any(|source| item.contains_key(*source));
    let brings = |key: &str| change.get(key).is_some_and(|value| !value.is_null()) && !SHARED.contains(&key);
    if is_variable && (brings("value") || brings("valueFrom"))
        || is_volume && change.keys().any(|key| brings(key) && !item.contains_key(key))
    {
        item.retain(|key, _| SHARED.contains(&key.as_str()) || change.contains_key(key));
    }
}

/// Reports fields of a pod patch that the Kubernetes API does not have.
pub(super) fn check_pod(patch: &Patch, diagnostics: &mut Diagnostics) {
    check_known::<PodSpec>(patch, "the pod spec", diagnostics);
}

/// Reports fields of a container patch that the Kubernetes API does not have.
pub(super) fn check_container(patch: &Patch, diagnostics: &mut Diagnostics) {
    check_known::<Container>(patch, "the container", diagnostics);
}

/// Reads the patch as the API's own type and looks for what got lost on the way.
fn check_known<T: DeserializeOwned + Serialize>(patch: &Patch, owner: &str, diagnostics: &mut Diagnostics) {
    let plain = plain(&patch.value);
    match serde_json::from_value::<T>(plain.clone()) {
        Ok(typed) => {
            let known = serde_json::to_value(typed).unwrap_or_default();
            report_lost(&plain, &known, &patch.node, &mut Vec::new(), owner, diagnostics);
        }
        Err(error) => {
            let fault =
                Diagnostic::at(&code::KB0316, patch.node.span, format!("{owner} cannot be patched so: {error}"));
            diagnostics.push(fault.help("`kubectl explain pod.spec` shows the fields and their types"));
        }
    }
}

/// Returns the patch without removals and directives, and with quantities as the API's types want them.
fn plain(patch: &Json) -> Json {
    match patch {
        Json::Object(object) => Json::Object(
            object
                .iter()
                .filter(|(key, value)| !value.is_null() && !key.starts_with('$'))
                .map(|(key, value)| (key.clone(), if is_quantities(key) { quantities(value) } else { plain(value) }))
                .collect(),
        ),
        Json::Array(items) => Json::Array(items.iter().map(plain).collect()),
        scalar => scalar.clone(),
    }
}

fn is_quantities(key: &str) -> bool {
    matches!(key, "limits" | "requests" | "overhead" | "sizeLimit" | "divisor")
}

fn quantities(value: &Json) -> Json {
    match value {
        Json::Object(object) => {
            Json::Object(object.iter().map(|(key, value)| (key.clone(), quantities(value))).collect())
        }
        Json::Number(number) => Json::String(number.to_string()),
        other => other.clone(),
    }
}

fn report_lost(
    given: &Json,
    known: &Json,
    node: &Node,
    path: &mut Vec<Step>,
    owner: &str,
    diagnostics: &mut Diagnostics,
) {
    match (given, known) {
        (Json::Object(given), Json::Object(known_fields)) => {
            for (key, value) in given {
                path.push(Step::Key(key.clone()));
                match known_fields.get(key) {
                    Some(inner) => report_lost(value, inner, node, path, owner, diagnostics),
                    None => diagnostics.push(lost(key, node, path, owner)),
                }
                path.pop();
            }
        }
        (Json::Array(given), Json::Array(known)) => {
            for (index, (value, inner)) in given.iter().zip(known).enumerate() {
                path.push(Step::Index(index));
                report_lost(value, inner, node, path, owner, diagnostics);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Fields of pod specs and containers that people write most, for "did you mean".
const COMMON: &[&str] = &[
    "affinity",
    "automountServiceAccountToken",
    "containers",
    "dnsPolicy",
    "hostIPC",
    "hostNetwork",
    "imagePullPolicy",
    "imagePullSecrets",
    "initContainers",
    "lifecycle",
    "nodeName",
    "nodeSelector",
    "ports",
    "priorityClassName",
    "resources",
    "runtimeClassName",
    "schedulerName",
    "securityContext",
    "shareProcessNamespace",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumeMounts",
    "volumes",
    "workingDir",
    "name",
    "mountPath",
    "readOnly",
    "subPath",
    "emptyDir",
    "hostPath",
    "persistentVolumeClaim",
    "configMap",
    "secret",
    "key",
    "operator",
    "value",
    "effect",
    "sizeLimit",
    "medium",
    "claimName",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "fsGroup",
    "capabilities",
];

fn lost(key: &str, node: &Node, path: &[Step], owner: &str) -> Diagnostic {
    let parent = path.split_last().and_then(|(_, parents)| node.at(parents));
    let span = parent.and_then(|parent| parent.entry(key)).map_or(node.span, |entry| entry.key_span);
    let fault = Diagnostic::at(&code::KB0316, span, format!("`{key}` is not a field of {owner} here"))
        .note("the API server would drop it or refuse the pod");
    match did_you_mean(key, COMMON.iter().copied()) {
        Some(close) if close != key => fault.help(format!("did you mean `{close}`?")),
        _ => fault.help("`kubectl explain pod.spec --recursive` lists all fields"),
    }
}

/// Reports fields of `patch` that Kubebench itself must set; each is given with what to write instead.
pub(super) fn refuse_owned(patch: &Patch, owned: &[(&str, &str)], diagnostics: &mut Diagnostics) {
    for (path, instead) in owned {
        let steps: Vec<Step> = path.split('.').map(Step::from).collect();
        let Some((last, parents)) = steps.split_last() else { continue };
        let Step::Key(key) = last else { continue };
        if let Some(entry) = patch.node.at(parents).and_then(|parent| parent.entry(key)) {
            let fault = Diagnostic::at(
                &code::KB0315,
                entry.key_span,
                format!("`{path}` is set by kubebench and cannot be patched"),
            );
            diagnostics.push(fault.help(*instead));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(mut base: Json, patch: &Json, expected: &Json) {
        merge(&mut base, patch);
        assert_eq!(base, *expected);
    }

    #[test]
    fn lists_merge_by_their_key_and_null_removes() {
        let base = json!({ "a": 1, "volumes": [{ "name": "x", "emptyDir": {} }], "tolerations": [{ "key": "k" }] });
        let patch = json!({ "a": null, "volumes": [{ "name": "y", "emptyDir": {} }], "tolerations": [] });
        check(
            base,
            &patch,
            &json!({ "volumes": [{ "name": "x", "emptyDir": {} }, { "name": "y", "emptyDir": {} }], "tolerations": [] }),
        );
    }

    #[test]
    fn a_volume_keeps_one_source_and_a_variable_one_value() {
        let base = json!({ "volumes": [{ "name": "dshm", "emptyDir": { "medium": "Memory" } }] });
        let patch = json!({ "volumes": [{ "name": "dshm", "persistentVolumeClaim": { "claimName": "z" } }] });
        check(base, &patch, &patch);
        let base = json!({ "env": [{ "name": "HOME", "value": "/tmp" }] });
        let patch =
            json!({ "env": [{ "name": "HOME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }] });
        check(base, &patch, &patch);
        let base = json!({ "volumes": [{ "name": "dshm", "emptyDir": { "medium": "Memory" } }] });
        let patch = json!({ "volumes": [{ "name": "dshm", "emptyDir": { "sizeLimit": "1Gi" } }] });
        check(
            base,
            &patch,
            &json!({ "volumes": [{ "name": "dshm", "emptyDir": { "medium": "Memory", "sizeLimit": "1Gi" } }] }),
        );
    }
}
