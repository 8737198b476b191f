//! The pods that an object of an unknown kind asks for: whatever in it looks like a pod template, or is an object of a kind that
//! is known.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::kind_of;
use super::pod_set::PodSet;
use crate::model::TemplateForm;
use kubebench_contract::text_at;

/// Deeper nesting than any API has.
const MAX_DEPTH: usize = 32;
/// Fields next to a template that say how many pods there are.
const COUNTS: [&str; 4] = ["replicas", "parallelism", "numNodes", "instances"];
/// Fields on the way to a template that say nothing of whose it is.
const MEANINGLESS: [&str; 5] = ["spec", "template", "podTemplate", "podSpec", "jobTemplate"];

/// Returns the pods in the order of the object, each with a role of its own.
pub(super) fn pod_sets(object: &Json) -> Vec<PodSet> {
    let mut sets = Vec::new();
    search(object, "", Named { role: "pod", replicas: 1 }, &mut sets, 0);
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for set in &mut sets {
        let count = seen.entry(set.role.clone()).or_default();
        *count += 1;
        if *count > 1 {
            set.role = format!("{}-{count}", set.role);
        }
    }
    sets
}

/// What the way to a place says of the pods there.
#[derive(Clone, Copy)]
struct Named<'a> {
    role: &'a str,
    replicas: u32,
}

fn search(value: &Json, at: &str, named: Named<'_>, sets: &mut Vec<PodSet>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Json::Object(fields) => {
            if let Some(kind) = kind_of(value) {
                let of_kind = (kind.pods)(value).into_iter();
                sets.extend(of_kind.map(|set| set.below(at)));
                return;
            }
            if text_at(value, "/kind") == "Pod" && text_at(value, "/apiVersion") == "v1" {
                let form = TemplateForm::Pod { metadata: format!("{at}/metadata"), container: None };
                sets.push(PodSet { form, ..PodSet::new(label_of(named.role), 1, 1, format!("{at}/spec")) });
                return;
            }
            if is_pod_template(value) {
                let role = label_of(named.role);
                let Named { replicas, .. } = named;
                sets.push(PodSet::new(role, replicas, replicas, at));
                return;
            }
            let said = COUNTS.iter().find_map(|count| u32::try_from(fields.get(*count)?.as_u64()?).ok());
            let replicas = said.unwrap_or(named.replicas);
            let own = ["name", "groupName"].iter().find_map(|field| fields.get(*field)?.as_str());
            for (field, value) in fields.iter().filter(|(field, _)| *field != "metadata" && *field != "status") {
                let role = if MEANINGLESS.contains(&field.as_str()) { own.unwrap_or(named.role) } else { field };
                let step = field.replace('~', "~0").replace('/', "~1");
                search(value, &format!("{at}/{step}"), Named { role, replicas }, sets, depth + 1);
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(item, &format!("{at}/{index}"), named, sets, depth + 1);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// A mapping whose `spec` has containers, and which is no whole object of its own.
fn is_pod_template(value: &Json) -> bool {
    let containers = value.pointer("/spec/containers").and_then(Json::as_array);
    containers
        .is_some_and(|containers| !containers.is_empty() && containers.iter().all(|one| one.get("name").is_some()))
        && text_at(value, "/kind").is_empty()
}

/// Returns `name` as the value of a label.
fn label_of(name: &str) -> String {
    let letters =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' });
    let label: String = letters.take(40).collect();
    let label = label.trim_matches('-');
    if label.is_empty() { "pod".to_owned() } else { label.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::pod_sets;

    #[test]
    fn pods_are_found_wherever_they_are() {
        let pod = json!({"spec": {"containers": [{"name": "main", "image": "x"}]}});
        let object = json!({
            "apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"template": pod},
            "spec": {
                "replicas": 2, "template": pod,
                "groups": [{"name": "a/b", "replicas": 3, "template": pod}, {"name": "c", "template": pod}],
                "leader": {"podTemplate": pod}, "none": {"spec": {"containers": []}},
                "components": [{"template": {"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 4, "template": pod}}}],
            },
        });
        let found: Vec<_> = pod_sets(&object).into_iter().map(|set| (set.role, set.replicas, set.template)).collect();
        let wanted = [
            ("job", 4, "/spec/components/0/template/spec/template"),
            ("a-b", 3, "/spec/groups/0/template"),
            ("c", 2, "/spec/groups/1/template"),
            ("leader", 2, "/spec/leader/podTemplate"),
            ("pod", 2, "/spec/template"),
        ];
        let wanted = wanted.map(|(role, replicas, at)| (role.to_owned(), replicas, at.to_owned()));
        assert_eq!(found, wanted);
    }
}
