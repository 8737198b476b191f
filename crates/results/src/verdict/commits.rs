//! Neighboring commits with many sessions each: what `compare` finds between them is a change of level.

use super::Scale;
use super::effect::of_groups;
use super::watch::LIKELIER;
use kubebench_stats as stats;
use std::ops::Range;

/// The fewest sessions of each commit.
const LEAST: usize = 8;
/// Commits that differ with at most this p are of two levels.
const DIFFER: f64 = 0.0001;

/// A commit that differs from the one before it.
#[derive(Clone, Copy)]
pub(super) struct Differs {
    /// Its first session.
    pub(super) at: usize,
    /// The first session of the next commit.
    pub(super) end: usize,
    /// By how much, on this scale.
    pub(super) difference: f64,
    pub(super) scale: Scale,
}

/// Returns the commits that differ from those before them, of those that `begin` at these places.
pub(super) fn that_differ(values: &[f64], begin: &[usize]) -> Vec<Differs> {
    let ends: Vec<usize> = [0].into_iter().chain(begin.iter().copied()).chain([values.len()]).collect();
    let change = |ends: &[usize]| {
        let [from, at, end] = *ends else { return None };
        let (before, after) = (values.get(from..at)?, values.get(at..end)?);
        if before.len().min(after.len()) < LEAST {
            return None;
        }
        let scale = Scale::between(before, after)?;
        let effect = of_groups(scale, before, after).filter(|effect| effect.p <= DIFFER)?;
        Some(Differs { at, end, difference: effect.difference, scale })
    };
    ends.windows(3).filter_map(change).collect()
}

/// Returns where the change `at` a session began, of two levels that are these `places`: with the nearest commit, unless the sessions
/// between make that far less likely.
pub(super) fn began(places: &[f64], level: Range<usize>, at: usize, begin: &[usize]) -> usize {
    let squares = |part: Range<usize>| {
        let values = || places.get(part.clone()).unwrap_or_default().iter().copied();
        let mean = stats::mean(values());
        stats::sum(values().map(|value| (value - mean).powi(2)))
    };
    let rest = |at: usize| squares(level.start..at) + squares(at..level.end);
    let next = begin.partition_point(|begin| *begin < at);
    let nearest = [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|at| begin.get(at).copied());
    let inside = nearest.filter(|at| level.start < *at && *at < level.end);
    let Some(commit) = inside.min_by(|one, other| rest(*one).total_cmp(&rest(*other))) else { return at };
    let variance = rest(at) / level.len().saturating_sub(2).max(1) as f64;
    if rest(commit) - rest(at) <= 2.0 * stats::ln(LIKELIER) * variance { commit } else { at }
}
