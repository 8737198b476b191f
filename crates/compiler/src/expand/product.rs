//! The combinations of the axes' values, each as one number per axis: many entries are compared with many of them.

use std::collections::BTreeMap;

use super::axis::Axis;
use super::text;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

/// Every combination of the steps of these axes.
pub(super) struct Product<'a, 'm> {
    pub(super) axes: &'a [Axis<'m>],
}

impl Product<'_, '_> {
    /// Returns every combination that no entry of `excluded` matches; the last axis varies fastest.
    pub(super) fn without(
        &self,
        excluded: &[(BTreeMap<String, Node>, Span)],
        diagnostics: &mut Diagnostics,
    ) -> Vec<Vec<usize>> {
        let mut points = if self.axes.is_empty() { Vec::new() } else { vec![Vec::new()] };
        for axis in self.axes {
            let longer = |point: &Vec<usize>, row| point.iter().copied().chain([row]).collect::<Vec<usize>>();
            points = points.iter().flat_map(|point| (0..axis.rows.len()).map(|row| longer(point, row))).collect();
        }
        let steps = Steps::of(self.axes);
        for (entry, span) in excluded {
            let before = points.len();
            // An entry with a value that no axis has matches nothing.
            if let Some(wanted) = steps.wanted(entry) {
                points.retain(|point| {
                    !wanted.iter().all(|(axis, rows)| point.get(*axis).is_some_and(|row| rows.contains(row)))
                });
            }
            if points.len() == before {
                let fault = Diagnostic::at(&code::KB0306, *span, "this entry excludes no case");
                diagnostics.push(
                    fault
                        .note("no axis has one of its values, or an earlier entry excluded the same cases")
                        .help("correct the values, or delete the entry"),
                );
            }
        }
        points
    }

    pub(super) fn values(&self, point: &[usize]) -> BTreeMap<String, Node> {
        let row = |(axis, row): (&Axis<'_>, &usize)| {
            let values = axis.rows.get(*row).into_iter().flatten();
            let named = axis.names.iter().zip(values);
            named.map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect::<Vec<_>>()
        };
        self.axes.iter().zip(point).flat_map(row).collect()
    }
}

/// The steps that have a value, by the name that it is of: the number of its axis, and those of the steps.
struct Steps<'m>(BTreeMap<&'m str, (usize, BTreeMap<String, Vec<usize>>)>);

impl<'m> Steps<'m> {
    fn of(axes: &[Axis<'m>]) -> Self {
        let mut steps = BTreeMap::new();
        for (number, axis) in axes.iter().enumerate() {
            for (column, name) in axis.names.iter().enumerate() {
                let mut rows: BTreeMap<String, Vec<usize>> = BTreeMap::new();
                for (row, values) in axis.rows.iter().enumerate() {
                    if let Some(value) = values.get(column) {
                        rows.entry(text(value)).or_default().push(row);
                    }
                }
                steps.insert(*name, (number, rows));
            }
        }
        Self(steps)
    }

    /// Returns the steps that `entry` matches of each axis that it names, if all of its values exist.
    fn wanted(&self, entry: &BTreeMap<String, Node>) -> Option<Vec<(usize, &[usize])>> {
        let of = |(name, value): (&String, &Node)| {
            let (axis, rows) = self.0.get(name.as_str())?;
            Some((*axis, rows.get(&text(value))?.as_slice()))
        };
        entry.iter().map(of).collect()
    }
}
