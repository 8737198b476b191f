//! Where a series changed that is too young for levels: by the verdicts that a gate gave at the time, which stay what they were.

use std::ops::RangeInclusive;

use super::effect::{Effect, correlation, of_history};
use super::judge::{Reason, judge};
use super::{LEAST_HISTORY, LEAST_SEGMENT, Policy, Scale};
use kubebench_stats as stats;
use kubebench_stats::change::{self, LEAST_CORRELATION};
use kubebench_syntax::invariant::Invariant as _;

/// So many sessions are the least that a gate judges by.
pub(super) const YOUNGEST: usize = 3;
/// With so many sessions of one level, a series is young no more: levels of the least length show by themselves.
pub(super) const SETTLED: usize = 2 * LEAST_HISTORY + LEAST_SEGMENT;
/// A change from a level that is too short for one, to sessions that are a level, is at most this likely where nothing changed.
const FROM_FEW: f64 = 0.005;
/// A change from a short level to another one is at most this likely: more than where levels are looked for everywhere
/// ([`change::change_points`]), since verdicts say where.
const FROM_SHORT: f64 = 0.002;
/// A change after other runs, from what was before all of these, is at most this likely.
const FROM_SETTLED: f64 = 0.0005;
/// One that is this unlikely stays told until the series is back.
const STAYS_TOLD: f64 = 0.0001;
/// The first session is held against so many of those that follow, and stands alone where it is this unlikely: four decide it once and
/// for all, the others add to that.
const FOLLOW: RangeInclusive<usize> = 4..=6;
/// See [`FOLLOW`].
const APART: f64 = 0.0005;

/// Returns the first place of a young series from which on it is not what it was.
///
/// Two sessions in a row that differ in the same way from fewer than five before do so until two in a row do not: a level needs five, and
/// would never be told from fewer. Five have to differ as levels do. What was surely so stays so, whatever level follows.
pub(super) fn turn(scale: Scale, policy: Policy, places: &[f64]) -> Option<usize> {
    let mut settled: Vec<f64> = places.iter().take(YOUNGEST).copied().collect();
    let mut run: Option<Run> = None;
    for (at, place) in places.iter().enumerate().skip(YOUNGEST) {
        let is_greater = verdict(scale, policy, &settled, *place).map(|effect| effect.difference > 0.0);
        run = match run {
            Some(known) if is_greater == Some(known.is_greater) => Some(Run { exception: None, ..known }),
            Some(known) if known.exception.is_none() && at - known.from > 1 => {
                Some(Run { exception: Some(Exception { at, is_greater }), ..known })
            }
            known => is_greater.map(|greater| {
                // What looked like an exception was the first of these.
                let exception = known.and_then(|known| known.exception);
                let first = exception.filter(|exception| exception.is_greater == is_greater);
                let from = first.map_or(at, |exception| exception.at);
                Run { from, is_greater: greater, exception: None, is_told: false }
            }),
        };
        match &mut run {
            Some(run) if run.from < LEAST_HISTORY => {
                run.is_told = run.is_told
                    || is_level(scale, &settled, places.get(run.from..=at).expected("a run up to this session"));
            }
            Some(_) => {}
            None => settled.push(*place),
        }
        if settled.len() >= SETTLED {
            return None;
        }
    }
    let has_turned = |run: &Run| {
        let is_few = run.from < LEAST_HISTORY;
        let (before, since) = places.split_at_checked(run.from).expected("a run of these sessions");
        let is_recent = is_few && (2..LEAST_SEGMENT).contains(&since.len());
        let least = if is_few { FROM_FEW } else { FROM_SHORT };
        let is_level = since.len() >= LEAST_SEGMENT;
        // Another run before this one would look like noise.
        let differ = change::differ(before, since) <= least || change::differ(&settled, since) <= FROM_SETTLED;
        run.is_told || is_recent || is_level && differ
    };
    run.filter(has_turned).map(|run| run.from)
}

/// Returns whether sessions are surely another level than those before, the farthest of them apart: one may stand alone.
fn is_level(scale: Scale, before: &[f64], after: &[f64]) -> bool {
    if after.len() < LEAST_SEGMENT {
        return false;
    }
    let middle = stats::quantile(after.iter().copied(), 0.5);
    let mut nearest = after.to_vec();
    nearest.sort_by(|one, other| (one - middle).abs().total_cmp(&(other - middle).abs()));
    nearest.pop();
    of_history(scale, before, &nearest, None).is_some_and(|effect| effect.p <= STAYS_TOLD)
}

/// Returns whether the first session differs surely from those that follow: it filled caches, pulled images, or compiled kernels.
pub(super) fn begins_apart(scale: Scale, policy: Policy, places: &[f64]) -> bool {
    let Some((first, rest)) = places.split_first() else { return false };
    FOLLOW
        .filter_map(|count| rest.get(..count))
        .any(|rest| verdict(scale, policy, rest, *first).is_some_and(|effect| effect.p <= APART))
}

/// Sessions that differ in the same way from those before.
#[derive(Clone, Copy)]
struct Run {
    from: usize,
    is_greater: bool,
    /// The newest of them, where it does not.
    exception: Option<Exception>,
    /// Whether they were surely another level once.
    is_told: bool,
}

/// A session that differs from those before it in another way than its neighbors, or not.
#[derive(Clone, Copy)]
struct Exception {
    at: usize,
    is_greater: Option<bool>,
}

/// Returns how a session differs from others, where a gate would say that it does.
fn verdict(scale: Scale, policy: Policy, others: &[f64], place: f64) -> Option<Effect> {
    let least = if others.len() < LEAST_HISTORY { 0.0 } else { LEAST_CORRELATION };
    let correlation = correlation(others).unwrap_or_default().max(least);
    let effect = of_history(scale, others, &[place], Some(correlation))?;
    let reason = judge(Some(effect), policy, None).reason;
    matches!(reason, Reason::Change | Reason::NoDirection).then_some(effect)
}
