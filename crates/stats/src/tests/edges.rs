//! Ties, tiny groups, constants, negatives, and a million values.

use super::super::{adjust, pairs, prediction, rank, trend};

#[test]
fn the_least_p_of_small_groups() {
    // The table of benchstat.
    for (size, expected) in
        [(1_usize, 1.0), (2, 1.0 / 3.0), (3, 0.1), (4, 2.0 / 70.0), (5, 2.0 / 252.0), (6, 2.0 / 924.0)]
    {
        let first: Vec<f64> = (0..size).map(|index| index as f64).collect();
        let second: Vec<f64> = first.iter().map(|value| value + 100.0).collect();
        let found = rank::compare(&first, &second).unwrap();
        assert!((found.p - expected).abs() < 1e-12 && (found.least_p - expected).abs() < 1e-12, "{size}: {found:?}");
        assert_eq!((found.shift, found.u), (100.0, (size * size) as f64));
        let back = rank::compare(&second, &first).unwrap();
        assert_eq!((back.p, back.shift, back.interval), (found.p, -100.0, (-found.interval.1, -found.interval.0)));
    }
}

/// Against going through all choices of who is in the second group, one by one: sizes that differ, with ties and without.
#[test]
#[cfg_attr(miri, ignore = "it takes many minutes there")]
fn counted_rank_sums_are_those_of_all_choices() {
    for (step, one) in (1..=4_u32).flat_map(|step| (1..9_usize).map(move |one| (step, one))) {
        let values: Vec<f64> = (0..10_u32).map(|at| f64::from(at * 7 % 10 / step)).collect();
        let (first, second) = values.split_at(one);
        let wins = |chosen: u32| -> f64 {
            let side = |is_in: u32| (0..10).filter(move |at| chosen >> at & 1 == is_in).map(|at| values[at]);
            let worth = |a: f64, b: f64| {
                if b > a {
                    1.0
                } else if b == a {
                    0.5
                } else {
                    0.0
                }
            };
            side(1).flat_map(|b| side(0).map(move |a| worth(a, b))).sum()
        };
        let all: Vec<f64> =
            (0..1_u32 << 10).filter(|chosen| chosen.count_ones() as usize == second.len()).map(wins).collect();
        let found = rank::compare(first, second).unwrap();
        let share = |holds: &dyn Fn(f64) -> bool| all.iter().filter(|u| holds(**u)).count() as f64 / all.len() as f64;
        let tail = share(&|u| u <= found.u).min(share(&|u| u >= found.u));
        assert!((found.p - (2.0 * tail).min(1.0)).abs() < 1e-12, "{step} {one}: {found:?}");
    }
}

#[test]
fn groups_that_are_too_small_have_no_interval() {
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    let values = |count: usize, from: f64| (0..count).map(|at| from + at as f64).collect::<Vec<f64>>();
    // 2 / C(n + m, n) is the least p; from the least to the largest difference three and three would enclose with 90 %.
    for (one, other, has_one) in [(3, 3, false), (3, 4, false), (2, 7, false), (4, 4, true), (3, 5, true), (2, 8, true)]
    {
        let found = rank::compare(&values(one, 0.0), &values(other, 100.0)).unwrap();
        assert_eq!(found.interval != all, has_one, "{one} and {other}: {found:?}");
        assert_eq!(found.p <= 0.05, has_one, "{one} and {other}");
    }
    for count in 1..6 {
        assert_eq!(pairs::judge(&values(count, 1.0)).unwrap().interval, all, "{count} pairs");
    }
    assert_eq!(pairs::judge(&values(6, 1.0)).unwrap().interval, (1.0, 6.0));
}

#[test]
fn nothing_differs() {
    let same = [3.5; 6];
    let found = rank::compare(&same, &same).unwrap();
    assert_eq!((found.p, found.shift, found.interval, found.least_p), (1.0, 0.0, (0.0, 0.0), 1.0));
    let found = prediction::predict(&same, &[], &[3.5], 0.0).unwrap();
    assert_eq!((found.p, found.interval), (1.0, (0.0, 0.0)));
    assert_eq!(prediction::predict(&same, &[], &[4.0], 0.0).unwrap().p, 0.0, "it never varied");
    assert_eq!(pairs::judge(&[0.0; 5]).unwrap().p, 1.0);
    assert_eq!(trend::drift(&same).unwrap().p, 1.0);
}

