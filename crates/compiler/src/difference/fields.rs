//! Which fields of two documents differ, and a document with some of them as the other one has them.

use std::collections::{BTreeMap, BTreeSet};

use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

use super::written::exact;

/// A list of scalars that is longer is compared element by element.
const SHORT_LIST: usize = 60;

/// So many steps from the root a mapping is a part of a document, and no value of a field: `spec.defaults`.
const PARTS: usize = 2;

/// A step from a node to a child.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into the element whose field `name` is this.
    Named(String),
    Index(usize),
}

/// A place whose values differ.
#[derive(Clone, Debug)]
pub(super) struct FieldChange {
    pub(super) path: Vec<Step>,
    pub(super) old: Option<Node>,
    pub(super) new: Option<Node>,
    /// How many fields below it differ.
    pub(super) fields: usize,
}

/// Returns the smallest fields that differ, in the order of the documents.
pub(super) fn changes(old: &Node, new: &Node) -> Vec<FieldChange> {
    let mut found = Vec::new();
    walk(&mut Vec::new(), old, new, &mut found);
    found
}

/// Returns at most `most` changes where the documents have so few mappings: what is deepest is taken together.
pub(super) fn at_most(most: usize, mut changes: Vec<FieldChange>, old: &Node, new: &Node) -> Vec<FieldChange> {
    /// Below `spec` a field is never more than one.
    const SHALLOWEST: usize = 2;
    let mut depth = changes.iter().map(|change| change.path.len()).max().unwrap_or_default();
    while changes.len() > most && depth > SHALLOWEST {
        depth -= 1;
        let mut below: BTreeMap<Vec<Step>, usize> = BTreeMap::new();
        for change in &changes {
            if let Some(prefix) = change.path.get(..depth).filter(|_| change.path.len() > depth) {
                *below.entry(prefix.to_vec()).or_default() += change.fields;
            }
        }
        let mut kept: Vec<FieldChange> = Vec::new();
        let mut seen = BTreeSet::new();
        for change in changes {
            let prefix = change.path.get(..depth).filter(|_| change.path.len() > depth);
            match prefix.and_then(|prefix| Some((prefix, *below.get(prefix)?))) {
                Some((prefix, fields)) if fields > 1 => {
                    if seen.insert(prefix.to_vec()) {
                        let [old, new] = [old, new].map(|document| at(document, prefix).cloned());
                        kept.push(FieldChange { path: prefix.to_vec(), old, new, fields });
                    }
                }
                _ => kept.push(change),
            }
        }
        changes = kept;
    }
    changes
}

fn walk(path: &mut Vec<Step>, old: &Node, new: &Node, found: &mut Vec<FieldChange>) {
    if is_same(old, new) {
        return;
    }
    let mut child = |step: Step, old: Option<&Node>, new: Option<&Node>| {
        path.push(step);
        let is_part = |side: Option<&Node>| path.len() <= PARTS && side.is_some_and(|node| !node.entries().is_empty());
        match (old, new) {
            (Some(old), Some(new)) => walk(path, old, new, found),
            // What is said for the first time is said field by field.
            (None, Some(new)) if is_part(Some(new)) => walk(path, &empty(), new, found),
            (Some(old), None) if is_part(Some(old)) => walk(path, old, &empty(), found),
            (old, new) => {
                found.push(FieldChange { path: path.clone(), old: old.cloned(), new: new.cloned(), fields: 1 });
            }
        }
        path.pop();
    };
    match (&old.value, &new.value) {
        (Value::Map(before), Value::Map(now)) => {
            let added = now.iter().filter(|entry| old.get(&entry.key).is_none());
            for Entry { key, .. } in before.iter().chain(added) {
                child(Step::Key(key.clone()), old.get(key), new.get(key));
            }
            return;
        }
        (Value::Seq(before), Value::Seq(now)) => {
            if let Some(names) = names_of_both(before, now) {
                for name in names {
                    child(Step::Named(name.clone()), old.element("name", &name), new.element("name", &name));
                }
                return;
            }
            let is_scalar = |node: &Node| !matches!(node.value, Value::Seq(_) | Value::Map(_));
            let is_short = || [old, new].iter().all(|list| exact(list).len() <= SHORT_LIST);
            if before.len() == now.len() && !(before.iter().chain(now).all(is_scalar) && is_short()) {
                for (index, (old, new)) in before.iter().zip(now).enumerate() {
                    child(Step::Index(index), Some(old), Some(new));
                }
                return;
            }
        }
        _ => {}
    }
    found.push(FieldChange { path: path.clone(), old: Some(old.clone()), new: Some(new.clone()), fields: 1 });
}

