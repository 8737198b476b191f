//! How many times as much, or as fast, one cell is as another.

use super::cell::Cell;
use super::model::{Direction, Estimate};
use crate::compare::measure_cases;
use crate::verdict::{Effect, Scale};
use kubebench_stats as stats;

/// Fewer sessions than these have no interval.
pub(super) const LEAST_SESSIONS: usize = 3;

/// A ratio, how it was measured, and what is to be said of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ratio {
    pub(super) estimate: Option<Estimate>,
    pub(super) method: Option<&'static str>,
    pub(super) note: Option<String>,
}

/// Measures `cell` against `base`, pair by pair where they ran in the same sessions, as `compare` does.
pub(super) fn effect(base: &Cell<'_>, cell: &Cell<'_>) -> Option<Effect> {
    let (first, second) = (base.values(), cell.values());
    let scale = Scale::between(&first, &second)?;
    let known: std::collections::BTreeMap<&str, f64> =
        base.level.iter().map(|session| (session.session.as_str(), session.value)).collect();
    let both = cell.level.iter().filter_map(|session| Some((*known.get(session.session.as_str())?, session.value)));
    measure_cases(scale, &[first, second], &both.collect::<Vec<_>>())
}

/// Returns the interval of an effect where it encloses what it says that it does; else, why it does not.
pub(super) fn interval(effect: &Effect) -> Result<(f64, f64), String> {
    let (n, m) = effect.counts;
    let least = n.min(m);
    if least < LEAST_SESSIONS {
        return Err(format!("fewer than {LEAST_SESSIONS} sessions: no interval"));
    }
    if !effect.interval.0.is_finite() {
        return Err(format!("{n} and {m} sessions are too few for a 95 % confidence interval: 4 each are enough"));
    }
    Ok(effect.interval)
}

/// Returns how many times as large `cell` is as `base`.
pub(super) fn ratio(base: &Cell<'_>, cell: &Cell<'_>) -> Ratio {
    let Some(effect) = effect(base, cell).filter(|effect| effect.scale == Scale::Log) else {
        let note = Some("no ratio: not all values are above 0".to_owned());
        return Ratio { note, ..Ratio::default() };
    };
    let times = |difference: f64| stats::exp_m1(difference) + 1.0;
    let (interval, note) = match interval(&effect) {
        Ok((low, high)) => (Some((times(low), times(high))), None),
        Err(why) => (None, Some(why)),
    };
    let ratio = estimate(times(effect.difference), interval);
    let note = if ratio.is_some() { note } else { Some("no ratio: the values are too far apart".to_owned()) };
    Ratio { estimate: ratio, method: Some(effect.method.name()), note }
}

/// Returns how many times better: above 1 is better.
pub(super) fn speedup(ratio: Estimate, direction: Direction) -> Option<Estimate> {
    match direction {
        Direction::Higher => Some(ratio),
        Direction::Lower => estimate(1.0 / ratio.value, ratio.interval.map(|(low, high)| (1.0 / high, 1.0 / low))),
        Direction::None => None,
    }
}

/// Returns the share of a speed-up that `times` as many promise.
pub(super) fn efficiency(speedup: Estimate, times: f64) -> Option<Estimate> {
    estimate(speedup.value / times, speedup.interval.map(|(low, high)| (low / times, high / times)))
}

/// Returns the estimate if it is positive.
fn estimate(value: f64, interval: Option<(f64, f64)>) -> Option<Estimate> {
    let is_reported = |value: f64| value.is_finite() && value > 0.0;
    let interval = interval.filter(|(low, high)| is_reported(*low) && is_reported(*high));
    is_reported(value).then_some(Estimate { value, interval })
}
