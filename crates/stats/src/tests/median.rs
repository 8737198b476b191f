//! Intervals of medians against the tables of Conover (1999), A3, and Student's t.

use crate::median::interval;

#[test]
fn two_values_enclose_the_median() {
    let of = |count: u32| interval(&(1..=count).rev().map(f64::from).collect::<Vec<_>>());
    // The ranks of R's `qbinom(0.025, n, 0.5)` and its mirror.
    for (count, low, high) in [(6, 1, 6), (8, 1, 8), (9, 2, 8), (10, 2, 9), (20, 6, 15), (25, 8, 18), (46, 16, 31)] {
        assert_eq!(of(count), Some((f64::from(low), f64::from(high))), "{count}");
    }
    // `qbinom(0.025, 1000, 0.5)` is 469, `qbinom(0.025, 5000, 0.5)` 2431: an interval by the approximation begins there or one before.
    assert_eq!(of(1000), Some((469.0, 532.0)));
    let (low, high) = of(5000).unwrap();
    assert!((low - 2431.0).abs() <= 1.0 && (high + low - 5001.0).abs() < 1e-9, "{low} {high}");
}

#[test]
fn few_values_are_judged_by_t() {
    // t(0.975, 4) = 2.776445, s = 1.581139: 3 ± 1.963243.
    let (low, high) = interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert!((low - 1.036_757).abs() < 1e-6 && (high - 4.963_243).abs() < 1e-6, "{low} {high}");
    assert_eq!(interval(&[7.0, 7.0, 7.0]), Some((7.0, 7.0)));
    assert_eq!(interval(&[1.0, 2.0]), None);
    assert_eq!(interval(&[]), None);
    assert_eq!(interval(&[1.0, f64::NAN, 2.0]), None);
}
