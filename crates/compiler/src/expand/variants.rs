//! Variants times the matrix: every variant has the cases of the matrix, except those that an entry limits to one variant.

use std::collections::BTreeMap;

use super::{CasePoint, NAMED, expand, malformed};
use kubebench_format::result::VARIANT;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place};
use kubebench_syntax::text::{Span, first_of};
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Returns the cases of `matrix` in each of the variants called `names`. Those that differ only in the variant are adjacent, so
/// that drift over time affects all variants equally.
pub(crate) fn expand_variants(matrix: Option<&Node>, names: &[Node], diagnostics: &mut Diagnostics) -> Vec<CasePoint> {
    if let Some(matrix) = matrix {
        check(matrix, names, diagnostics);
    }
    let mut known = Vec::new();
    let lists: Vec<Vec<CasePoint>> = names
        .iter()
        .map(|name| {
            let mut found = Diagnostics::default();
            let points = expand(matrix.map(|matrix| of_variant(matrix, name)).as_ref(), &mut found);
            for fault in found {
                report_once(fault, &mut known, diagnostics);
            }
            points.into_iter().map(|point| CasePoint::new(Some(name.clone()), point.values)).collect()
        })
        .collect();
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at).cloned())).collect()
}

/// Reports a fault of the matrix, which all variants share, for the first of them alone.
fn report_once(fault: Diagnostic, known: &mut Vec<(&'static str, Span)>, diagnostics: &mut Diagnostics) {
    if let Place::Span(span) = fault.place {
        if known.contains(&(fault.code.id, span)) {
            return;
        }
        known.push((fault.code.id, span));
    }
    diagnostics.push(fault);
}

/// Reports what the matrix says of variants and cannot.
fn check(matrix: &Node, names: &[Node], diagnostics: &mut Diagnostics) {
    let mut of_that_name = ["axes", "zip"].into_iter().filter_map(|field| matrix.get(field)?.entry(VARIANT));
    if let Some(axis) = of_that_name.next() {
        let fault = malformed(axis.key_span, "an axis cannot be called `variant` in a spec with `variants`".to_owned());
        diagnostics.push(
            fault
                .note("the name of a variant is part of the names of cases as `variant=…`")
                .help("give the axis another name"),
        );
    }
    for entry in ["include", "exclude"].iter().filter_map(|list| matrix.get(list)).flat_map(Node::items) {
        let Some(value) = entry.get(VARIANT) else { continue };
        if !names.iter().any(|name| name.as_text() == value.as_text()) {
            let known: Vec<&str> = names.iter().filter_map(Node::as_text).collect();
            let fault = malformed(value.span, format!("there is no variant `{}`", value.as_text().unwrap_or_default()));
            diagnostics.push(fault.help(format!("variants are: {}", first_of(&known, NAMED))));
        }
    }
}

/// Returns the matrix for the variant called `name`: without the entries of other variants.
fn of_variant(matrix: &Node, name: &Node) -> Node {
    let without = |item: &Node| {
        let entries = item.entries().iter().filter(|entry| entry.key != VARIANT).cloned().collect();
        Node { span: item.span, value: Value::Map(entries) }
    };
    let is_own = |item: &&Node| item.get(VARIANT).is_none_or(|value| value.as_text() == name.as_text());
    let entry = |entry: &Entry| match entry.key.as_str() {
        "include" | "exclude" => {
            let items = entry.value.items().iter().filter(is_own).map(without).collect();
            Entry { value: Node { span: entry.value.span, value: Value::Seq(items) }, ..entry.clone() }
        }
        _ => entry.clone(),
    };
    Node { span: matrix.span, value: Value::Map(matrix.entries().iter().map(entry).collect()) }
}

impl CasePoint {
    /// Returns what distinguishes the case from others: the variant and the value of every axis.
    pub(crate) fn dimensions(&self) -> BTreeMap<String, &Node> {
        let variant = self.variant.iter().map(|name| (VARIANT.to_owned(), name));
        variant.chain(self.values.iter().map(|(axis, value)| (axis.clone(), value))).collect()
    }
}
