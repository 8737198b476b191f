//! The pods of a Workflow's template, as a pod spec: what Argo puts together from the template and from the Workflow.

use super::embedded;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// The name that Argo gives the container of a template.
const MAIN: &str = "main";
/// Fields that both a template and a Workflow's `spec` may set for its pods; the template's takes precedence.
const SHARED: [&str; 2] = ["securityContext", "automountServiceAccountToken"];
/// Lists that come from both.
const ADDED: [&str; 1] = ["volumes"];

/// Returns the pod of the template at `pointer` into `object`, with its places; nothing where that is no template of a Workflow
/// with a container of the user's.
pub(super) fn pod(object: &Node, pointer: &str) -> Option<Node> {
    let (spec, _) = pointer.rsplit_once("/templates/")?;
    let (spec, template) = (at_pointer(object, spec)?, at_pointer(object, pointer)?);
    let container = ["container", "script"].iter().find_map(|field| template.entry(field));
    let mut containers: Vec<Node> = container.map(named_main).into_iter().collect();
    let of_set = template.get("containerSet").and_then(|set| set.get("containers")).map(Node::items);
    containers.extend(of_set.unwrap_or_default().iter().cloned());
    if containers.is_empty() {
        return None;
    }
    containers.extend(template.items_of("sidecars").iter().cloned());
    let span = containers.first().map_or(template.span, |first| first.span);
    let list = |items: Vec<Node>| Node { span, value: Value::Seq(items) };
    let entry = |key: &str, value: Node| Entry { key: key.to_owned(), key_span: value.span, value };
    let mut entries = vec![entry("containers", list(containers))];
    for field in SHARED {
        let said = template.get(field).or_else(|| spec.get(field));
        entries.extend(said.map(|node| entry(field, node.clone())));
    }
    entries.extend(template.get("initContainers").map(|node| entry("initContainers", node.clone())));
    for field in ADDED {
        let both = [template, spec].into_iter().filter_map(|node| node.get(field)).flat_map(Node::items);
        let both: Vec<Node> = both.cloned().collect();
        if !both.is_empty() {
            entries.push(entry(field, list(both)));
        }
    }
    Some(Node { span, value: Value::Map(entries) })
}

/// Returns what Argo patches the pod of the template at `pointer` into `object` with, in the order in which it does.
pub(super) fn patches(object: &Node, pointer: &str) -> Vec<Node> {
    let Some((spec, _)) = pointer.rsplit_once("/templates/") else { return Vec::new() };
    let places = [spec, pointer].into_iter().filter_map(|place| at_pointer(object, place)?.get("podSpecPatch"));
    places.filter_map(embedded::read).flat_map(|text| text.documents).collect()
}

/// Returns a container with the name that Argo gives it.
fn named_main(container: &Entry) -> Node {
    let mut named = container.value.clone();
    if let Value::Map(entries) = &mut named.value {
        entries.retain(|entry| entry.key != "name");
        let value = Node { span: container.key_span, value: Value::String(MAIN.to_owned()) };
        entries.push(Entry { key: "name".to_owned(), key_span: container.key_span, value });
    }
    named
}

/// Returns the node that a JSON Pointer points to.
pub(super) fn at_pointer<'n>(node: &'n Node, pointer: &str) -> Option<&'n Node> {
    pointer.split('/').skip(1).try_fold(node, |node, step| match &node.value {
        Value::Seq(items) => items.get(step.parse::<usize>().ok()?),
        _ => node.get(&step.replace("~1", "/").replace("~0", "~")),
    })
}
