//! By how much a candidate differs from its baseline, and how sure that is.

use super::Scale;
use kubebench_format::result::v1::Direction;
use kubebench_stats::distribution::around;
use kubebench_stats::{self as stats, pairs, prediction, rank, unequal};

/// How an effect was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The t prediction interval for the mean of few new sessions, from the sessions before them.
    Prediction,
    /// The exact, one-sided Mann–Whitney U test of new sessions against earlier ones of which more than half are 0, and none is less.
    FromZero,
    /// Welch's t, with the degrees of freedom of the smaller group, of few sessions that vary more than the many; approximate.
    Unequal,
    /// The exact Mann–Whitney U test, and Hodges and Lehmann's shift.
    Ranks,
    /// The same by its normal approximation, for more pairs of sessions than are counted.
    RanksApproximate,
    /// Student's t of groups whose neighboring sessions are correlated, which ranks would take for independent ones.
    Correlated,
    /// The exact sign-flip test of paired sessions, and Hodges and Lehmann's shift.
    Pairs,
    /// Student's t of the differences of too few pairs for the sign-flip test; approximate.
    PairsByT,
}

impl Method {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Prediction,
        Self::FromZero,
        Self::Unequal,
        Self::Ranks,
        Self::RanksApproximate,
        Self::Correlated,
        Self::Pairs,
        Self::PairsByT,
    ];

    /// Returns its name in data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prediction => "tPredictionInterval",
            Self::FromZero => "exactFromZero",
            Self::Unequal => "welchT",
            Self::Ranks => "mannWhitneyExact",
            Self::RanksApproximate => "mannWhitneyNormal",
            Self::Correlated => "studentTCorrelated",
            Self::Pairs => "signFlipExact",
            Self::PairsByT => "pairedT",
        }
    }

    /// Returns its name for people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Prediction => "t prediction interval",
            Self::FromZero => "Mann–Whitney U from a baseline of zeros, exact and one-sided",
            Self::Unequal => "Welch's t, approximate",
            Self::Ranks => "Mann–Whitney U, exact",
            Self::RanksApproximate => "Mann–Whitney U, normal approximation",
            Self::Correlated => "Student's t of correlated sessions",
            Self::Pairs => "sign flips of pairs, exact",
            Self::PairsByT => "t of pairs, approximate",
        }
    }
}

/// A difference between sessions, on the scale of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// How it was measured.
    pub method: Method,
    pub scale: Scale,
    /// The candidate less the baseline.
    pub difference: f64,
    /// The interval of 95 % around it, not adjusted for other metrics; without ends where so few sessions have none.
    pub interval: (f64, f64),
    /// How likely so large a difference is where nothing changed, on both sides.
    pub p: f64,
    /// The minimum p that this many sessions can give.
    pub least_p: f64,
    /// The least and the greatest difference that an earlier stretch of as many sessions has had by itself, or that the next outlier of
    /// its kind may have; 0 where earlier sessions are not looked at one by one.
    pub beyond: (f64, f64),
    /// The standard deviation between sessions.
    pub deviation: f64,
    /// Sessions of the baseline, and of the candidate.
    pub counts: (usize, usize),
    /// The autocorrelation of neighboring sessions of the baseline that the error takes into account.
    pub correlation: f64,
    /// That of neighboring sessions of each side, where it is more than chance.
    pub autocorrelation: Option<f64>,
}

impl Effect {
    /// Returns the difference as a share: −0.08 for 8 % less; nothing where it is none, since the baseline is 0.
    pub fn change(&self) -> Option<f64> {
        self.scale.change(self.difference)
    }

    /// Returns whether no earlier stretch of as many sessions was as far off by itself.
    pub(super) fn is_new(&self) -> bool {
        self.difference < self.beyond.0 || self.difference > self.beyond.1
    }

    /// Returns the interval of 95 % around that; nothing where it is no share, or so wide that it says nothing.
    pub(crate) fn change_interval(&self) -> Option<(f64, f64)> {
        let (low, high) = self.interval;
        let (low, high) = (self.scale.change(low)?, self.scale.change(high)?);
        (low.is_finite() && high.is_finite() && !self.is_vague()).then_some((low, high))
    }

    /// Returns whether so few degrees of freedom are left, or the interval is so wide, that it is of no use.
    pub(super) fn is_vague(&self) -> bool {
        const LEAST_FREEDOM: f64 = 3.0;
        // A factor of five.
        const WIDEST: f64 = 4.0;
        let (first, second) = self.counts;
        let freedom = match self.method {
            Method::Prediction => prediction::freedom(first, self.correlation),
            Method::Unequal | Method::PairsByT => first.min(second).saturating_sub(1) as f64,
            Method::Correlated => correlated_freedom(self.counts, self.correlation),
            Method::FromZero | Method::Ranks | Method::RanksApproximate | Method::Pairs => return false,
        };
        let widest = self.scale.bound(WIDEST, Direction::Lower);
        let (low, high) = self.interval;
        freedom < LEAST_FREEDOM || high - self.difference > widest || self.difference - low > widest
    }
}

