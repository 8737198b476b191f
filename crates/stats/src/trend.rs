//! Slow drift over a series.
//!
//! Source: Mann (1945), Kendall (1975) with the correction for ties; Theil (1950), Sen (1968). Assumes that under the null hypothesis
//! values are independent and of one distribution. Domain: at least three finite values, in the order of time.

use super::distribution::normal_cdf;
use super::quantile;

/// How a series drifts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Kendall's S: pairs that rise less pairs that fall.
    pub rises: f64,
    /// S by its standard deviation, with the correction for continuity; 0 where all values are the same.
    pub z: f64,
    /// How likely so large an S is without a drift, on both sides, by the normal approximation.
    pub p: f64,
}

/// Looks for a drift in a series; nothing outside of the domain.
pub fn drift(series: &[f64]) -> Option<Drift> {
    let count = series.len();
    if count < 3 || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let rises =
        pairs(series).map(|(_, early, late)| f64::from(i8::from(late > early) - i8::from(late < early))).sum::<f64>();
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let part = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let ties: f64 = sorted
        .chunk_by(|one, other| one.partial_cmp(other).is_some_and(std::cmp::Ordering::is_eq))
        .map(|group| part(group.len() as f64))
        .sum();
    let variance = (part(count as f64) - ties) / 18.0;
    let z = if variance > 0.0 { (rises.abs() - 1.0).max(0.0) / variance.sqrt() } else { 0.0 };
    Some(Drift { rises, z, p: p(z) })
}

/// Returns the median slope of all pairs, per step of the series; NaN outside of the domain.
pub fn slope(series: &[f64]) -> f64 {
    let slopes: Vec<f64> = pairs(series).map(|(steps, early, late)| (late - early) / steps as f64).collect();
    quantile(slopes.into_iter(), 0.5)
}

/// Iterates over all pairs of values, with their distance in steps.
fn pairs(series: &[f64]) -> impl Iterator<Item = (usize, f64, f64)> {
    let later = |at: usize| series.iter().skip(at + 1).enumerate();
    let of = move |(at, early): (usize, &f64)| {
        let early = *early;
        later(at).map(move |(steps, late)| (steps + 1, early, *late))
    };
    series.iter().enumerate().flat_map(of)
}

impl Drift {
    /// Returns p where each value follows the one before it with this autocorrelation around the drift, so that n of them are worth
    /// n · (1 − φ) / (1 + φ) (Yue & Wang 2004).
    pub fn p_of_correlated(&self, autocorrelation: f64) -> f64 {
        p(self.z * ((1.0 - autocorrelation) / (1.0 + autocorrelation)).max(0.0).sqrt())
    }
}

fn p(z: f64) -> f64 {
    (2.0 * normal_cdf(-z)).min(1.0)
}
