#![expect(clippy::float_cmp, reason = "the same result on any machine")]

use proptest::prelude::*;
use serde::Deserialize;

use super::{
    ChangePoint, Level, Levels, STEPS, Unsure, autocorrelation_from, change_points, shrunk_correlation, t_two_sided,
    widest,
};

/// Numbers between −1 and 1 that look like noise, by Weyl's sequence of squares.
fn noise(index: usize) -> f64 {
    let mixed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 29)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Levels of a length each, with noise.
fn levels(parts: &[(usize, f64)]) -> Vec<f64> {
    let means = parts.iter().flat_map(|(length, level)| std::iter::repeat_n(*level, *length));
    means.enumerate().map(|(index, mean)| mean + noise(index)).collect()
}

const NONE: [usize; 0] = [];

fn places(series: &[f64], least: usize) -> Vec<usize> {
    change_points(series, least).into_iter().map(|point| point.at).collect()
}

#[test]
fn steps() {
    assert_eq!(places(&levels(&[(20, 0.0), (20, 5.0)]), 5), [20]);
    assert_eq!(places(&levels(&[(20, 5.0), (20, 0.0)]), 5), [20]);
    assert_eq!(places(&levels(&[(15, 0.0), (15, 5.0), (15, 0.0)]), 5), [15, 30], "two that undo each other");
    assert_eq!(places(&levels(&[(12, 0.0), (12, 5.0), (12, 10.0), (12, 15.0)]), 5), [12, 24, 36]);
    assert_eq!(places(&levels(&[(10, 0.0), (10, 5.0), (10, 0.0), (10, 5.0)]), 5), [10, 20, 30]);
    assert_eq!(places(&levels(&[(40, 0.0)]), 5), NONE);
}

#[test]
fn the_widest_place_is_the_first_of_its_distance() {
    // By energy distances that a script of a dozen lines computes from all pairs.
    assert_eq!(widest(&[0.0, 0.0, 8.0, 0.0, 6.0, 3.0, 6.0, 0.0], 2), Some(2), "what is within the sides counts");
    assert_eq!(widest(&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0], 2), Some(2), "of two that are equally wide");
}

#[test]
fn steps_at_the_edges() {
    for long in [20, 200] {
        assert_eq!(places(&levels(&[(5, 8.0), (long, 0.0)]), 5), [5]);
        assert_eq!(places(&levels(&[(long, 0.0), (5, 8.0)]), 5), [long]);
    }
    // Amid hundreds of values a level of five that is over hides in the means of both sides.
    assert_eq!(places(&levels(&[(20, 0.0), (5, 8.0), (20, 0.0)]), 5), [20, 25]);
}

/// No level is shorter than allowed, whatever the values are.
#[test]
fn levels_that_are_too_short() {
    let one = levels(&[(20, 0.0), (1, 50.0), (20, 0.0)]);
    assert_eq!(places(&one, 5), NONE, "one outlier is no level");
    let late = levels(&[(30, 0.0), (4, 8.0)]);
    assert!(places(&late, 5).iter().all(|at| 34 - at >= 5), "{:?}", places(&late, 5));
    for length in 0..10 {
        assert_eq!(places(&levels(&[(length / 2, 0.0), (length - length / 2, 9.0)]), 5), NONE, "{length}");
    }
    assert_eq!(places(&levels(&[(5, 0.0), (5, 20.0)]), 5), [5]);
    assert_eq!(places(&levels(&[(8, 0.0), (8, 20.0)]), 0), [8], "two is the least");
}

#[test]
fn constants_ties_and_what_is_no_number() {
    assert_eq!(places(&[7.5; 60], 5), NONE);
    assert_eq!(places(&[0.0; 60], 5), NONE);
    let exact: Vec<f64> = [[1.0; 10], [2.0; 10]].concat();
    assert_eq!(change_points(&exact, 5), [ChangePoint { at: 10, p: 0.0 }], "it never varied");
    let tied: Vec<f64> = levels(&[(20, 0.0), (20, 3.0)]).into_iter().map(f64::round).collect();
    assert_eq!(places(&tied, 5), [20]);
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut series = levels(&[(20, 0.0), (20, 5.0)]);
        series[3] = odd;
        assert_eq!(places(&series, 5), NONE);
    }
}

/// Neither the unit nor the level decides, up to the ends of the range.
#[test]
#[cfg_attr(miri, ignore = "many series take hours there")]
fn units_and_levels() {
    let series = levels(&[(15, 0.0), (15, 5.0), (15, 0.0)]);
    for (unit, offset) in [(1000.0, 0.0), (1e-300, 0.0), (1e307, 0.0), (-1.0, 0.0), (1.0, 1e9), (1e-6, 1.0)] {
        let moved: Vec<f64> = series.iter().map(|value| value * unit + offset).collect();
        assert_eq!(places(&moved, 5), [15, 30], "{unit} {offset}");
    }
    let ends: Vec<f64> = (0..40).map(|index| if index < 20 { -f64::MAX } else { f64::MAX }).collect();
    assert_eq!(places(&ends, 5), [20]);
}