/// Up to this many candidate sessions are few new ones; more are a group of their own.
pub(crate) const FEW: usize = 3;

/// Measures candidate sessions against a baseline: few as new ones, more as a group. Sessions that are `held` are of no baseline, and
/// show how much new ones may vary.
pub fn measure(scale: Scale, baseline: &[f64], held: &[f64], candidate: &[f64]) -> Option<Effect> {
    match candidate.len() {
        0 => None,
        1..=FEW => {
            let rounding = scale.rounding(baseline);
            of_history(scale, rounding, &scale.places(baseline), &scale.places(held), &scale.places(candidate))
        }
        _ => of_groups(scale, baseline, candidate),
    }
}

/// Measures few new sessions against the sessions before them, in the order of time; nothing where there are fewer than two of these.
pub(crate) fn against_history(scale: Scale, history: &[f64], new: &[f64]) -> Option<Effect> {
    of_history(scale, scale.rounding(history), &scale.places(history), &[], &scale.places(new))
}

/// The same of places on the scale, which vary at least by their rounding.
pub(super) fn of_history(scale: Scale, rounding: f64, history: &[f64], held: &[f64], new: &[f64]) -> Option<Effect> {
    let seen = stats::autocorrelation(history);
    let correlation = stats::shrunk_correlation(seen, history.len() as f64);
    let counts = (history.len(), new.len());
    let found = prediction::predict(history, held, new, correlation)?;
    let rounded = found.with_least(rounding, counts, correlation);
    let p = if !varies(history) && found.difference != 0.0 { rounded.p.min(1.0 / ways(counts)) } else { rounded.p };
    let found = prediction::Prediction { p, ..rounded };
    let effect = Effect {
        method: Method::Prediction,
        scale,
        difference: found.difference,
        interval: found.interval,
        p: found.p,
        least_p: 0.0,
        beyond: farthest(history, new.len()),
        deviation: found.deviation,
        counts,
        correlation,
        autocorrelation: stats::more_than_chance(seen, history.len()),
    };
    if !is_of_zeros(scale, history, new) {
        return Some(effect);
    }
    // Sessions that are held back were suspected because they are not 0 either.
    let since: Vec<f64> = held.iter().chain(new).copied().collect();
    Some(Effect {
        method: Method::FromZero,
        difference: stats::quantile(new.iter().copied(), 0.5),
        interval: (f64::NEG_INFINITY, f64::INFINITY),
        p: rank::compare(history, &since)?.p_greater,
        ..effect
    })
}

/// Returns whether values differ, however their mean is rounded.
pub(super) fn varies(values: &[f64]) -> bool {
    values.iter().zip(values.iter().skip(1)).any(|(one, next)| one.total_cmp(next).is_ne())
}

/// Returns in how many ways the new ones could be any of all sessions: where these alone differ, chance picks them once in so many times.
pub(super) fn ways((history, new): (usize, usize)) -> f64 {
    (1..=new).map(|at| (history + at) as f64 / at as f64).product()
}

/// Returns whether more than half of the earlier sessions are 0, none is less, and new ones are not all 0 too.
pub(super) fn is_of_zeros(scale: Scale, history: &[f64], new: &[f64]) -> bool {
    let least = || history.iter().chain(new).copied().fold(f64::INFINITY, f64::min);
    let is_zero = |value: &f64| *value == 0.0;
    scale != Scale::Log
        && stats::quantile(history.iter().copied(), 0.5) == 0.0
        && least() >= 0.0
        && !history.iter().chain(new).all(is_zero)
}

/// Measures few sessions against many that are not the sessions before them, and so may vary less: where the few vary more, by how each
/// side varies.
pub(crate) fn of_few(scale: Scale, many: &[f64], few: &[f64]) -> Option<Effect> {
    let as_new = against_history(scale, many, few)?;
    let (many, few) = (scale.places(many), scale.places(few));
    let (n, m) = (many.len(), few.len());
    let varies_more = stats::deviation(few.iter().copied()) > stats::deviation(many.iter().copied());
    let Some(found) = unequal::compare(&many, &few).filter(|_| varies_more) else { return Some(as_new) };
    Some(Effect {
        method: Method::Unequal,
        interval: found.interval,
        p: found.p,
        beyond: (0.0, 0.0),
        deviation: found.error / prediction::spread(n, m, 0.0),
        ..as_new
    })
}

