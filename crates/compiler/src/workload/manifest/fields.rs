//! Whether the fields of a given object are those of its kind.

use std::collections::BTreeSet;

use super::choose::Document;
use super::placeholder;
use crate::api;
use crate::model::target::TrainerApi;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, Severity};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Node, Value};

/// Reports what of `object` its kind does not have; what is reported already, or filled in for each trial, is left alone.
pub(in crate::workload) fn check(object: &Node, trainer: TrainerApi, diagnostics: &mut Diagnostics) {
    let mut found = Diagnostics::default();
    below(object, trainer, &mut found);
    let errors = diagnostics.as_slice().iter().filter(|fault| fault.severity == Severity::Error);
    let mut settled: BTreeSet<Span> = errors.filter_map(span_of).collect();
    of_trials(object, &mut settled);
    let is_new = |fault: &&Diagnostic| span_of(fault).is_none_or(|span| !settled.contains(&span));
    diagnostics.extend(found.as_slice().iter().filter(is_new).cloned());
}

fn span_of(fault: &Diagnostic) -> Option<Span> {
    if let Place::Span(span) = fault.place { Some(span) } else { None }
}

/// Checks `node`, or the objects of known kinds in it.
fn below(node: &Node, trainer: TrainerApi, found: &mut Diagnostics) {
    let is_known = Document::of(node).is_some_and(|Document { api_version, kind, .. }| {
        let release = if kind == "TrainJob" { trainer.release() } else { "" };
        api::check_object(node, (api_version, kind), release, found)
    });
    if !is_known {
        node.entries().iter().for_each(|entry| below(&entry.value, trainer, found));
        node.items().iter().for_each(|item| below(item, trainer, found));
    }
}

/// Collects the places whose text Katib fills in.
fn of_trials(node: &Node, places: &mut BTreeSet<Span>) {
    match &node.value {
        Value::String(text) if placeholder::is_of_trial(text) => {
            places.insert(node.span);
        }
        _ => {
            node.entries().iter().for_each(|entry| of_trials(&entry.value, places));
            node.items().iter().for_each(|item| of_trials(item, places));
        }
    }
}
