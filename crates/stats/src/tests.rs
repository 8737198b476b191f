#![expect(clippy::float_cmp, reason = "the same result on any machine")]

mod edges;
mod elementary;
mod median;
mod scipy;
mod tables;

use proptest::prelude::*;

use super::{SORTED, autocorrelation, deviation, key, median_deviation, of_key, ordered, quantile, quantiles, sum};

#[test]
fn small_samples() {
    let values = [4.0, 1.0, 3.0, 2.0];
    assert_eq!(quantiles(values.into_iter(), [0.0, 0.5, 0.9, 1.0]), [1.0, 2.5, 3.7, 4.0]);
    assert_eq!(median_deviation(values.into_iter()), 1.0);
    assert_eq!(sum([1e100, 1.0, -1e100]), 1.0);
    assert_eq!(deviation([5.0].into_iter()), 0.0);
    assert_eq!(quantile([1.0, f64::INFINITY].into_iter(), 0.0), 1.0);
    assert!(quantile(std::iter::empty(), 0.5).is_nan());
}

#[test]
#[cfg_attr(miri, ignore = "long series take hours there")]
fn large_samples_are_as_exact_as_small_ones() {
    let count = u32::try_from(SORTED).unwrap() * 2 + 2;
    let values = (0..count).map(|index| f64::from(index.wrapping_mul(7_919) % count) - 1000.0);
    let middle = f64::from(count - 1) / 2.0 - 1000.0;
    assert_eq!(quantiles(values.clone(), [0.0, 0.5, 1.0]), [-1000.0, middle, f64::from(count - 1) - 1000.0]);
    assert_eq!(median_deviation(values), f64::from(count) / 4.0);
}

#[test]
fn neighbors() {
    for few in
        [&[][..], &[1.0], &[1.0, 2.0, 3.0], &[5.0; 9], &[1.0, 2.0, f64::NAN, 4.0], &[1.0, f64::INFINITY, 2.0, 3.0]]
    {
        assert_eq!(autocorrelation(few), None, "{few:?}");
    }
    // By hand: residuals −1.5, −0.5, 0.5, 1.5; products 1.25 of squares 5; corrected by (1 + 3/4) / 4.
    assert_eq!(autocorrelation(&[1.0, 2.0, 3.0, 4.0]), Some(0.25 + 1.75 / 4.0));
    let alternating: Vec<f64> = (0..100).map(|index| f64::from(index % 2)).collect();
    assert!(autocorrelation(&alternating).unwrap() < -0.9);
    let waves: Vec<f64> = (0..100).map(|index| f64::from(index / 10 % 2)).collect();
    let found = autocorrelation(&waves).unwrap();
    assert!((0.8..=1.0).contains(&found));
    for unit in [1e-300, 1e300] {
        let scaled: Vec<f64> = waves.iter().map(|value| value * unit).collect();
        assert!((autocorrelation(&scaled).unwrap() - found).abs() < 1e-9, "{unit}");
    }
    let many: u32 = if cfg!(miri) { 1000 } else { 1_000_000 };
    let steps = (0..many).map(|index| f64::from(index.wrapping_mul(2_654_435_761) >> 12)).collect::<Vec<_>>();
    assert!(autocorrelation(&steps).unwrap().abs() < 0.9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 60 }))]

    #[test]
    #[cfg_attr(miri, ignore = "it takes many minutes there")]
    fn order_statistics_are_those_of_the_sorted_values(values in prop::collection::vec(prop::num::f64::ANY, 3..200)) {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let ranks = [0, 1, values.len() / 2, values.len() - 1];
        for (rank, found) in ranks.iter().zip(ordered(&values.iter().copied(), &ranks)) {
            prop_assert_eq!(key(sorted[*rank]), found);
            prop_assert_eq!(of_key(found).to_bits(), sorted[*rank].to_bits());
        }
    }
}
