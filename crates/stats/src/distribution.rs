//! The normal distribution and Student's t, from libm's functions alone: those of the system differ between machines in the last digit, and
//! a verdict must not.

use std::f64::consts::{PI, SQRT_2};

use super::{exp, ln, ln_1p};

/// Returns the probability of a value of at most `z` under the standard normal distribution.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// Returns the derivative of [`normal_cdf`].
fn normal_density(z: f64) -> f64 {
    exp(-0.5 * z * z) / (2.0 * PI).sqrt()
}

/// Returns the quantile of the standard normal distribution for a probability between 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    quantile(probability, |z| normal_cdf(-z), normal_density)
}

/// Returns the quantile of Student's t with `freedom` degrees of freedom for a probability between 0 and 1; not a number if there is no
/// such distribution.
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    match freedom {
        f64::INFINITY => normal_quantile(probability),
        freedom if freedom > 0.0 => quantile(probability, |t| 0.5 * t_two_sided(t, freedom), |t| t_density(t, freedom)),
        _ => f64::NAN,
    }
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

/// Returns the probability of a value at least as far from 0 as `t`, on both sides; not a number if there is no such distribution.
///
/// It is the regularized incomplete beta function of `freedom / (freedom + t²)` for `freedom / 2` and a half: Abramowitz and Stegun, Handbook
/// of Mathematical Functions, 26.7.1 and 26.5.2.
pub fn t_two_sided(t: f64, freedom: f64) -> f64 {
    if freedom.is_nan() || freedom <= 0.0 || t.is_nan() {
        return f64::NAN;
    }
    if freedom.is_infinite() {
        return 2.0 * normal_cdf(-t.abs());
    }
    let scaled = t / freedom.sqrt();
    let ratio = scaled * scaled;
    if ratio == 0.0 {
        return 1.0;
    }
    if ratio.is_infinite() {
        return 0.0;
    }
    let (a, b) = (0.5 * freedom, 0.5);
    let (near, far) = (1.0 / (1.0 + ratio), 1.0 / (1.0 + 1.0 / ratio));
    let front = exp(-(a + b) * ln_1p(ratio) + b * ln(ratio) - ln_beta(a));
    // The fraction converges fast on one side of the mean alone.
    if near < (a + 1.0) / (a + b + 2.0) {
        front / a * fraction(a, b, near)
    } else {
        1.0 - front / b * fraction(b, a, far)
    }
}

/// Returns the density of Student's t with `freedom` degrees of freedom.
fn t_density(t: f64, freedom: f64) -> f64 {
    exp(-0.5 * (freedom + 1.0) * ln_1p(t * t / freedom) - ln_beta(0.5 * freedom)) / freedom.sqrt()
}

/// Returns the logarithm of the beta function of `a` and a half.
fn ln_beta(a: f64) -> f64 {
    /// From here on the difference of two large logarithms loses more digits than the series (6.1.47 there) leaves out.
    const LARGE: f64 = 100.0;
    let difference = if a < LARGE {
        libm::lgamma(a + 0.5) - libm::lgamma(a)
    } else {
        let square = a * a;
        0.5 * ln(a) - (1.0 / 8.0 - (1.0 / 192.0 - 1.0 / (640.0 * square)) / square) / a
    };
    0.5 * ln(PI) - difference
}

/// Returns the continued fraction of the incomplete beta function (26.5.8 there), by Lentz's method; below the mean no denominator is 0.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    /// It takes about the square root of `a` and `b`: no count of values asks for more.
    const STEPS: u32 = 100_000;
    let mut numerator = 1.0;
    let mut denominator = 1.0 / (1.0 - (a + b) * x / (a + 1.0));
    let mut product = denominator;
    for step in 1..=STEPS {
        let step = f64::from(step);
        let even = step * (b - step) * x / ((a + 2.0 * step - 1.0) * (a + 2.0 * step));
        let odd = -(a + step) * (a + b + step) * x / ((a + 2.0 * step) * (a + 2.0 * step + 1.0));
        let before = product;
        for coefficient in [even, odd] {
            denominator = 1.0 / (1.0 + coefficient * denominator);
            numerator = 1.0 + coefficient / numerator;
            product *= denominator * numerator;
        }
        if (product - before).abs() <= f64::EPSILON * product.abs() {
            break;
        }
    }
    product
}

/// Returns the number at which a distribution around 0 reaches a probability.
///
/// By Newton's method from the center on: what lies beyond a number is convex there, so that the steps come from one side and end where they
/// no longer advance.
fn quantile(probability: f64, beyond: impl Fn(f64) -> f64, density: impl Fn(f64) -> f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    let tail = probability.min(1.0 - probability);
    let mut place = if tail > 0.0 { 0.0 } else { f64::INFINITY };
    loop {
        let next = place + (beyond(place) - tail) / density(place);
        if next <= place || next.is_nan() {
            return place.copysign(probability - 0.5);
        }
        place = next;
    }
}

#[cfg(test)]
mod tests;
