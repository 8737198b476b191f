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
    /// How likely so large an S is without a drift, on both sides, by the normal approximation with the correction for continuity.
    pub p: f64,
    /// The median slope of all pairs, by one step of the series.
    pub slope: f64,
}

/// Looks for a drift in a series; nothing outside of the domain.
pub fn drift(series: &[f64]) -> Option<Drift> {
    let count = series.len();
    if count < 3 || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(count * (count - 1) / 2);
    let mut rises = 0.0;
    for (index, early) in series.iter().enumerate() {
        for (steps, late) in series.iter().skip(index + 1).enumerate() {
            slopes.push((late - early) / (steps + 1) as f64);
            rises += f64::from(i8::from(late > early) - i8::from(late < early));
        }
    }
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let part = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let ties: f64 = sorted
        .chunk_by(|one, other| one.partial_cmp(other).is_some_and(std::cmp::Ordering::is_eq))
        .map(|group| part(group.len() as f64))
        .sum();
    let variance = (part(count as f64) - ties) / 18.0;
    let z = (rises.abs() - 1.0).max(0.0) / variance.sqrt();
    let p = if variance > 0.0 { (2.0 * normal_cdf(-z)).min(1.0) } else { 1.0 };
    Some(Drift { rises, p, slope: quantile(slopes.iter().copied(), 0.5) })
}
