//! A new session against the sessions before it: the prediction interval of a normal distribution with unknown mean and variance.
//!
//! Source: Geisser, *Predictive Inference* (1993), §2; NIST/SEMATECH e-Handbook, §7.1.4. Assumes that session values, on the scale they
//! come in, are independent and about normal. Domain: at least two values of history, one new one, all finite.

use super::distribution::{around, t_quantile};
use super::{mean, sum};

/// What the history predicts about new values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The mean of the new values less that of the history.
    pub difference: f64,
    /// The interval around the difference, which would have to contain 0 if nothing had changed.
    pub interval: (f64, f64),
    /// How likely a difference of this size is where nothing changed, on both sides. 0 where the history never varied and the new value
    /// differs, 1 where it does not.
    pub p: f64,
    /// The standard deviation of the history.
    pub deviation: f64,
}

/// A value that is held back counts at most as this many standard deviations.
const FARTHEST: f64 = 2.5;

/// Compares `new` session values with the `history` of earlier ones; nothing outside of the domain. Earlier ones that are `held` back,
/// since they may be of another level, add to how much values vary and not to where they are.
///
/// The half width is t(1 − α/2, N − 1) · s · √(1/m + 1/N). Where each value follows the one before it with the correlation φ above 0, as in
/// an AR(1) process, 1/n is V(n) = (1 + 2 Σₖ (1 − k/n) φᵏ) / n for both sides, s² is by (N − 1) / N / (1 − V(N)) larger, since values that
/// follow each other stay near their mean, and the degrees of freedom are (N − 1) (1 − φ²) / (1 + φ²) (Bartlett 1946; Bayley &
/// Hammersley 1946).
pub fn predict(history: &[f64], held: &[f64], new: &[f64], correlation: f64) -> Option<Prediction> {
    let (count, more) = (history.len(), new.len());
    if count < 2 || more == 0 || history.iter().chain(held).chain(new).any(|value| !value.is_finite()) {
        return None;
    }
    let difference = mean(new.iter().copied()) - mean(history.iter().copied());
    let center = mean(history.iter().copied());
    let square = |value: &f64| (value - center).powi(2);
    let own = sum(history.iter().map(square));
    let most = FARTHEST * FARTHEST * own / (count as f64 - 1.0);
    let squares = own + sum(held.iter().map(|value| square(value).min(most)));
    let deviation = (squares / (count + held.len() - 1) as f64 * hidden(count, correlation)).sqrt();
    let error = deviation * spread(count, more, correlation);
    let (interval, p) = around(difference, error, freedom(count, correlation));
    Some(Prediction { difference, interval, p, deviation })
}

impl Prediction {
    /// Returns the same where values that differ are known to vary by at least this standard deviation; `counts` are those of the history
    /// and of the new ones.
    #[must_use]
    pub fn with_least(self, deviation: f64, counts: (usize, usize), correlation: f64) -> Self {
        if self.deviation >= deviation || self.difference == 0.0 {
            return self;
        }
        let error = deviation * spread(counts.0, counts.1, correlation);
        let (interval, p) = around(self.difference, error, freedom(counts.0, correlation));
        Self { interval, p, deviation, ..self }
    }
}

/// Returns by how much the variance of `count` values is larger than they show: those that follow each other stay near their mean.
pub fn hidden(count: usize, correlation: f64) -> f64 {
    let n = count as f64;
    (n - 1.0) / n / (1.0 - mean_variance(count, correlation))
}

/// Returns by how much the error of a prediction is wider than the standard deviation: √(1/m + 1/N) without correlation.
pub fn spread(history: usize, new: usize, correlation: f64) -> f64 {
    (mean_variance(new, correlation) + mean_variance(history, correlation)).sqrt()
}

/// Returns the degrees of freedom that `count` values leave: N − 1 without correlation.
pub fn freedom(count: usize, correlation: f64) -> f64 {
    let square = correlation * correlation;
    (count.max(1) - 1) as f64 * (1.0 - square) / (1.0 + square)
}

/// Returns the variance of the mean of `count` values, as a share of that of one: 1/n without correlation.
fn mean_variance(count: usize, correlation: f64) -> f64 {
    let n = count as f64;
    let mut power = 1.0;
    let follow = (1..count).map(|distance| {
        power *= correlation;
        (1.0 - distance as f64 / n) * power
    });
    let follow: f64 = if correlation > 0.0 { follow.sum() } else { 0.0 };
    (1.0 + 2.0 * follow) / n
}

/// Returns the quantile of Student's t; NaN without a degree of freedom.
pub fn quantile(probability: f64, freedom: f64) -> f64 {
    if freedom > 0.0 { t_quantile(probability, freedom) } else { f64::NAN }
}
