//! One spec over another: mappings merge by key, metrics, checks and gates by name, everything else is replaced, and `null` removes.

use super::EXTENDS;
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::yaml::{Entry, Node, Value};

/// The lists of `spec` whose elements have names, and the field that has the name.
const NAMED_LISTS: [(&str, &str); 3] = [("metrics", "name"), ("checks", "metric"), ("gates", "metric")];

/// Returns the spec `base` with what `own` says over it.
pub(super) fn spec(base: &Node, own: &Node) -> Node {
    join(base, own, &|base, own| match NAMED_LISTS.iter().find(|(list, _)| *list == own.key) {
        Some((_, name)) if is_list(base) && is_list(&own.value) => by_name(base, &own.value, name),
        _ => deep(base, &own.value),
    })
}

/// Reports the empty lists of `own` that would look as if they removed what `base` has.
pub(super) fn without_effect(base: &Node, own: &Node) -> Vec<Diagnostic> {
    let is_empty = |node: &Node| is_list(node) && node.items().is_empty();
    let is_one = |(list, _): &&(&str, &str)| {
        own.get(list).is_some_and(is_empty) && base.get(list).is_some_and(|base| !base.items().is_empty())
    };
    let finding = |(list, name): &(&str, &str)| {
        let at = own.get(list)?.span;
        let fault =
            Diagnostic::at(&code::KB0399, at, format!("an empty list adds nothing to the {list} of the fragments"));
        Some(fault.help(format!(
            "write `{list}: null` to remove all of them, or one element with its `{name}` and `null` for its other fields"
        )))
    };
    NAMED_LISTS.iter().filter(is_one).filter_map(finding).collect()
}

/// Returns the mapping without one of its fields.
pub(super) fn without(node: &Node, field: &str) -> Node {
    let entries = node.entries().iter().filter(|entry| entry.key != field).cloned().collect();
    Node { span: node.span, value: Value::Map(entries) }
}

/// Returns the document without `extends`, once that is followed and found valid.
pub(crate) fn without_extends(root: &Node) -> Node {
    let entry = |entry: &Entry| match entry.key.as_str() {
        "spec" => Entry { value: without(&entry.value, EXTENDS), ..entry.clone() },
        _ => entry.clone(),
    };
    Node { span: root.span, value: Value::Map(root.entries().iter().map(entry).collect()) }
}

/// Returns the document of a fragment without the fields that remove something.
pub(crate) fn without_null(node: &Node) -> Node {
    let value = match &node.value {
        Value::Map(entries) => {
            let said = entries.iter().filter(|entry| !matches!(entry.value.value, Value::Null));
            Value::Map(said.map(|entry| Entry { value: without_null(&entry.value), ..entry.clone() }).collect())
        }
        other => other.clone(),
    };
    Node { span: node.span, value }
}

fn is_list(node: &Node) -> bool {
    matches!(node.value, Value::Seq(_))
}

/// Returns `base` with `own` over it: mappings merge by key, anything else is replaced.
pub(crate) fn deep(base: &Node, own: &Node) -> Node {
    match (&base.value, &own.value) {
        (Value::Map(_), Value::Map(_)) => join(base, own, &|base, own| deep(base, &own.value)),
        _ => own.clone(),
    }
}

/// Returns the mapping `base` with the keys of `own`, without those that `own` has as `null`, and those of both as `both` makes them.
pub(crate) fn join(base: &Node, own: &Node, both: &dyn Fn(&Node, &Entry) -> Node) -> Node {
    let mut entries = Vec::new();
    for entry in base.entries() {
        match own.entry(&entry.key) {
            None => entries.push(entry.clone()),
            Some(Entry { value: Node { value: Value::Null, .. }, .. }) => {}
            Some(over) => entries.push(Entry { value: both(&entry.value, over), ..over.clone() }),
        }
    }
    entries.extend(own.entries().iter().filter(|entry| base.get(&entry.key).is_none()).cloned());
    Node { span: own.span, value: Value::Map(entries) }
}

/// Returns the list `base` with each element of `own` over the one of its name, and those of other names at the end. An element of which
/// only the name is left is removed.
fn by_name(base: &Node, own: &Node, field: &str) -> Node {
    let mut items: Vec<Node> = base.items().to_vec();
    for item in own.items() {
        let name = name(item, field);
        let known = items.iter().position(|known| name.is_some() && self::name(known, field) == name);
        let Some((at, known)) = known.and_then(|at| Some((at, items.get_mut(at)?))) else {
            items.push(item.clone());
            continue;
        };
        *known = deep(known, item);
        if known.entries().iter().all(|entry| entry.key == field) {
            items.remove(at);
        }
    }
    Node { span: own.span, value: Value::Seq(items) }
}

/// Returns the name of an element. A check of the whole run is called by its only field, such as `restarts`; a metric without a name
/// is like no other.
pub(crate) fn name<'n>(item: &'n Node, field: &str) -> Option<&'n str> {
    match (item.get(field).and_then(Node::as_text), item.entries()) {
        (Some(name), _) => Some(name),
        (None, [only]) if field == "metric" => Some(&only.key),
        _ => None,
    }
}
