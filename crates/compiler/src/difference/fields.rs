//! Which fields of two documents differ, and a document with some of its fields taken from the other.

use std::collections::{BTreeMap, BTreeSet};

use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

use super::lists::{Item, Pairs, identity, pairs};

/// So many steps from the root a mapping is a part of a document, and no value of a field: `spec.defaults`.
const PARTS: usize = 2;

/// A step from a node to a child.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into the element that one of its fields calls so.
    Named(&'static str, String),
    /// Into an element that has no name.
    Item(Item),
}

/// Which of two documents is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Base,
    Head,
}

/// A place whose values differ.
#[derive(Clone, Debug)]
pub(super) struct FieldChange {
    pub(super) path: Vec<Step>,
    pub(super) old: Option<Node>,
    pub(super) new: Option<Node>,
    /// How many fields below it differ.
    pub(super) fields: usize,
    /// The texts that are before it in the lists of both sides: an option may say that its value is secret.
    pub(super) before: Vec<String>,
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
                        let sides = [(old, Of::Base), (new, Of::Head)];
                        let [old, new] = sides.map(|(document, of)| at(document, prefix, of).cloned());
                        kept.push(FieldChange { path: prefix.to_vec(), old, new, fields, before: Vec::new() });
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
    let mut child = |step: Step, old: Option<&Node>, new: Option<&Node>, before: Vec<String>| {
        path.push(step);
        let is_part = |side: Option<&Node>| path.len() <= PARTS && side.is_some_and(has_names);
        let is_scalar = |node: &Node| node.items().is_empty() && node.entries().is_empty();
        match (old, new) {
            (Some(old), Some(new)) if before.is_empty() || !(is_scalar(old) || is_scalar(new)) => {
                walk(path, old, new, found);
            }
            // A value that is new as a whole is listed field by field.
            (None, Some(new)) if is_part(Some(new)) => walk(path, &empty(new), new, found),
            (Some(old), None) if is_part(Some(old)) => walk(path, old, &empty(old), found),
            (old, new) => {
                let [old, new] = [old, new].map(Option::<&Node>::cloned);
                found.push(FieldChange { path: path.clone(), old, new, fields: 1, before });
            }
        }
        path.pop();
    };
    match (&old.value, &new.value) {
        (Value::Map(before), Value::Map(now)) => {
            let added = now.iter().filter(|entry| old.get(&entry.key).is_none());
            for Entry { key, .. } in before.iter().chain(added) {
                child(Step::Key(key.clone()), old.get(key), new.get(key), Vec::new());
            }
            return;
        }
        (Value::Seq(before), Value::Seq(now)) => match pairs(before, now) {
            Pairs::Named(field, names) => {
                for name in names {
                    let [old, new] = [before, now].map(|list| named(list, field, &name));
                    child(Step::Named(field, name), old, new, Vec::new());
                }
                return;
            }
            Pairs::Items(items) => {
                for item in items {
                    let [old, new] = [(before, Of::Base), (now, Of::Head)].map(|(list, of)| taken(list, item, of));
                    let ahead = [(before, Of::Base), (now, Of::Head)].map(|(list, of)| item.ahead(list, of));
                    let ahead = ahead.into_iter().flatten().filter_map(Node::as_text).map(str::to_owned).collect();
                    child(Step::Item(item), old.as_ref(), new.as_ref(), ahead);
                }
                return;
            }
            Pairs::Whole => {}
        },
        _ => {}
    }
    let [old, new] = [old, new].map(|node| Some(node.clone()));
    found.push(FieldChange { path: path.clone(), old, new, fields: 1, before: Vec::new() });
}

fn named<'n>(list: &'n [Node], field: &str, name: &str) -> Option<&'n Node> {
    list.iter().find(|item| identity(item, field) == Some(name))
}

/// Returns a mapping without entries, or a list without elements, as `like` is one.
fn empty(like: &Node) -> Node {
    let value = if matches!(like.value, Value::Seq(_)) { Value::Seq(Vec::new()) } else { Value::Map(Vec::new()) };
    Node { span: Span::default(), value }
}

/// Returns whether what is in a node is known by names.
fn has_names(node: &Node) -> bool {
    !node.entries().is_empty() || matches!(pairs(&[], node.items()), Pairs::Named(..))
}

/// Returns an element, or several one after another as a list of their own.
fn taken(list: &[Node], item: Item, of: Of) -> Option<Node> {
    if !item.is_in(of) {
        return None;
    }
    match list.get(item.range(list, of))? {
        [only] if !item.is_several() => Some(only.clone()),
        all => Some(Node { span: all.first()?.span, value: Value::Seq(all.to_vec()) }),
    }
}

/// Returns whether two values are the same, wherever they are and in whatever order their keys are.
pub(super) fn is_same(old: &Node, new: &Node) -> bool {
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
pub(super) fn at<'n>(document: &'n Node, path: &[Step], of: Of) -> Option<&'n Node> {
    path.iter().try_fold(document, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Named(field, name) => named(node.items(), field, name),
        Step::Item(item) => item.of(node.items(), of),
    })
}

/// Puts a value at a place of a document, or removes what is there. Of several in one list, the last comes first.
pub(super) fn put(document: &mut Node, path: &[Step], value: Option<&Node>, of: Of) {
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
                    let is_list = !matches!(rest.first(), Some(Step::Key(_)));
                    let value = if is_list { Value::Seq(Vec::new()) } else { Value::Map(Vec::new()) };
                    let value = Node { span: Span::default(), value };
                    entries.push(Entry { key: key.clone(), key_span: Span::default(), value });
                    entries.last_mut().map(|entry| &mut entry.value)
                }
                _ => found.and_then(|found| entries.get_mut(found)).map(|entry| &mut entry.value),
            }
        }
        (Value::Seq(items), Step::Named(field, name)) => {
            let found = items.iter().position(|item| identity(item, field) == Some(name));
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
        (Value::Seq(items), Step::Item(item)) => {
            let place = item.place(of);
            match value {
                None if rest.is_empty() => {
                    if item.is_in(of) {
                        items.drain(item.range(items, of));
                    }
                    return;
                }
                Some(value) if rest.is_empty() && !item.is_in(of) => {
                    let own = if item.is_several() { value.items() } else { std::slice::from_ref(value) };
                    let place = place.min(items.len());
                    items.splice(place..place, own.iter().cloned());
                    return;
                }
                _ => items.get_mut(place),
            }
        }
        _ => None,
    };
    if let Some(place) = place {
        put(place, rest, value, of);
    }
    // A list that existed for one element is removed with it.
    if let (Value::Map(entries), Step::Key(key), [Step::Named(..)], None) = (&mut document.value, step, rest, value) {
        entries
            .retain(|entry| entry.key != *key || !matches!(&entry.value.value, Value::Seq(items) if items.is_empty()));
    }
}
