//! Where a series changed that is too young for levels: by the verdicts that a gate gave at the time, which stay what they were.

use std::ops::RangeInclusive;

use super::baseline::{LEAST_CORRELATION, LEAST_SEGMENT};
use super::effect::{Effect, correlation, of_history};
use super::judge::{Reason, judge};
use super::{LEAST_HISTORY, Policy, Scale};
use crate::stats::change;

/// So many sessions are the least that a gate judges by.
pub(super) const YOUNGEST: usize = 3;
/// With so many sessions of one level, a series is young no more: levels of the least length show by themselves.
pub(super) const SETTLED: usize = 2 * LEAST_HISTORY + LEAST_SEGMENT;
/// A change from a level that is too short for one, to sessions that are a level, is at most this likely where nothing changed.
const FROM_FEW: f64 = 0.01;
/// A change from a short level to another one is at most this likely: more than where levels are looked for everywhere
/// ([`change::change_points`]), since verdicts say where.
const FROM_SHORT: f64 = 0.003;
/// The first session is held against so many of those that follow, and stands alone where it is this unlikely: four decide it once and
/// for all, the others add to that.
const FOLLOW: RangeInclusive<usize> = 4..=6;
/// See [`FOLLOW`].
const APART: f64 = 0.0005;

/// Returns the first place of a young series from which on it is not what it was.
///
/// Two sessions in a row that differ in the same way from fewer than five before do so until two in a row do not: a level needs five, and
/// would never be told from fewer. From more before, and for longer, both sides have to differ as levels.
pub(super) fn turn(scale: Scale, policy: Policy, places: &[f64]) -> Option<usize> {
    let from = run(scale, policy, places)?;
    let (before, after) = places.split_at_checked(from)?;
    let has_turned = match (before.len(), after.len()) {
        (_, ..2) => false,
        (..LEAST_HISTORY, ..LEAST_SEGMENT) => true,
        (_, ..LEAST_SEGMENT) => false,
        (..LEAST_HISTORY, _) => change::differ(before, after) <= FROM_FEW,
        _ => change::differ(before, after) <= FROM_SHORT,
    };
    has_turned.then_some(from)
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
    /// Whether the newest of them does not.
    is_interrupted: bool,
}

/// Returns since when the newest sessions differ from those before by verdicts of their own.
fn run(scale: Scale, policy: Policy, places: &[f64]) -> Option<usize> {
    let mut settled: Vec<f64> = places.iter().take(YOUNGEST).copied().collect();
    let mut run: Option<Run> = None;
    for (at, place) in places.iter().enumerate().skip(YOUNGEST) {
        let is_greater = verdict(scale, policy, &settled, *place).map(|effect| effect.difference > 0.0);
        run = match run {
            Some(known) if is_greater == Some(known.is_greater) => Some(Run { is_interrupted: false, ..known }),
            Some(known) if !known.is_interrupted && at - known.from > 1 => Some(Run { is_interrupted: true, ..known }),
            _ => is_greater.map(|is_greater| Run { from: at, is_greater, is_interrupted: false }),
        };
        if run.is_none() {
            settled.push(*place);
        }
        if settled.len() >= SETTLED {
            return None;
        }
    }
    run.map(|run| run.from)
}

/// Returns how a session differs from others, where a gate would say that it does.
fn verdict(scale: Scale, policy: Policy, others: &[f64], place: f64) -> Option<Effect> {
    let least = if others.len() < LEAST_HISTORY { 0.0 } else { LEAST_CORRELATION };
    let correlation = correlation(others).unwrap_or_default().max(least);
    let effect = of_history(scale, others, &[place], Some(correlation))?;
    let reason = judge(Some(effect), policy, None).reason;
    matches!(reason, Reason::Change | Reason::NoDirection).then_some(effect)
}
