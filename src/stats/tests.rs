#![expect(clippy::float_cmp, reason = "the same result on any machine")]

mod edges;
mod scipy;

use proptest::prelude::*;

use super::{SORTED, deviation, key, median_deviation, of_key, ordered, quantile, quantiles, sum};

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
fn large_samples_are_as_exact_as_small_ones() {
    let count = u32::try_from(SORTED).unwrap() * 2 + 2;
    let values = (0..count).map(|index| f64::from(index.wrapping_mul(7_919) % count) - 1000.0);
    let middle = f64::from(count - 1) / 2.0 - 1000.0;
    assert_eq!(quantiles(values.clone(), [0.0, 0.5, 1.0]), [-1000.0, middle, f64::from(count - 1) - 1000.0]);
    assert_eq!(median_deviation(values), f64::from(count) / 4.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
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
