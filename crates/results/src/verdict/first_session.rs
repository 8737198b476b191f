//! Whether the first session of a series is an outlier: it filled caches, pulled images, or compiled kernels.

use std::ops::RangeInclusive;

use super::effect::of_history;
use super::watch::{CHANGED, Series};

/// How many of those that follow the first session is compared with: four decide it forever, the others add to that.
const FOLLOW: RangeInclusive<usize> = 4..=6;

/// Returns whether the first session differs surely, and by the change that matters, from those that follow.
pub(super) fn is_outlier(series: Series<'_>) -> bool {
    let Some((first, rest)) = series.places.split_first() else { return false };
    FOLLOW
        .filter_map(|count| rest.get(..count))
        .filter_map(|rest| of_history(series.scale, series.rounding, rest, &[], &[*first]))
        .any(|effect| effect.p <= CHANGED && effect.difference.abs() >= series.bound && effect.is_new())
}