/// Waves of values that follow each other look like levels, and are not levels.
#[test]
#[cfg_attr(miri, ignore = "many series take hours there")]
fn waves_are_no_steps() {
    let mut found = 0;
    for seed in 0..200 {
        let mut state = 0.0;
        let series: Vec<f64> = (0..30)
            .map(|index| {
                state = 0.5 * state + noise(seed * 1000 + index);
                state
            })
            .collect();
        found += usize::from(!places(&series, 5).is_empty());
    }
    assert!(found <= 10, "{found} of 200");
}

/// Finds the changes, and returns how many there are and how many steps that took for each value.
fn found_in(series: &[f64]) -> (usize, usize) {
    STEPS.set(0);
    let found = places(series, 5).len();
    println!("{found} changes in {} values: {} steps each", series.len(), STEPS.get() / series.len());
    (found, STEPS.get() / series.len())
}

/// What is quadratic takes thousands of steps for each value.
#[test]
#[cfg_attr(miri, ignore = "long series take hours there")]
fn long_series_take_few_steps_for_each_value() {
    let (found, steps) = found_in(&levels(&[(50_000, 0.0)]));
    assert!(found < 20 && steps < 100, "{found} {steps}");
    // Many levels: each is merged or kept, and none asks all others.
    let stairs: Vec<(usize, f64)> = (0..50).map(|step| (1000, f64::from(step) * 5.0)).collect();
    let (found, steps) = found_in(&levels(&stairs));
    assert!(found == 49 && steps < 100, "{found} {steps}");
    let mut state = 0.0;
    let waves = (0..50_000).map(|index| {
        state = 0.5 * state + noise(index);
        state
    });
    let (_, steps) = found_in(&waves.collect::<Vec<_>>());
    assert!(steps < 100, "{steps}");
}

#[derive(Deserialize)]
struct Judged {
    name: String,
    series: Vec<f64>,
    q: Vec<f64>,
    changes: Vec<usize>,
}

/// Apache Otava's own statistic and its changes: `tests/data/stats/changes.py` makes them.
#[test]
fn as_otava() {
    let cases: Vec<Judged> =
        serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/stats/changes.json")))
            .unwrap();
    for Judged { name, series, q, changes } in cases {
        for least in [2, 5] {
            let all = least..=series.len() - least;
            let best = all.max_by(|one, other| q[one - 1].total_cmp(&q[other - 1]).then(other.cmp(one)));
            assert_eq!(widest(&series, least), best, "{name}");
        }
        // It does not look into the halves of a series whose halves are the same.
        let expected = if name == "there and back" { vec![15, 30] } else { changes };
        // It takes neighbors for independent, so that it sees a smaller step.
        if name != "small" {
            assert_eq!(places(&series, 5), expected, "{name}");
        }
    }
}

#[derive(Deserialize)]
struct Tables {
    levels: Vec<Sides>,
}

#[derive(Deserialize)]
struct Sides {
    first: Vec<f64>,
    second: Vec<f64>,
    p: f64,
}

/// R's `t.test(var.equal = TRUE)`: `tests/data/stats/tables.R` makes them.
#[test]
fn what_neighboring_levels_say_together() {
    let (one, next) = (Level::of(&[1.0, 2.0, 6.0]), Level::of(&[9.0, 5.0, 7.0, 7.0]));
    // (6 - 3) (9 - 7), the residuals next to the change.
    assert_eq!(one.between(&next), 6.0);
    // Student's t with (14 + 8) / 5 as the variance of a value, of which two are worth one: 7 / 2 - 2 degrees of freedom.
    let error = (22.0 / 5.0 * (1.0 / 3.0 + 1.0 / 4.0) / 0.5_f64).sqrt();
    let wanted = t_two_sided(-4.0 / error, 1.5);
    assert!((one.p(&next, 0.5) - wanted).abs() < 1e-12, "{} {wanted}", one.p(&next, 0.5));
}

#[test]
fn as_r() {
    let Tables { levels } =
        serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/stats/tables.json")))
            .unwrap();
    for Sides { first, second, p } in levels {
        let found = Level::of(&first).p(&Level::of(&second), 1.0);
        assert!((found - p).abs() < 1e-9, "{found} is not {p}");
        let back = Level::of(&second).p(&Level::of(&first), 1.0);
        assert_eq!(found, back);
    }
}

/// The least certain change by itself is certain enough; by what neighbors are worth together, others are not.
#[test]
fn all_changes_are_certain_in_the_end() {
    let series = [
        0.1, 0.1, 0.7, -0.3, 0.0, 0.3, 2.4, 1.4, 0.6, 2.3, 1.5, 1.9, 0.4, -0.4, 0.3, 0.0, -0.1, 0.3, 2.0, 1.5, 1.7, 1.1,
    ];
    assert_eq!(change_points(&series, 3), []);
}

