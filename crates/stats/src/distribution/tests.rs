#![expect(clippy::float_cmp, reason = "exact at the ends")]

use std::f64::consts::PI;

use proptest::prelude::*;

use super::{normal_cdf, normal_density, normal_quantile, t_density, t_quantile, t_two_sided};

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found:e} is not {expected:e}");
}

/// With 1 and 2 degrees of freedom, elementary functions say what Student's t is.
#[test]
fn few_degrees_of_freedom() {
    for t in [1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 12.7, 1e3, 1e6] {
        close(t_two_sided(t, 1.0), 2.0 / PI * libm::atan(1.0 / t));
        // 1 - t / √(2 + t²), without its cancellation.
        let root = (2.0 + t * t).sqrt();
        close(t_two_sided(-t, 2.0), 2.0 / (root * (root + t)));
    }
    for probability in [1e-9, 0.025, 0.3, 0.75, 0.975] {
        close(t_quantile(probability, 1.0), -1.0 / libm::tan(PI * probability));
    }
}

/// The first term by which Student's t differs from the normal distribution: (z³ + z) / 4 for each degree (26.7.5 there).
#[test]
fn many_degrees_of_freedom() {
    for freedom in [1e6, 1e8] {
        let z = normal_quantile(0.975);
        let found = t_quantile(0.975, freedom);
        let expected = z + (z * z * z + z) / (4.0 * freedom);
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    assert_eq!(t_quantile(0.9, f64::INFINITY).to_bits(), normal_quantile(0.9).to_bits());
    close(t_two_sided(3.0, f64::INFINITY), 2.0 * normal_cdf(-3.0));
}

/// Newton's method takes few steps with the right slope, and arrives with others too.
#[test]
fn densities_are_slopes() {
    const STEP: f64 = 1e-5;
    for place in [-3.0, -0.7, 0.4, 1.0, 2.5] {
        let slope = (normal_cdf(place + STEP) - normal_cdf(place - STEP)) / (2.0 * STEP);
        assert!((normal_density(place) / slope - 1.0).abs() < 1e-7, "{place}");
    }
    for (place, freedom) in [(0.4, 1.0), (1.0, 2.5), (2.5, 19.0), (1.7, 400.0)] {
        let slope = (t_two_sided(place - STEP, freedom) - t_two_sided(place + STEP, freedom)) / (4.0 * STEP);
        assert!((t_density(place, freedom) / slope - 1.0).abs() < 1e-7, "{place} {freedom}");
    }
}

#[test]
fn the_ends_and_what_lies_beyond() {
    for (probability, expected) in [(0.0, f64::NEG_INFINITY), (0.5, 0.0), (1.0, f64::INFINITY)] {
        assert!(normal_quantile(probability) == expected && t_quantile(probability, 3.0) == expected, "{probability}");
    }
    assert!(t_two_sided(f64::INFINITY, 3.0) == 0.0 && t_two_sided(f64::MAX, 3.0) == 0.0);
    assert!(t_two_sided(0.0, 3.0) == 1.0 && t_two_sided(1e-200, 3.0) == 1.0);
    for (probability, freedom) in [(-0.1, 3.0), (1.1, 3.0), (f64::NAN, 3.0), (0.9, 0.0), (0.9, -1.0), (0.9, f64::NAN)] {
        assert!(t_quantile(probability, freedom).is_nan(), "{probability} {freedom}");
    }
    for (t, freedom) in [(f64::NAN, 3.0), (1.0, 0.0), (1.0, -1.0), (1.0, f64::NAN), (1.0, f64::NEG_INFINITY)] {
        assert!(t_two_sided(t, freedom).is_nan(), "{t} {freedom}");
    }
    assert!(normal_quantile(f64::NAN).is_nan());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 500 }))]

    #[test]
    fn a_quantile_has_its_probability(power in -100_f64..-0.302, degrees in 0_f64..6.0) {
        let (probability, freedom) = (libm::pow(10.0, power), libm::pow(10.0, degrees));
        let t = t_quantile(probability, freedom);
        prop_assert!((t_two_sided(t, freedom) / 2.0 / probability - 1.0).abs() < 1e-9, "{t}");
        prop_assert!(t_quantile(1.0 - probability, freedom) >= 0.0);
        let z = normal_quantile(probability);
        prop_assert!((normal_cdf(z) / probability - 1.0).abs() < 1e-12, "{z}");
    }
}
