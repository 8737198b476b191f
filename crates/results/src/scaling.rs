//! Cases side by side along one axis: which toolkit wins, does adding machines pay, what does a unit of work cost, and which cases are the
//! best where two metrics pull apart.
//!
//! Pure. It works on what `compare::history` returns, so that the level that is compared is the one that pages show.

mod axis;
mod cell;
mod cost;
mod front;
mod group;
pub mod model;
mod ratio;
pub mod render;
pub mod v1;

use std::collections::BTreeSet;

use crate::compare::model::SeriesHistory;
use crate::dataset::Dataset;
use kubebench_format::result::plain;
use kubebench_syntax::unit::MetricSelector;
use model::{Front, ScalingReport};

pub use axis::{Axis, axes};
pub use group::is_count;

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The results.
    pub dataset: &'a Dataset,
    /// The history of their metrics.
    pub histories: &'a [SeriesHistory],
    pub axis: &'a Axis,
    /// The value of the axis that the others are compared with; without it, the smallest number, version or name of each group.
    pub base: Option<&'a str>,
    /// Only these metrics; where none are named, the primary ones.
    pub metrics: &'a [MetricSelector],
    /// The facts that may differ in addition to the axis.
    pub allowed: &'a BTreeSet<String>,
}

/// Compares cases along an axis.
pub fn along(request: Request<'_>) -> ScalingReport {
    let cells = cell::cells(request.dataset, request.histories);
    let (groups, notes) = group::groups(request, &cells);
    ScalingReport { axis: request.axis.name().to_owned(), groups, fronts: Vec::new(), left_out: Vec::new(), notes }
}

/// Returns the values that the axis has, as they are shown.
pub fn values(dataset: &Dataset, histories: &[SeriesHistory], axis: &Axis) -> BTreeSet<String> {
    let cells = cell::cells(dataset, histories);
    cells.iter().filter_map(|cell| Some(plain(&axis.value(cell)?))).collect()
}

/// Returns the fronts of every benchmark: by the two metrics that are named, by their names or with their labels, else by its two primary
/// ones where one is better lower and the other higher.
pub fn fronts(dataset: &Dataset, histories: &[SeriesHistory], metrics: Option<(&str, &str)>) -> Vec<Front> {
    front::fronts(&cell::cells(dataset, histories), metrics)
}

#[cfg(test)]
mod tests;
