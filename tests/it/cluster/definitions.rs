//! Definitions of kinds whose controllers do not run: as they are published, or by their names alone.

use serde_json::{Value, json};

use super::{Cluster, eventually};
use crate::support::judges;
use crate::support::project::{Folder, assert_yes};

/// Installs the definition of `kind` in `group`, which keeps whatever it is given.
pub(super) fn of_anything(cluster: &Cluster, (group, version): (&str, &str), kind: &str, plural: &str) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
            "versions": [{
                "name": version, "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    });
    install(cluster, &definition);
}

/// Installs the published definition of a kind; false where it is not at hand.
pub(super) fn as_published(cluster: &Cluster, api_version: &str, kind: &str) -> bool {
    let (group, version) = api_version.split_once('/').expect(api_version);
    let Some(mut definition) = judges::definition(group, version, kind) else { return false };
    give_items_types(&mut definition);
    install(cluster, &definition);
    true
}

/// Installs a definition, and returns when its kind is served.
pub(super) fn install(cluster: &Cluster, definition: &Value) {
    let folder = Folder::with([("crd.json", definition.to_string().as_str())]);
    let file = folder.path().join("crd.json").display().to_string();
    assert_yes(&cluster.kubectl(["apply", "--server-side", "--force-conflicts", "-f", &file]));
    let name = definition["metadata"]["name"].as_str().unwrap();
    // `kubectl wait` fails where there are no conditions yet.
    eventually(name, || {
        let there = cluster.json(["get", "customresourcedefinition", name, "-o", "json"]);
        let conditions = there["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True").then_some(())
    });
}

/// Seldon publishes lists of which it does not say what they hold, and the API server refuses the whole definition for it.
fn give_items_types(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(give_items_types),
        Value::Object(fields) => {
            fields.values_mut().for_each(give_items_types);
            if fields.get("type").is_some_and(|name| name == "array")
                && let Some(Value::Object(items)) = fields.get_mut("items")
                && items.is_empty()
            {
                items.insert("type".to_owned(), "object".into());
                items.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
            }
        }
        _ => {}
    }
}
