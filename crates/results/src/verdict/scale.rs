//! The scale on which changes are measured.

use kubebench_format::result::v1::Direction;
use kubebench_stats as stats;

/// How values become numbers whose differences are changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Logarithms, where all values are positive: a change is a ratio.
    Log,
    /// Values in units of the absolute median of the baseline, where some are zero or negative.
    Relative(f64),
}

impl Scale {
    /// Returns the scale for these values; nothing where no change can be said: the baseline's median is 0 while values differ from it,
    /// a value is not finite, or a share of the median would not be.
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
            // Of a median that is next to nothing, or beyond all numbers, nothing can be told in shares.
            let scale = Self::Relative(median);
            return all()
                .all(|value| scale.place(value).abs() < f64::MAX.sqrt())
                .then_some(scale)
                .filter(|_| median.is_finite());
        }
        // Nothing but zeros: no unit is needed to see that nothing changed.
        all().all(|value| value == 0.0).then_some(Self::Relative(1.0))
    }

    /// Returns the scale for two sides of equal rank: the same when they are reversed. Where the median of one is 0, a difference is told
    /// in units of the other.
    pub(crate) fn between(first: &[f64], second: &[f64]) -> Option<Self> {
        match (Self::of(first, second), Self::of(second, first)) {
            (Some(Self::Relative(one)), Some(Self::Relative(other))) => Some(Self::Relative(f64::midpoint(one, other))),
            (one, other) => one.or(other),
        }
    }

    /// Returns a value on the scale.
    pub(crate) fn place(self, value: f64) -> f64 {
        match self {
            Self::Log => stats::ln(value),
            Self::Relative(unit) => value / unit,
        }
    }

    /// Returns values on the scale.
    pub(crate) fn places(self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| self.place(*value)).collect()
    }

    /// Returns the change that a difference on the scale is: −0.08 for 8 % less.
    pub(crate) fn change(self, difference: f64) -> f64 {
        match self {
            Self::Log => stats::exp_m1(difference),
            Self::Relative(_) => difference,
        }
    }

    /// Returns the difference on the scale that a regression by `threshold` is. The same difference for the better has the
    /// same size, so that reversing the sides mirrors a verdict.
    pub(crate) fn bound(self, threshold: f64, direction: Direction) -> f64 {
        match (self, direction) {
            (Self::Relative(_), _) => threshold,
            (Self::Log, Direction::Higher) => -stats::ln_1p(-threshold.min(0.99)),
            (Self::Log, Direction::Lower | Direction::None) => stats::ln_1p(threshold),
        }
    }
}
