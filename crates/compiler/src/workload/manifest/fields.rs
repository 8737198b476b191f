//! Whether the fields of a given object are those of its kind, and their values of the right types.

use std::collections::BTreeSet;

use super::choose::Document;
use super::placeholder;
use crate::api;
use crate::model::target::TrainerApi;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, Severity};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Node, Value};

/// Reports what in `object` does not match its kind, except what is reported already or filled in later.
pub(in crate::workload) fn check(object: &Node, trainer: TrainerApi, diagnostics: &mut Diagnostics) {
    let mut found = Diagnostics::default();
    read(object, trainer, &mut found);
    let errors = diagnostics.as_slice().iter().filter(|fault| fault.severity == Severity::Error);
    let mut settled: BTreeSet<Span> = errors.filter_map(span_of).collect();
    open(object, &mut settled);
    let is_new = |fault: &&Diagnostic| span_of(fault).is_none_or(|span| !settled.contains(&span));
    diagnostics.extend(found.as_slice().iter().filter(is_new).cloned());
}

fn span_of(fault: &Diagnostic) -> Option<Span> {
    if let Place::Span(span) = fault.place { Some(span) } else { None }
}

/// Reads an object, or, where its kind is not known, the objects in it.
fn read(object: &Node, trainer: TrainerApi, found: &mut Diagnostics) {
    let is_known = Document::of(object).is_some_and(|Document { api_version, kind, .. }| {
        let release = if kind == "TrainJob" { trainer.release() } else { "" };
        api::check_object(object, (api_version, kind), release, found)
    });
    if !is_known {
        below(object, trainer, found);
    }
}

/// Reads the objects below `node`; what has no `spec` only refers to one.
fn below(node: &Node, trainer: TrainerApi, found: &mut Diagnostics) {
    for inner in node.items().iter().chain(node.entries().iter().map(|entry| &entry.value)) {
        match Document::of(inner).and(inner.get("spec")) {
            Some(_) => read(inner, trainer, found),
            None => below(inner, trainer, found),
        }
    }
}

/// Collects the places of text that Katib or Argo fill in.
fn open(node: &Node, places: &mut BTreeSet<Span>) {
    match &node.value {
        Value::String(text) if placeholder::is_of_trial(text) || text.contains("{{") => {
            places.insert(node.span);
        }
        _ => {
            let values = node.entries().iter().map(|entry| &entry.value);
            node.items().iter().chain(values).for_each(|inner| open(inner, places));
        }
    }
}