#[test]
fn what_lies_outside_of_the_domain_has_no_answer() {
    for odd in [f64::NAN, f64::INFINITY] {
        assert_eq!(rank::compare(&[1.0, odd], &[1.0]), None);
        assert_eq!(prediction::predict(&[1.0, 2.0, odd], &[], &[1.0], 0.0), None);
        assert_eq!(pairs::judge(&[odd]), None);
        assert_eq!(trend::drift(&[1.0, 2.0, odd]), None);
    }
    assert_eq!(rank::compare(&[], &[1.0]), None);
    assert_eq!(prediction::predict(&[1.0], &[], &[1.0], 0.0), None);
    assert_eq!(pairs::judge(&[]), None);
    assert_eq!(trend::drift(&[1.0, 2.0]), None);
    assert!(adjust::benjamini_hochberg(&[]).is_empty());
    let adjusted = adjust::benjamini_hochberg(&[0.01, f64::NAN]);
    assert!((adjusted[0] - 0.02).abs() < 1e-15 && adjusted[1].is_nan());
}

#[test]
fn pairs_need_six_to_say_anything() {
    for (count, p) in [(1_i32, 1.0), (2, 0.5), (5, 0.0625), (6, 0.03125), (24, 2.0 / 16_777_216.0)] {
        let differences: Vec<f64> = (1..=count).map(|index| -f64::from(index)).collect();
        let found = pairs::judge(&differences).unwrap();
        assert!((found.p - p).abs() < 1e-15 && found.is_exact, "{count}: {found:?}");
        assert!((found.least_p - p).abs() < 1e-15);
    }
    let many: Vec<f64> = (0..40).map(|index| f64::from(index % 7) - 3.0).collect();
    assert!(!pairs::judge(&many).unwrap().is_exact);
}

#[test]
fn multipliers_of_the_prediction_interval() {
    for (count, multiplier) in
        [(3_usize, 4.97), (4, 3.56), (5, 3.04), (6, 2.78), (8, 2.51), (10, 2.37), (15, 2.22), (20, 2.14), (30, 2.08)]
    {
        let history: Vec<f64> = (0..count).map(|index| index as f64).collect();
        let found = prediction::predict(&history, &[], &[0.0], 0.0).unwrap();
        let half = (found.interval.1 - found.interval.0) / 2.0 / found.deviation;
        assert!((half - multiplier).abs() < 0.006, "{count}: {half}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "long series take hours there")]
fn a_million_values() {
    let series: Vec<f64> = (0..1_000_000_u32).map(|index| f64::from(index.wrapping_mul(2_654_435_761) >> 12)).collect();
    let found = prediction::predict(&series, &[], &[0.0], 0.0).unwrap();
    assert!(found.p > 0.0 && found.p < 1.0);
    let adjusted = adjust::benjamini_hochberg(&series.iter().map(|value| value / 1_048_576.0).collect::<Vec<_>>());
    assert_eq!(adjusted.len(), series.len());
}

/// Φ⁻¹(0.025) = −1.959964, so that the differences outside are those of `n m / 2 − 1.959964 √(n m (n + m + 1) / 12) − 0.5` on each side.
#[test]
fn many_pairs_are_cut_where_the_normal_distribution_is() {
    for (one, other, outside) in [(60_u32, 50_u32, 1173), (51, 51, 1007), (100, 40, 1574)] {
        let first: Vec<f64> = (0..one).map(|at| f64::from(at).sqrt()).collect();
        let second: Vec<f64> = (0..other).map(|at| f64::from(at).sqrt().sqrt() + 0.1).collect();
        let found = rank::compare(&first, &second).unwrap();
        assert!(!found.is_exact);
        let mut differences: Vec<f64> = second.iter().flat_map(|b| first.iter().map(move |a| b - a)).collect();
        differences.sort_by(f64::total_cmp);
        let last = differences.len() - 1;
        assert_eq!(found.interval, (differences[outside], differences[last - outside]), "{one} {other}");
        assert!((1e-30..1e-12).contains(&found.least_p), "{}", found.least_p);
    }
}
