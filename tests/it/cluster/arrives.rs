//! Texts of users reach the cluster byte for byte, however they look.

use std::collections::BTreeMap;

use serde_json::Value;

use super::namespaces::Project;
use super::{WAYS, cluster};
use crate::support::project::Emitted;

#[test]
fn hostile_text_arrives_byte_for_byte() {
    let Some(cluster) = cluster("hostile_text_arrives_byte_for_byte") else { return };
    for way in WAYS {
        let project = Project::mixed(cluster);
        let sent: Vec<Emitted> =
            project.objects().into_iter().filter(|emitted| emitted.object["kind"] == "ConfigMap").collect();
        for hostile in ["{{workflow.name}}", "{{=1+1}}", "${CLUSTER}", "$(NOPE)", "unclosed {{ brace", "é ☃ 🚀", "0777"]
        {
            assert!(sent.iter().any(|emitted| emitted.object["data"].to_string().contains(hostile)), "{hostile}");
        }
        cluster.say(["apply"].iter().chain(way).map(|word| (*word).to_owned()).chain(project.files(&sent)));
        for namespace in project.namespaces.values() {
            let arrived = cluster.json(["get", "configmaps", "-n", namespace, "-o", "json"]);
            let arrived: BTreeMap<&str, &Value> =
                arrived["items"].as_array().unwrap().iter().map(|object| (name(object), object)).collect();
            for Emitted { path, object } in
                sent.iter().filter(|sent| sent.object["metadata"]["namespace"] == **namespace)
            {
                let arrived = arrived[name(object)];
                for part in ["data", "binaryData", "immutable"] {
                    assert_eq!(arrived[part], object[part], "{path}: {part}");
                }
                for part in ["labels", "annotations"] {
                    for (key, text) in object["metadata"][part].as_object().unwrap() {
                        assert_eq!(&arrived["metadata"][part][key], text, "{path}: {part}: {key}");
                    }
                }
            }
        }
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}
