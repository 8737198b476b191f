//! What pods refer to and git does not own: Secrets, ConfigMaps, claims, accounts, classes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report, elements, quoted, text_at};

const CHECK: &str = "references";

/// A kind of object, by its plural, and its name.
type Place = (&'static str, String);

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let mut wanted: BTreeMap<Place, (BTreeSet<String>, String)> = BTreeMap::new();
    for pod in &needs.pods {
        for (place, key) in references(&pod.spec) {
            let entry = wanted.entry(place).or_insert_with(|| (BTreeSet::new(), pod.name()));
            entry.0.extend(key);
        }
    }
    let own: BTreeSet<Place> = [
        ("configmaps", "ConfigMap"),
        ("persistentvolumeclaims", "PersistentVolumeClaim"),
        ("serviceaccounts", "ServiceAccount"),
    ]
    .into_iter()
    .flat_map(|(plural, kind)| needs.names(kind).into_iter().map(move |name| (plural, name)))
    .collect();
    let mut found = Vec::new();
    for ((plural, name), (keys, who)) in wanted.into_iter().filter(|(place, _)| !own.contains(place)) {
        let what = kind(plural);
        let path = match plural {
            "priorityclasses" => format!("/apis/scheduling.k8s.io/v1/priorityclasses/{name}"),
            "runtimeclasses" => format!("/apis/node.k8s.io/v1/runtimeclasses/{name}"),
            _ => format!("/api/v1/namespaces/{}/{plural}/{name}", needs.target.namespace),
        };
        match facts.read(&path) {
            Fact::There(object) => {
                let has = |key: &&String| {
                    ["data", "binaryData"].iter().any(|field| {
                        object.pointer(&format!("/{field}")).and_then(|data| data.get(key.as_str())).is_some()
                    })
                };
                let missing: Vec<&str> = keys.iter().filter(|key| !has(key)).map(String::as_str).collect();
                if missing.is_empty() {
                    found.push(format!("{what} {name}"));
                } else {
                    let seen = format!("the {what} `{name}` has no key {}, which {who} reads", quoted(missing));
                    report.error(CHECK, seen, "add the key, or correct the spec: its pods cannot start");
                }
            }
            Fact::Absent => {
                let seen = format!("there is no {what} `{name}`, which {who} needs");
                report.error(CHECK, seen, "create it, or correct the spec: its pods cannot start");
            }
            Fact::Forbidden(why) => report.unknown(CHECK, &format!("the {what} `{name}`, which {who} needs"), &why),
        }
    }
    if !found.is_empty() {
        report.ok(CHECK, format!("found: {}", quoted(found.iter().map(String::as_str))));
    }
}

fn kind(plural: &str) -> &'static str {
    match plural {
        "secrets" => "Secret",
        "configmaps" => "ConfigMap",
        "persistentvolumeclaims" => "PersistentVolumeClaim",
        "serviceaccounts" => "ServiceAccount",
        "priorityclasses" => "PriorityClass",
        _ => "RuntimeClass",
    }
}

/// Returns what a pod needs to start, with the key where one is read.
fn references(spec: &Json) -> Vec<(Place, Option<String>)> {
    let mut found: Vec<(Place, Option<String>)> = Vec::new();
    let mut add = |plural: &'static str, name: &str, key: Option<&str>, optional: Option<&Json>| {
        // Argo's own tags are not names.
        if !name.is_empty() && !name.contains("{{") && optional != Some(&Json::Bool(true)) {
            found.push(((plural, name.to_owned()), key.filter(|key| !key.is_empty()).map(str::to_owned)));
        }
    };
    for container in elements(spec, "/containers").chain(elements(spec, "/initContainers")) {
        for variable in elements(container, "/env") {
            for (field, plural) in [("secretKeyRef", "secrets"), ("configMapKeyRef", "configmaps")] {
                let Some(from) = variable.get("valueFrom").and_then(|from| from.get(field)) else { continue };
                add(plural, text_at(from, "/name"), Some(text_at(from, "/key")), from.get("optional"));
            }
        }
        for from in elements(container, "/envFrom") {
            for (field, plural) in [("secretRef", "secrets"), ("configMapRef", "configmaps")] {
                let Some(from) = from.get(field) else { continue };
                add(plural, text_at(from, "/name"), None, from.get("optional"));
            }
        }
    }
    for volume in elements(spec, "/volumes") {
        add("persistentvolumeclaims", text_at(volume, "/persistentVolumeClaim/claimName"), None, None);
        // A Secret says its name otherwise where it is the only source.
        let alone = [("secret", "secrets", "/secretName"), ("configMap", "configmaps", "/name")];
        let among = [("secret", "secrets", "/name"), ("configMap", "configmaps", "/name")];
        let projected = elements(volume, "/projected/sources").map(|source| (source, among));
        for (source, forms) in std::iter::once((volume, alone)).chain(projected) {
            for (field, plural, name) in forms {
                let Some(from) = source.get(field) else { continue };
                let keys = elements(from, "/items").map(|item| Some(text_at(item, "/key")));
                for key in std::iter::once(None).chain(keys) {
                    add(plural, text_at(from, name), key, from.get("optional"));
                }
            }
        }
    }
    for secret in elements(spec, "/imagePullSecrets") {
        add("secrets", text_at(secret, "/name"), None, None);
    }
    add("serviceaccounts", text_at(spec, "/serviceAccountName"), None, None);
    add("priorityclasses", text_at(spec, "/priorityClassName"), None, None);
    add("runtimeclasses", text_at(spec, "/runtimeClassName"), None, None);
    found
}
