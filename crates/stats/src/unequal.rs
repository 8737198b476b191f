//! Two groups that vary differently, of which one is too small for ranks.
//!
//! Source: Welch (1938), with the degrees of freedom of the smaller group, which never says too much (Mickey & Brown 1966). Assumes that
//! values are independent and about normal. Domain: two values each, all finite.

use super::distribution::around;
use super::{deviation, mean};

/// How two groups differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The mean of the second group less that of the first.
    pub difference: f64,
    /// The interval of 95 % around it.
    pub interval: (f64, f64),
    /// How likely so large a difference is where nothing differs, on both sides.
    pub p: f64,
    /// The standard error of the difference: √(s₁² / n + s₂² / m).
    pub error: f64,
}

/// Compares two groups; nothing outside of the domain.
pub fn compare(first: &[f64], second: &[f64]) -> Option<Comparison> {
    let least = first.len().min(second.len());
    if least < 2 || first.iter().chain(second).any(|value| !value.is_finite()) {
        return None;
    }
    let difference = mean(second.iter().copied()) - mean(first.iter().copied());
    let own = |group: &[f64]| deviation(group.iter().copied()).powi(2) / group.len() as f64;
    let error = (own(first) + own(second)).sqrt();
    let (interval, p) = around(difference, error, least as f64 - 1.0);
    Some(Comparison { difference, interval, p, error })
}
