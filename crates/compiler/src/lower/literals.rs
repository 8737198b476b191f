//! The texts of a document that its manifests repeat, apart from those of the model's roles: labels, parameters, axes, inputs.

use super::variants::Variant;
use crate::model::Literal;
use kubebench_syntax::yaml::{Node, Value};

/// Returns those texts of the benchmark whose document is `root` and whose cases are of these variants.
pub(super) fn of(root: &Node, variants: &[Variant]) -> Vec<Literal> {
    let mut found = Vec::new();
    let at = |steps: &[&str]| steps.iter().try_fold(root, |node, step| node.get(step));
    for (what, steps) in [
        ("label", ["metadata", "labels"].as_slice()),
        ("parameter", &["spec", "parameters"]),
        ("axis", &["spec", "matrix", "axes"]),
        ("axis", &["spec", "matrix", "zip"]),
        ("axis", &["spec", "matrix", "include"]),
        ("input", &["spec", "inputs"]),
    ] {
        collect(what, "", at(steps), &mut found);
    }
    for inputs in variants.iter().filter(|variant| variant.name.is_some()).filter_map(|variant| variant.get("inputs")) {
        collect("input", "", Some(inputs), &mut found);
    }
    for form in variants.iter().filter_map(Variant::form).map(|entry| &entry.value) {
        let roles = form.entries().iter().map(|entry| &entry.value);
        for block in std::iter::once(form).chain(roles) {
            collect("label", "", block.get("labels"), &mut found);
            collect("annotation", "", block.get("annotations"), &mut found);
        }
    }
    found
}

fn collect(what: &str, key: &str, node: Option<&Node>, found: &mut Vec<Literal>) {
    let Some(node) = node else { return };
    match &node.value {
        Value::String(text) => {
            found.push(Literal { name: format!("the {what} `{key}`"), text: text.clone(), span: node.span });
        }
        Value::Seq(items) => items.iter().for_each(|item| collect(what, key, Some(item), found)),
        Value::Map(entries) => {
            for entry in entries {
                collect(what, &entry.key, Some(&entry.value), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