fn empty() -> Node {
    Node { span: Span::default(), value: Value::Map(Vec::new()) }
}

/// Returns the names of the elements of two lists, where each has one and those of both lists have one order.
fn names_of_both(before: &[Node], now: &[Node]) -> Option<Vec<String>> {
    let names = |list: &[Node]| -> Option<Vec<String>> {
        let names: Vec<String> =
            list.iter().map(|item| item.get("name")?.as_text().map(str::to_owned)).collect::<Option<_>>()?;
        let distinct: BTreeSet<&String> = names.iter().collect();
        (distinct.len() == names.len()).then_some(names)
    };
    let (before, now) = (names(before)?, names(now)?);
    let shared = |own: &[String], other: &[String]| -> Vec<String> {
        own.iter().filter(|name| other.contains(name)).cloned().collect()
    };
    if shared(&before, &now) != shared(&now, &before) {
        return None;
    }
    let added = now.iter().filter(|name| !before.contains(name)).cloned();
    Some(before.iter().cloned().chain(added).collect())
}

/// Returns whether two values are the same, wherever they are and in whatever order their keys are.
fn is_same(old: &Node, new: &Node) -> bool {
    match (&old.value, &new.value) {
        (Value::Map(before), Value::Map(now)) => {
            before.len() == now.len()
                && before.iter().all(|entry| new.get(&entry.key).is_some_and(|new| is_same(&entry.value, new)))
        }
        (Value::Seq(before), Value::Seq(now)) => {
            before.len() == now.len() && before.iter().zip(now).all(|(old, new)| is_same(old, new))
        }
        (old, new) => old == new,
    }
}

/// Returns what is at a place.
pub(super) fn at<'n>(document: &'n Node, path: &[Step]) -> Option<&'n Node> {
    path.iter().try_fold(document, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Named(name) => node.element("name", name),
        Step::Index(index) => node.items().get(*index),
    })
}

/// Puts a value at a place, or removes what is there.
pub(super) fn put(document: &mut Node, path: &[Step], value: Option<&Node>) {
    let Some((step, rest)) = path.split_first() else {
        if let Some(value) = value {
            *document = value.clone();
        }
        return;
    };
    let place = match (&mut document.value, step) {
        (Value::Map(entries), Step::Key(key)) => {
            let found = entries.iter().position(|entry| entry.key == *key);
            match (found, value) {
                (Some(found), None) if rest.is_empty() => {
                    entries.remove(found);
                    return;
                }
                (None, Some(value)) if rest.is_empty() => {
                    entries.push(Entry { key: key.clone(), key_span: value.span, value: value.clone() });
                    return;
                }
                (None, Some(_)) => {
                    entries.push(Entry { key: key.clone(), key_span: Span::default(), value: empty() });
                    entries.last_mut().map(|entry| &mut entry.value)
                }
                _ => found.and_then(|found| entries.get_mut(found)).map(|entry| &mut entry.value),
            }
        }
        (Value::Seq(items), Step::Named(name)) => {
            let is_it = |item: &Node| item.get("name").and_then(Node::as_text) == Some(name);
            let found = items.iter().position(is_it);
            match (found, value) {
                (Some(found), None) if rest.is_empty() => {
                    items.remove(found);
                    return;
                }
                (None, Some(value)) if rest.is_empty() => {
                    items.push(value.clone());
                    return;
                }
                _ => found.and_then(|found| items.get_mut(found)),
            }
        }
        (Value::Seq(items), Step::Index(index)) => items.get_mut(*index),
        _ => None,
    };
    if let Some(place) = place {
        put(place, rest, value);
    }
}
