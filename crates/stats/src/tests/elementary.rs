//! Sums, deviations, logarithms and quantiles, by hand.

use std::f64::consts::{LN_2, LN_10};

use super::super::{Sum, autocorrelation_from, deviation, exp_m1, ln, ln_1p, quantile};

#[test]
fn a_changed_sum_keeps_what_its_digits_lost() {
    let mut sum = Sum::default();
    for value in [1e100, 1.0, -1e100] {
        sum.add(value);
    }
    assert_eq!(sum.map(|value| value * 2.0).value(), 2.0);
}

#[test]
fn a_deviation_is_that_of_a_sample() {
    assert_eq!(deviation([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter()), (32.0_f64 / 7.0).sqrt());
}

#[test]
fn logarithms_are_exact_near_zero() {
    assert_eq!([ln(10.0), ln(0.5)], [LN_10, -LN_2]);
    assert_eq!([exp_m1(1e-10), exp_m1(1.0)], [1.000_000_000_05e-10, 1.718_281_828_459_045]);
    assert_eq!([ln_1p(1e-10), ln_1p(1.0)], [9.999_999_999_500_001e-11, LN_2]);
}

#[test]
fn the_bias_of_an_autocorrelation_grows_with_the_means() {
    // 1.25 / 5, corrected by (1 + 3/4) · means / 4.
    assert_eq!(autocorrelation_from(1.25, 5.0, 4.0, 1.0), 0.25 + 1.75 / 4.0);
    assert_eq!(autocorrelation_from(-1.25, 5.0, 4.0, 2.0), -0.25 + 0.25 * 2.0 / 4.0);
    assert_eq!(autocorrelation_from(1.0, 0.0, 4.0, 1.0), 0.0);
}

#[test]
fn quantiles_between_the_ends_of_all_numbers_are_numbers() {
    let at = |values: [f64; 2], share: f64| quantile(values.into_iter(), share);
    let all = [-f64::MAX, f64::MAX];
    assert_eq!([at(all, 0.0), at(all, 0.5), at(all, 1.0)], [-f64::MAX, 0.0, f64::MAX]);
    assert!((at(all, 0.25) / f64::MAX + 0.5).abs() < 1e-15);
    assert_eq!(at([0.0, f64::INFINITY], 0.5), f64::INFINITY);
    assert_eq!(at([1.0, 2.0], 0.75), 1.75);
}
