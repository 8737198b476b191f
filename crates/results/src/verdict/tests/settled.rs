//! Changes that began before a session from which on people look.

use super::super::{Baseline, Mark, Turn, baseline, baseline_after};
use super::{HIGHER, around};

fn after(values: &[f64], settled: usize) -> (Baseline, Vec<usize>) {
    baseline_after(values, &[], HIGHER, &[], settled)
}

/// Levels of twenty sessions each.
fn levels(levels: &[f64]) -> Vec<f64> {
    levels.iter().flat_map(|level| around(*level, 0.01, 20)).collect()
}

#[test]
fn what_began_before_is_the_baseline_of_what_follows() {
    let values = levels(&[100.0, 90.0]);
    assert_eq!(baseline(&values, HIGHER, &[]).open.map(|open| open.from), Some(20));
    let (found, accepted) = after(&values, 21);
    assert_eq!((found.open, accepted), (None, vec![20]));
    assert_eq!(found.sessions, (20..40).collect::<Vec<_>>());
    assert_eq!(found.changes.first().map(|change| (change.at, change.turn)), Some((20, Turn::Accepted)));
    // The first session that counts is one of those that count.
    let (found, accepted) = after(&values, 20);
    assert_eq!((found.open.map(|open| open.from), accepted), (Some(20), vec![]));
}

#[test]
fn a_later_step_is_a_regression_of_its_own() {
    let values = levels(&[100.0, 90.0, 80.0, 70.0]);
    for (settled, from, accepted) in [
        (0, Some(20), vec![]),
        (21, Some(40), vec![20]),
        (40, Some(40), vec![20]),
        (41, Some(60), vec![20, 40]),
        (80, None, vec![20, 40, 60]),
        (1000, None, vec![20, 40, 60]),
    ] {
        let (found, places) = after(&values, settled);
        assert_eq!((found.open.map(|open| open.from), places), (from, accepted), "{settled}");
    }
}

#[test]
fn what_was_repaired_and_what_improved_is_as_without() {
    for of in [&[100.0, 90.0, 100.0][..], &[100.0, 110.0, 121.0], &[100.0]] {
        let values = levels(of);
        for settled in [0, 15, 30, 100] {
            assert_eq!(after(&values, settled), (baseline(&values, HIGHER, &[]), vec![]), "{of:?} {settled}");
        }
    }
}

#[test]
fn what_is_suspected_before_is_not() {
    let mut suspected = 0;
    for (hit, next) in [(95.0, 97.5), (96.0, 97.5), (96.0, 98.0), (96.5, 98.0), (97.0, 98.0)] {
        let mut values = levels(&[100.0]);
        values.extend([hit, next]);
        let pending = baseline(&values, HIGHER, &[]).pending.filter(|pending| pending.from == 20);
        suspected += usize::from(pending.is_some());
        assert_eq!(after(&values, 20).0.pending.filter(|pending| pending.from == 20), pending, "{hit} {next}");
        assert_eq!(after(&values, 22).0.pending, None, "{hit} {next}");
    }
    assert!(suspected > 0);
}

#[test]
fn marks_of_people_hold_next_to_it() {
    let values = levels(&[100.0, 90.0, 80.0]);
    let bounded = [Mark { at: 20, at_most: Some(0.05) }];
    assert_eq!(baseline(&values, HIGHER, &bounded).open.map(|open| open.from), Some(20));
    let (found, accepted) = baseline_after(&values, &[], HIGHER, &bounded, 30);
    assert_eq!((found.open.map(|open| open.from), accepted), (Some(40), vec![20]));
    let (found, _) = baseline_after(&values, &[], HIGHER, &[Mark { at: 40, at_most: None }], 30);
    assert_eq!(found.open, None);
}

/// Whatever the history, nothing is open that began before, and what is open without it and began later is open with it.
#[test]
fn nothing_that_began_before_is_open() {
    let noise = [0.001, 0.01, 0.04];
    let shapes: [&[f64]; 7] = [
        &[100.0, 98.0, 96.0, 94.0],
        &[100.0, 97.0],
        &[100.0, 130.0, 100.0, 96.0],
        &[100.0, 60.0, 99.0, 97.0],
        &[100.0, 100.5, 97.5, 100.0],
        &[1.0, 0.01, 0.02],
        &[50.0, 0.0, 50.0, 40.0],
    ];
    for (shape, noise) in shapes.iter().flat_map(|shape| noise.map(|noise| (shape, noise))) {
        let mut values: Vec<f64> = shape.iter().flat_map(|level| around(*level, noise, 13)).collect();
        values.extend([values[0] * 0.9, values[1]]);
        for settled in 0..=values.len() {
            let (found, accepted) = after(&values, settled);
            assert!(found.open.is_none_or(|open| open.from >= settled), "{shape:?} {noise} {settled} {found:?}");
            assert!(found.pending.is_none_or(|pending| pending.from >= settled), "{shape:?} {noise} {settled}");
            assert!(accepted.iter().all(|at| *at < settled), "{shape:?} {noise} {settled} {accepted:?}");
        }
    }
}