/// Returns how far the mean of `count` neighbors went below and above the mean of all; the next outlier of its kind may go farther.
fn farthest(history: &[f64], count: usize) -> (f64, f64) {
    let center = stats::mean(history.iter().copied());
    let median = stats::quantile(history.iter().copied(), 0.5);
    let noise = noise(history);
    let far = |stretch: f64| next_of_its_kind(stretch - median, noise, count) + median - center;
    let stretches = || history.windows(count.max(1)).map(|stretch| far(stats::mean(stretch.iter().copied())));
    (stretches().fold(0.0, f64::min), stretches().fold(0.0, f64::max))
}

/// Returns the standard deviation by the median of the deviations, which outliers do not move.
pub(super) fn noise(history: &[f64]) -> f64 {
    stats::NORMAL * stats::median_deviation(history.iter().copied())
}

/// Returns how far from the median a stretch of `count` sessions may go when an earlier one went so far: where that was an outlier, a
/// little farther, by twice the deviation of the others.
pub(super) fn next_of_its_kind(outside: f64, noise: f64, count: usize) -> f64 {
    const OUTLIER: f64 = 4.0;
    const KIND: f64 = 2.0;
    let noise = noise / (count.max(1) as f64).sqrt();
    if outside.abs() > OUTLIER * noise { outside + KIND * noise * outside.signum() } else { outside }
}

/// Measures two groups of sessions that were run independently; nothing where one is empty. Where neighbors in time are similar,
/// by fewer sessions than there are.
pub(crate) fn of_groups(scale: Scale, baseline: &[f64], candidate: &[f64]) -> Option<Effect> {
    let (first, second) = (scale.places(baseline), scale.places(candidate));
    let found = rank::compare(&first, &second)?;
    let counts = (first.len(), second.len());
    let squares = |values: &[f64]| {
        let deviation = stats::deviation(values.iter().copied());
        deviation * deviation * (values.len() as f64 - 1.0)
    };
    let freedom = (counts.0 + counts.1).saturating_sub(2).max(1) as f64;
    let autocorrelation = stats::seen_autocorrelation(&[&first, &second]);
    let by_ranks = Effect {
        method: if found.is_exact { Method::Ranks } else { Method::RanksApproximate },
        scale,
        difference: found.shift,
        interval: found.interval,
        p: found.p,
        least_p: found.least_p,
        beyond: (0.0, 0.0),
        deviation: ((squares(&first) + squares(&second)) / freedom).sqrt(),
        counts,
        correlation: 0.0,
        autocorrelation,
    };
    if autocorrelation.is_none() {
        return Some(by_ranks);
    }
    let correlation = stats::shrunk_correlation(autocorrelation, (counts.0 + counts.1) as f64);
    let known = |values: &[f64]| squares(values) * prediction::hidden(values.len(), correlation);
    let deviation = ((known(&first) + known(&second)) / freedom).sqrt();
    let error = deviation * prediction::spread(counts.0, counts.1, correlation);
    let (interval, p) = around(found.shift, error, correlated_freedom(counts, correlation));
    // Correlation never makes a difference surer.
    let is_surer = p >= found.p && p.is_finite();
    Some(Effect { method: Method::Correlated, interval, p, deviation, correlation, ..by_ranks })
        .filter(|_| is_surer)
        .or(Some(by_ranks))
}

/// Returns the degrees of freedom of two groups whose neighboring sessions are correlated.
pub(super) fn correlated_freedom((first, second): (usize, usize), correlation: f64) -> f64 {
    prediction::freedom((first + second).saturating_sub(1), correlation)
}

/// Measures pairs of sessions in which both sides ran, baseline first; nothing for less than two.
///
/// Fewer than six pairs cannot be significant by signs, so these are judged by Student's t.
pub(crate) fn of_pairs(scale: Scale, values: &[(f64, f64)]) -> Option<Effect> {
    const LEAST_SIGNS: usize = 6;
    let differences: Vec<f64> =
        values.iter().map(|(first, second)| scale.place(*second) - scale.place(*first)).collect();
    let count = differences.len();
    if count < 2 {
        return None;
    }
    let found = pairs::judge(&differences)?;
    let deviation = stats::deviation(differences.iter().copied());
    let by_signs = Effect {
        method: Method::Pairs,
        scale,
        difference: found.shift,
        interval: found.interval,
        p: found.p,
        least_p: found.least_p,
        beyond: (0.0, 0.0),
        deviation,
        counts: (count, count),
        correlation: 0.0,
        autocorrelation: None,
    };
    if count >= LEAST_SIGNS {
        return Some(by_signs);
    }
    let (interval, p) = pairs::by_t(&differences)?;
    Some(Effect { method: Method::PairsByT, interval, p, least_p: 0.0, ..by_signs })
}

/// Returns how much a session follows the one before it.
pub(super) fn correlation(places: &[f64]) -> f64 {
    stats::shrunk_correlation(stats::autocorrelation(places), places.len() as f64)
}
