//! Lists of objects: `kind: List`, `PodList` and similar kinds are replaced by their items, as in kubectl.

use crate::yaml::node::{Entry, Node, Value};

/// Adds `object` to `documents`, or its items when it is a list of objects.
pub fn items(object: Node, documents: &mut Vec<Node>) {
    let Some((api_version, kind)) = as_list(&object) else {
        documents.push(object);
        return;
    };
    let Value::Map(entries) = object.value else { return };
    let Some(list) = entries.into_iter().find(|entry| entry.key == "items") else { return };
    let Value::Seq(items_of_list) = list.value.value else { return };
    for mut item in items_of_list {
        if let Some(kind) = &kind
            && (item.get("kind").is_none() || item.get("apiVersion").is_none())
            && let Value::Map(entries) = &mut item.value
        {
            entries.retain(|entry| entry.key != "kind" && entry.key != "apiVersion");
            entries.extend([api_version.clone(), Some(kind.clone())].into_iter().flatten());
        }
        items(item, documents);
    }
}

/// Returns the `apiVersion` and the `kind` that items of the list `object` have where they do not say.
fn as_list(object: &Node) -> Option<(Option<Entry>, Option<Entry>)> {
    let kind = object.entry("kind")?;
    let Value::String(name) = &kind.value.value else { return None };
    let item = name.strip_suffix("List")?;
    let Value::Seq(items) = &object.get("items")?.value else { return None };
    if !items.iter().all(|item| matches!(item.value, Value::Map(_))) {
        return None;
    }
    let named = (!item.is_empty()).then(|| Entry {
        value: Node { span: kind.value.span, value: Value::String(item.to_owned()) },
        ..kind.clone()
    });
    Some((object.entry("apiVersion").cloned(), named))
}
