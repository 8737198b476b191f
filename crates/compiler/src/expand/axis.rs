//! What a matrix varies: a single axis, or the axes of `zip` together.

use std::collections::BTreeMap;

use super::{malformed, text};
use kubebench_syntax::diag::{Diagnostics, Place};
use kubebench_syntax::text::Span;
use kubebench_syntax::words::counted;
use kubebench_syntax::yaml::{Entry, Node};

/// One axis, or several that go in step.
pub(super) struct Axis<'m> {
    /// The names, sorted.
    pub(super) names: Vec<&'m str>,
    /// The values of each step, one for each name.
    pub(super) rows: Vec<Vec<&'m Node>>,
}

impl Axis<'_> {
    /// Returns the names as one.
    pub(super) fn name(&self) -> String {
        self.names.join(" and ")
    }
}

/// Returns the axes of `matrix` by name, those of `zip` as one.
pub(super) fn axes<'m>(matrix: &'m Node, diagnostics: &mut Diagnostics) -> Vec<Axis<'m>> {
    let single = |entry: &'m Entry| Axis {
        names: vec![entry.key.as_str()],
        rows: entry.value.items().iter().map(|value| vec![value]).collect(),
    };
    let mut axes = Vec::new();
    for entry in matrix.entries_of("axes") {
        let axis = single(entry);
        report_repeated(&axis, entry.value.items(), diagnostics);
        report_empty(entry, diagnostics);
        axes.push(axis);
    }
    axes.extend(zipped(matrix, diagnostics));
    axes.sort_by(|one, other| one.names.cmp(&other.names));
    axes
}

/// Returns the axes of `zip` as one, up to the end of the shortest.
fn zipped<'m>(matrix: &'m Node, diagnostics: &mut Diagnostics) -> Option<Axis<'m>> {
    let mut entries: Vec<&Entry> = matrix.entries_of("zip").iter().collect();
    entries.sort_by_key(|entry| &entry.key);
    for entry in &entries {
        report_empty(entry, diagnostics);
        if let Some(axis) = matrix.get("axes").and_then(|axes| axes.entry(&entry.key)) {
            let fault = malformed(entry.key_span, format!("`{}` is an axis already", entry.key));
            diagnostics.push(
                fault.related(Place::Span(axis.key_span), "here").help("write it in `axes` or in `zip`, not in both"),
            );
        }
    }
    let first = entries.first()?;
    let length = first.value.items().len();
    for entry in entries.iter().filter(|entry| entry.value.items().len() != length) {
        let here = entry.value.items().len();
        let message = format!("`{}` has {}, but `{}` has {length}", entry.key, counted(here, "value"), first.key);
        diagnostics.push(
            malformed(entry.key_span, message)
                .related(Place::Span(first.key_span), "here")
                .note("the n-th value of each list of `zip` belongs to the n-th values of the others")
                .help("give all of them the same length"),
        );
    }
    let length = entries.iter().map(|entry| entry.value.items().len()).min().unwrap_or_default();
    let row = |number| entries.iter().filter_map(|entry| entry.value.items().get(number)).collect();
    let axis =
        Axis { names: entries.iter().map(|entry| entry.key.as_str()).collect(), rows: (0..length).map(row).collect() };
    report_repeated(&axis, first.value.items(), diagnostics);
    Some(axis)
}

/// Reports a step with the values of an earlier one; `places` are those of the steps.
fn report_repeated(axis: &Axis<'_>, places: &[Node], diagnostics: &mut Diagnostics) {
    let mut seen: BTreeMap<Vec<String>, Span> = BTreeMap::new();
    for (row, place) in axis.rows.iter().zip(places) {
        let values: Vec<String> = row.iter().map(|value| text(value)).collect();
        let message = match (axis.names.as_slice(), values.as_slice()) {
            ([name], [value]) => format!("`{name}` lists the value {value} twice"),
            _ => format!("`zip` lists the values {} twice", values.join(", ")),
        };
        if let Some(first) = seen.insert(values, place.span) {
            diagnostics.push(
                malformed(place.span, message)
                    .related(Place::Span(first), "first")
                    .note("values are compared as text: arguments, results and reports show them without quotes")
                    .help("delete one of them"),
            );
        }
    }
}

fn report_empty(entry: &Entry, diagnostics: &mut Diagnostics) {
    if entry.value.items().is_empty() {
        diagnostics.push(
            malformed(entry.key_span, format!("the axis `{}` has no values", entry.key))
                .help("write at least one, or delete the axis"),
        );
    }
}
