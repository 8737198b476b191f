//! A new session against the sessions before it: the prediction interval of a normal distribution with unknown mean and variance.
//!
//! Source: Geisser, *Predictive Inference* (1993), §2; NIST/SEMATECH e-Handbook, §7.1.4. Assumes that session values, on the scale they
//! come in, are independent and about normal. Domain: at least two values of history, one new one, all finite.

use super::distribution::{t_quantile, t_two_sided};
use super::{deviation, mean};

/// The confidence of intervals that are shown.
pub const CONFIDENCE: f64 = 0.95;

/// What the history says of new values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The mean of the new values less that of the history.
    pub difference: f64,
    /// The interval around the difference, in which it would have to hold 0 if nothing had changed.
    pub interval: (f64, f64),
    /// How likely a difference of this size is where nothing changed, on both sides. 0 where the history never varied and the new value
    /// differs, 1 where it does not.
    pub p: f64,
    /// The standard deviation of the history.
    pub deviation: f64,
}

/// Compares `new` session values with the `history` of earlier ones; nothing outside of the domain.
///
/// The half width is t(1 − α/2, N − 1) · s · √(1/m + 1/N).
pub fn predict(history: &[f64], new: &[f64]) -> Option<Prediction> {
    let (count, more) = (history.len(), new.len());
    if count < 2 || more == 0 || history.iter().chain(new).any(|value| !value.is_finite()) {
        return None;
    }
    let freedom = count as f64 - 1.0;
    let difference = mean(new.iter().copied()) - mean(history.iter().copied());
    let deviation = deviation(history.iter().copied());
    let error = deviation * spread(count, more);
    let half = t_quantile(f64::midpoint(1.0, CONFIDENCE), freedom) * error;
    let p = match (error > 0.0, difference == 0.0) {
        (true, _) => t_two_sided(difference / error, freedom),
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    Some(Prediction { difference, interval: (difference - half, difference + half), p, deviation })
}

/// Returns by how much the error of a prediction is wider than the standard deviation: √(1/m + 1/N).
pub fn spread(history: usize, new: usize) -> f64 {
    (1.0 / new as f64 + 1.0 / history as f64).sqrt()
}

/// Returns the quantile of Student's t; not a number without a degree of freedom.
pub fn quantile(probability: f64, freedom: usize) -> f64 {
    if freedom == 0 { f64::NAN } else { t_quantile(probability, freedom as f64) }
}
