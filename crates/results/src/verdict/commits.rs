//! Neighboring commits with many sessions each: what `compare` finds between them is a change of level.

use super::Scale;
use super::effect::of_groups;

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
