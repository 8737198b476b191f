//! `variants`: what each of them says over what the benchmark says, field by field, before anything is looked up.
//!
//! What comes out has the form of a benchmark without variants, with the place of every value where it was written.

use std::collections::BTreeMap;

use crate::extend::merge::{deep, join};
use crate::lookup;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::SourceMap;
use kubebench_syntax::yaml::{Entry, Node};

/// The fields of `spec` that are read again for each case, so that they may differ between variants and look up the matrix.
pub(super) const PER_CASE: [&str; 5] = ["workload", "timeout", "placement", "postprocess", "inputs"];

/// The fields of the cases of one variant; of all cases, where there are no variants.
#[derive(Debug)]
pub(super) struct Variant {
    /// The name, unless there are no variants.
    pub(super) name: Option<Node>,
    /// The fields of [`PER_CASE`] that it has, in the order of the spec.
    pub(super) fields: Vec<Entry>,
}

impl Variant {
    /// Returns the value of a field.
    pub(super) fn get(&self, field: &str) -> Option<&Node> {
        self.fields.iter().find(|entry| entry.key == field).map(|entry| &entry.value)
    }

    /// Returns the one entry below `workload`: the kind and its form.
    pub(super) fn form(&self) -> Option<&Entry> {
        self.get("workload")?.entries().first()
    }
}

/// Returns the variants of `spec`, reporting those that are indistinguishable; one without a name where it has none.
pub(super) fn variants(sources: &SourceMap, spec: &Node, diagnostics: &mut Diagnostics) -> Vec<Variant> {
    let own = || spec.entries().iter().filter(|entry| PER_CASE.contains(&entry.key.as_str()));
    let Some(list) = spec.get("variants") else {
        return vec![Variant { name: None, fields: own().cloned().collect() }];
    };
    let mut seen = BTreeMap::new();
    let mut found = Vec::new();
    for item in list.items() {
        let Some(name) = item.get("name") else { continue };
        lookup::refuse(sources, name, "the name of a variant is part of the names of its cases", diagnostics);
        if let Some(first) = seen.insert(name.as_text().unwrap_or_default(), name.span) {
            let message = format!("two variants have the name `{}`", name.as_text().unwrap_or_default());
            let fault = Diagnostic::at(&code::KB0359, name.span, message)
                .related(Place::Span(first), "the other one")
                .note("cases and results of both would have the same names");
            diagnostics.push(fault.help("give one of them another name"));
            continue;
        }
        let mut fields: Vec<Entry> = own().map(|entry| over(entry, item.entry(&entry.key))).collect();
        let is_new = |entry: &&Entry| PER_CASE.contains(&entry.key.as_str()) && spec.get(&entry.key).is_none();
        fields.extend(item.entries().iter().filter(is_new).cloned());
        if !fields.iter().any(|field| field.key == "workload") {
            let message = format!("the variant `{}` has no workload", name.as_text().unwrap_or_default());
            let fault = Diagnostic::at(&code::KB0359, name.span, message)
                .note("`spec.workload`, which all variants share, is missing too");
            diagnostics.push(fault.help("give it a `workload`, or write what they share as `spec.workload`"));
            continue;
        }
        found.push(Variant { name: Some(name.clone()), fields });
    }
    found
}

/// Returns a field of the benchmark as a variant changes it with `own`.
fn over(base: &Entry, own: Option<&Entry>) -> Entry {
    let Some(own) = own else { return base.clone() };
    let value = match base.key.as_str() {
        "workload" => over_workload(&base.value, &own.value),
        // A revision or a digest does not apply to another data set.
        "inputs" => join(&base.value, &own.value, &|_, own| own.value.clone()),
        _ => own.value.clone(),
    };
    Entry { key: own.key.clone(), key_span: own.key_span, value }
}

/// Fields of one kind merge; the fields of another kind mean something else.
fn over_workload(base: &Node, own: &Node) -> Node {
    let kind = |node: &Node| node.entries().first().map(|entry| entry.key.clone());
    if kind(base) == kind(own) { deep(base, own) } else { own.clone() }
}

#[cfg(test)]
mod tests;