/// Each half of such a series has the mean of the other, and so have the halves of the halves.
#[test]
fn changes_that_undo_each_other_are_found() {
    for parts in
        [&[(10, 100.0), (5, 80.0), (6, 100.0), (12, 92.0)][..], &[(8, 0.0), (8, 10.0), (8, 0.0), (8, 10.0), (8, 0.0)]]
    {
        let found: Vec<usize> = change_points(&levels(parts), 5).iter().map(|point| point.at).collect();
        let steps = parts.iter().scan(0, |at, (count, _)| {
            *at += count;
            Some(*at)
        });
        let expected: Vec<usize> = steps.take(parts.len() - 1).collect();
        assert_eq!(found, expected, "{parts:?}");
    }
}

/// What is known of two levels together is what is known of their values.
#[test]
fn levels_merge_exactly() {
    let series = levels(&[(7, 0.0), (5, 3.0), (9, -2.0)]);
    let (left, right) = series.split_at(7);
    let (both, merged) = (Level::of(&series), Level::of(left).with(&Level::of(right)));
    let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{one} {other}");
    close(both.mean, merged.mean);
    close(both.squares, merged.squares);
    close(both.products, merged.products);
    let mut all = Levels::new(&series, &[0, 7, 12]);
    all.merge(0);
    let fresh = Levels::new(&series, &[0, 12]);
    close(all.products, fresh.products);
    close(all.squares, fresh.squares);
    assert_eq!((all.count, all.values), (fresh.count, fresh.values));
    all.merge(0);
    close(all.products, both.products);
}

/// Two short levels next to a long one: how much values vary is known from all three.
#[test]
fn short_levels_are_compared_by_what_all_vary() {
    let short = levels(&[(3, 0.0), (3, 1.5)]);
    let around: Vec<f64> = (0..30).map(|at| noise(at + 50)).collect();
    let [one, next] = [&short[..3], &short[3..]].map(Level::of);
    // The long level varies by a tenth more.
    let wider = (1.1 * one.variance(&next) / (Level::of(&around).squares / 29.0)).sqrt();
    let series: Vec<f64> = short.iter().copied().chain(around.iter().map(|value| 5.0 + wider * value)).collect();
    let all = Levels::new(&series, &[0, 3, 6]);
    let third = Level::of(&series[6..]);
    let variance = (one.squares + next.squares + third.squares) / 33.0;
    assert!(variance > one.variance(&next), "{variance}");
    for factor in [1.0, 0.6] {
        let wanted = one.p_by(&next, factor, variance, 36.0 * factor - 3.0);
        assert!(wanted < one.p(&next, factor) && one.p(&next, 1.0) > super::SURE, "{wanted}");
        let found = all.change(0, factor).unwrap();
        assert_eq!(found.at, 3);
        assert!((found.p - wanted).abs() < 1e-12, "{} {wanted}", found.p);
    }
    // They vary more than all.
    let calm: Vec<f64> = series[..6].iter().copied().chain((0..30).map(|at| 5.0 + 0.1 * noise(at))).collect();
    let found = Levels::new(&calm, &[0, 3, 6]).change(0, 1.0).unwrap();
    let wanted = one.p_by(&next, 1.0, one.variance(&next), 33.0).min(one.p(&next, 1.0));
    assert!((found.p - wanted).abs() < 1e-12, "{} {wanted}", found.p);
}

/// Each mean and each place that was looked for hides some of the correlation.
#[test]
fn values_that_follow_their_neighbors_are_worth_less() {
    let wave = |at: usize| libm::sin(at as f64 / 6.0) + 0.1 * noise(at);
    let series: Vec<f64> = (0..60).map(|at| wave(at) + if at < 20 { 0.0 } else { 3.0 }).collect();
    for starts in [&[0][..], &[0, 20], &[0, 20, 40]] {
        let all = Levels::new(&series, starts);
        let parts = starts.len() as f64;
        let own = autocorrelation_from(all.products, all.squares, 60.0, parts + (parts - 1.0));
        let correlation = shrunk_correlation(Some(own), 60.0);
        assert!(correlation > 0.3, "{correlation}");
        assert!((all.worth() - (1.0 - correlation) / (1.0 + correlation)).abs() < 1e-12, "{starts:?}");
    }
}

#[test]
fn equal_entries_of_the_heap_are_equal() {
    let entry = |p: f64, at: usize, version: usize| Unsure { p, at, version };
    assert!(entry(0.5, 1, 2) == entry(0.5, 1, 2));
    for other in [entry(0.4, 1, 2), entry(0.5, 0, 2), entry(0.5, 1, 3)] {
        assert!(entry(0.5, 1, 2) != other);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 100 }))]

    #[test]
    fn any_series(series in prop::collection::vec(prop::num::f64::NORMAL, 0..80), least in 0_usize..8) {
        let found = change_points(&series, least);
        prop_assert_eq!(&found, &change_points(&series, least));
        let mut cuts = vec![0];
        cuts.extend(found.iter().map(|point| point.at));
        cuts.push(series.len());
        prop_assert!(found.is_empty() || cuts.windows(2).all(|cut| cut[1] - cut[0] >= least.max(2)));
        prop_assert!(found.iter().all(|point| point.p <= super::SIGNIFICANT));
    }
}
