//! Paths as people write them: `spec.metrics.bandwidth.gate.maxRegression`, `args[0]`, `image`.
//!
//! An item of a list is named by its field `name` or `metric`, or by its index. Keys may hold dots.

use super::super::{Node, Step, Value};

/// Where a path begins: the top of a document, and the part that most paths are in.
const BEGINNINGS: [&str; 2] = ["", "spec"];

/// Returns the places that `path` means: from the top or from `spec`, else every place whose path ends with it.
pub fn find(root: &Node, path: &str) -> Vec<Vec<Step>> {
    for beginning in BEGINNINGS {
        let above: Vec<Step> = if beginning.is_empty() { Vec::new() } else { vec![beginning.into()] };
        if let Some(below) = root.at(&above).and_then(|node| below(node, path)) {
            return vec![[above, below].concat()];
        }
    }
    let mut found = Vec::new();
    each(root, &mut Vec::new(), &mut |steps, node| {
        if let Some(below) = below(node, path) {
            found.push([steps, &below].concat());
        }
    });
    found.sort();
    found.dedup();
    found
}

/// Returns the paths of all values that are not made of others, as [`find`] reads them.
pub fn paths(root: &Node) -> Vec<String> {
    let mut all = Vec::new();
    each(root, &mut Vec::new(), &mut |steps, node| {
        if node.entries().is_empty() && node.items().is_empty() {
            all.push(spelled(root, steps));
        }
    });
    all
}

/// Returns a path in words, with items of lists by their names.
pub fn spelled(root: &Node, steps: &[Step]) -> String {
    let mut text = String::new();
    let mut node = Some(root);
    for step in steps {
        node = node.and_then(|node| node.at(std::slice::from_ref(step)));
        let name = node.and_then(name_of);
        let dot = if text.is_empty() { "" } else { "." };
        match (step, name) {
            (Step::Key(key), _) => text.push_str(&format!("{dot}{key}")),
            (Step::Index(_), Some(name)) => text.push_str(&format!("{dot}{name}")),
            (Step::Index(index), None) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// Returns the steps of a path of keys alone, for places that are not there yet.
pub fn split(path: &str) -> Vec<Step> {
    path.split('.').filter(|key| !key.is_empty()).map(Step::from).collect()
}

/// Returns what an item of a list is called: by its own name, or by the metric that it is about.
fn name_of(item: &Node) -> Option<&str> {
    item.get("name").or_else(|| item.get("metric")).and_then(Node::as_text)
}

/// Returns the steps from `node` along the whole of `path`.
fn below(node: &Node, path: &str) -> Option<Vec<Step>> {
    if path.is_empty() {
        return None;
    }
    let candidates: Vec<(Step, String, &Node)> = match &node.value {
        Value::Map(entries) => {
            entries.iter().map(|entry| (Step::Key(entry.key.clone()), entry.key.clone(), &entry.value)).collect()
        }
        Value::Seq(items) => {
            let named = items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| Some((Step::Index(index), name_of(item)?.to_owned(), item)));
            let numbered = items.iter().enumerate().flat_map(|(index, item)| {
                [format!("[{index}]"), index.to_string()].map(|name| (Step::Index(index), name, item))
            });
            named.chain(numbered).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    candidates.into_iter().find_map(|(step, name, child)| {
        let rest = path.strip_prefix(&name)?;
        if rest.is_empty() {
            return Some(vec![step]);
        }
        let rest = rest.strip_prefix('.').or_else(|| rest.starts_with('[').then_some(rest))?;
        Some([vec![step], below(child, rest)?].concat())
    })
}

/// Calls `visit` with every node below `node` and its steps, and with `node` itself.
fn each(node: &Node, steps: &mut Vec<Step>, visit: &mut impl FnMut(&[Step], &Node)) {
    visit(steps, node);
    for entry in node.entries() {
        steps.push(Step::Key(entry.key.clone()));
        each(&entry.value, steps, visit);
        steps.pop();
    }
    for (index, item) in node.items().iter().enumerate() {
        steps.push(Step::Index(index));
        each(item, steps, visit);
        steps.pop();
    }
}
