//! The normal distribution and Student's t: the crate statrs, without the system's mathematics, so that a verdict is the same on any
//! machine.

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

use super::invariant::Invariant as _;

fn standard_normal() -> Normal {
    Normal::new(0.0, 1.0).ok().expected("a normal distribution of deviation 1")
}

/// Returns the probability of a value of at most `z` under the standard normal distribution.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    standard_normal().cdf(z)
}

/// Returns the quantile of the standard normal distribution for a probability between 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    standard_normal().inverse_cdf(probability)
}

/// Returns the quantile of Student's t with `freedom` degrees of freedom for a probability between 0 and 1.
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(probability))
}

/// Returns the interval of 95 % around a difference with this standard error, and its two-sided p value: 0 if nothing varies and there is
/// a difference, 1 if nothing varies and there is none.
pub fn around(difference: f64, error: f64, freedom: f64) -> ((f64, f64), f64) {
    let half = t_quantile(0.975, freedom) * error;
    let p = match (error > 0.0, difference == 0.0) {
        (true, _) => t_two_sided(difference / error, freedom),
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    ((difference - half, difference + half), p)
}

/// Returns the probability of a value at least as far from 0 as `t`, on both sides.
pub fn t_two_sided(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |distribution| 2.0 * distribution.cdf(-t.abs()))
}
