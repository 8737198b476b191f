//! The scale on which changes are measured.

use kubebench_format::result::v1::Direction;
use kubebench_stats as stats;

/// A change of this part of a threshold is as large as it: from 100 to 105 is 5 %, however its logarithm is rounded.
pub(crate) const ROUNDED: f64 = 1.0 - 1e-9;

/// How values become numbers whose differences are changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Logarithms, where all values are positive: a change is a ratio.
    Log,
    /// Values in units of the absolute median of the baseline, where some are zero or negative.
    Relative(f64),
    /// Values in units of the median of those that are not zero, where the baseline's median is 0 and none is less: a change is no share.
    FromZero(f64),
}

impl Scale {
    /// Returns the scale for these values; nothing where no change can be said: the baseline's median is 0 while values are on both sides
    /// of it, a value is not finite, or a share of the median would not be.
    pub fn of(baseline: &[f64], candidate: &[f64]) -> Option<Self> {
        let all = || baseline.iter().chain(candidate).copied();
        if all().any(|value| !value.is_finite()) || baseline.is_empty() {
            return None;
        }
        if all().all(|value| value > 0.0) {
            return Some(Self::Log);
        }
        let median = stats::quantile(baseline.iter().copied(), 0.5).abs();
        if median > 0.0 {
            return Self::Relative(median).within_reach(median, all());
        }
        if all().all(|value| value == 0.0) {
            // No unit is needed to see that nothing changed.
            return Some(Self::Relative(1.0));
        }
        let unit = stats::quantile(all().filter(|value| *value != 0.0), 0.5);
        all().all(|value| value >= 0.0).then_some(Self::FromZero(unit))?.within_reach(unit, all())
    }

    /// Returns the scale, unless its unit is next to nothing, or beyond all numbers: then nothing can be said in shares.
    fn within_reach(self, unit: f64, mut values: impl Iterator<Item = f64>) -> Option<Self> {
        let is_within = unit.is_finite() && values.all(|value| self.place(value).abs() < f64::MAX.sqrt());
        is_within.then_some(self)
    }

    /// Returns the scale for two sides of equal rank: the same when they are reversed, except that nothing is a share of a first side whose
    /// median is 0.
    pub(crate) fn between(first: &[f64], second: &[f64]) -> Option<Self> {
        match (Self::of(first, second), Self::of(second, first)) {
            (Some(Self::Relative(one)), Some(Self::Relative(other))) => Some(Self::Relative(f64::midpoint(one, other))),
            (Some(Self::FromZero(_)), Some(Self::Relative(other))) => Some(Self::FromZero(other)),
            (Some(Self::Relative(one)), Some(Self::FromZero(_))) => Some(Self::Relative(one)),
            (one, other) => one.or(other),
        }
    }

    /// Returns a value on the scale.
    pub(crate) fn place(self, value: f64) -> f64 {
        match self {
            Self::Log => stats::ln(value),
            Self::Relative(unit) | Self::FromZero(unit) => value / unit,
        }
    }

    /// Returns values on the scale.
    pub(crate) fn places(self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| self.place(*value)).collect()
    }

    /// Returns half of the last digit in which these values are given: by that much they may vary, whether it shows or not.
    pub(crate) fn rounding(self, values: &[f64]) -> f64 {
        let digits = |value: &f64| value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
        let most = values.iter().map(digits).max().unwrap_or_default();
        let half = 0.5 * 10_f64.powi(-i32::try_from(most).unwrap_or(i32::MAX));
        match self {
            Self::Log => half / stats::quantile(values.iter().copied(), 0.5),
            Self::Relative(unit) | Self::FromZero(unit) => half / unit,
        }
    }

    /// Returns the change that a difference on the scale is: −0.08 for 8 % less; nothing where it is no share.
    pub(crate) fn change(self, difference: f64) -> Option<f64> {
        match self {
            Self::Log => Some(stats::exp_m1(difference)),
            Self::Relative(_) => Some(difference),
            Self::FromZero(_) => None,
        }
    }

    /// Returns the difference on the scale that a regression by `threshold` is. An improvement by the same difference has the
    /// same size, so that reversing the sides mirrors a verdict.
    pub(crate) fn bound(self, threshold: f64, direction: Direction) -> f64 {
        let exact = match (self, direction) {
            (Self::Relative(_) | Self::FromZero(_), _) => threshold,
            (Self::Log, Direction::Higher) => -stats::ln_1p(-threshold.min(0.99)),
            (Self::Log, Direction::Lower | Direction::None) => stats::ln_1p(threshold),
        };
        exact * ROUNDED
    }
}
