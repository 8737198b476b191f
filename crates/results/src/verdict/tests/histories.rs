//! Which sessions are a baseline, and which changes stay open.

use proptest::prelude::*;

use super::super::{Baseline, Change, Mark, Open, Policy, Turn, baseline};
use super::{HIGHER, LOWER, NONE, around};

pub(super) fn series(parts: &[(f64, usize)]) -> Vec<f64> {
    let levels = parts.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
    let count = parts.iter().map(|(_, count)| count).sum();
    levels.zip(around(1.0, 0.01, count)).map(|(level, noise)| level * noise).collect()
}

pub(super) fn of(values: &[f64], policy: Policy) -> Baseline {
    baseline(values, policy, &[])
}

pub(super) fn turns(found: &Baseline) -> Vec<(usize, Turn)> {
    found.changes.iter().map(|change| (change.at, change.turn)).collect()
}

pub(super) fn range(from: usize, to: usize) -> Vec<usize> {
    (from..to).collect()
}

#[test]
fn without_a_change() {
    for count in 0..=80 {
        let found = of(&series(&[(100.0, count)]), HIGHER);
        let sessions = range(count.saturating_sub(60), count);
        assert_eq!(found, Baseline { sessions, ..Baseline::default() }, "{count}");
    }
    assert_eq!(of(&[5.0; 80], HIGHER).sessions.len(), 60, "constants");
    assert_eq!(of(&[0.0, 0.0, 1.0], HIGHER).sessions, [0, 1, 2], "no scale, no judgement");
    assert_eq!(of(&[1.0, f64::NAN, 1.0], HIGHER).sessions, [0, 1, 2]);
}

#[test]
fn a_regression_stays_open_and_out_of_the_baseline() {
    for bad in [2, 3, 4, 5, 6, 10, 25] {
        let values = series(&[(100.0, 20), (90.0, bad)]);
        let found = of(&values, HIGHER);
        assert_eq!(found.open, Some(Open { from: 20, sessions: bad }), "{bad}");
        assert_eq!(found.sessions, range(0, 20), "{bad}");
        assert_eq!(turns(&found), [(20, Turn::Worse)], "{bad}");
        assert!((found.changes[0].difference + 0.105).abs() < 0.02, "{bad}: {found:?}");
        // Where less is better, it is the new normal, once it is a level.
        let better = of(&values, LOWER);
        assert_eq!(better.open, None);
        if bad >= 5 {
            assert_eq!((better.sessions, turns(&of(&values, LOWER))), (range(20, 20 + bad), vec![(20, Turn::Better)]));
        }
    }
}

#[test]
fn one_slow_session_comes_back_in() {
    let mut values = series(&[(100.0, 20)]);
    values.push(90.0);
    let found = of(&values, HIGHER);
    assert_eq!((found.open, found.sessions), (None, range(0, 20)), "it waits for the next one");
    for more in 1..8 {
        let mut longer = values.clone();
        longer.extend(around(100.0, 0.01, more));
        let found = of(&longer, HIGHER);
        assert_eq!((found.open, found.changes), (None, Vec::new()), "{more}");
        assert!(found.sessions.contains(&20), "{more}");
    }
}

#[test]
fn it_comes_back() {
    let values = series(&[(100.0, 20), (90.0, 8), (100.0, 8)]);
    let found = of(&values, HIGHER);
    assert_eq!(found.open, None);
    assert_eq!(turns(&found), [(20, Turn::Worse), (28, Turn::Back)]);
    assert_eq!(found.sessions, [range(0, 20), range(28, 36)].concat());
}

/// One session of a failing node, of a wrong unit, or of a broken clock is no level and hides none.
#[test]
fn an_outlier_closes_nothing() {
    for wild in [0.01, 5.0, 50.0, 70.0, 130.0, 250.0, 1e6] {
        for (good, bad, at) in [(25, 31, 37), (25, 31, 25), (25, 31, 55), (40, 30, 8), (20, 12, 19), (12, 8, 14)] {
            let mut values = series(&[(100.0, good), (91.0, bad)]);
            values[at] = wild;
            let found = of(&values, HIGHER);
            // An outlier that is the newest session does not show the change.
            let pending = found.pending.filter(|_| at + 1 == good + bad).map(|pending| pending.from);
            let from = found.open.map(|open| open.from).or(pending);
            let from = from.unwrap_or_else(|| panic!("{wild} at {at} of {good} and {bad}: {found:?}"));
            assert!(from.abs_diff(good) <= 1, "{wild} at {at} of {good} and {bad}: {from}");
            assert!(found.sessions.iter().all(|session| *session <= good), "{wild} at {at}: {found:?}");
        }
    }
}

/// Whether or not later levels differ from it, it stays open as long as none of them is back.
#[test]
fn an_open_change_is_not_lost_among_levels() {
    let histories: [&[(f64, usize)]; 6] = [
        &[(100.0, 10), (80.0, 6), (95.0, 18)],
        &[(100.0, 8), (92.0, 12), (94.0, 12)],
        &[(100.0, 15), (90.0, 40)],
        &[(100.0, 30), (94.0, 15), (90.0, 30)],
        &[(100.0, 20), (90.0, 10), (94.0, 30)],
        &[(100.0, 20), (88.0, 9), (90.0, 9), (92.0, 9), (94.0, 9)],
    ];
    for history in histories {
        let values = series(history);
        let from = history[0].1;
        for count in from + 2..=values.len() {
            let found = of(&values[..count], HIGHER);
            assert_eq!(found.open.map(|open| open.from), Some(from), "{count} of {history:?}: {found:?}");
        }
        // Neighbors that follow each other.
        let mut state = 0.0;
        let waves: Vec<f64> = (0..values.len() as u64)
            .map(|at| {
                let mixed = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                state = 0.5 * state + ((mixed ^ (mixed >> 29)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
                state
            })
            .collect();
        let levels = history.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        let values: Vec<f64> = levels.zip(waves).map(|(level, wave)| level * (0.012 * wave).exp()).collect();
        let open = of(&values, HIGHER).open.unwrap_or_else(|| panic!("{history:?}"));
        assert!(open.from.abs_diff(from) <= 1, "{open:?} of {history:?}");
    }
}

#[test]
fn a_drop_to_nothing_stays_open() {
    for nothing in [2, 5, 12, 13, 20, 60] {
        let mut values = series(&[(100.0, 12)]);
        values.extend(std::iter::repeat_n(0.0, nothing));
        let found = of(&values, HIGHER);
        assert_eq!((found.open, found.sessions), (Some(Open { from: 12, sessions: nothing }), range(0, 12)));
    }
}

/// A move within the threshold is the level from there on: two levels in one baseline would look like noise, and hide a change.
#[test]
fn a_small_move_blinds_nothing() {
    let quiet = |parts: &[(f64, usize)]| -> Vec<f64> {
        let levels = parts.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        levels.zip(around(1.0, 0.003, 80)).map(|(level, noise)| level * noise).collect()
    };
    for moved in [97.9, 98.2, 101.7, 102.4] {
        for (first, second) in [(10, 10), (15, 15), (20, 10), (30, 6), (10, 6)] {
            let values = quiet(&[(100.0, first), (moved, second)]);
            let found = of(&values, Policy { threshold: 0.03, ..HIGHER });
            assert_eq!(
                (found.open, &found.sessions),
                (None, &range(first, first + second)),
                "{moved} {first} {second}"
            );
            for bad in [1, 2, 4] {
                let slow = quiet(&[(100.0, first), (moved, second), (82.0, bad)]);
                let found = of(&slow, Policy { threshold: 0.03, ..HIGHER });
                let expected = (bad > 1).then_some(Open { from: first + second, sessions: bad });
                assert_eq!((found.open, found.sessions), (expected, range(first, first + second)), "{moved} {bad}");
            }
        }
    }
    // Back, and a little below what it was.
    let back = of(&quiet(&[(100.0, 20), (90.0, 10), (98.2, 10)]), Policy { threshold: 0.03, ..HIGHER });
    assert_eq!((back.open, back.sessions), (None, range(30, 40)));
}

#[test]
fn an_outlier_of_the_baseline_neither_ends_a_change_nor_turns_it_round() {
    let quiet = |parts: &[(f64, usize)]| -> Vec<f64> {
        let levels = parts.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        levels.zip(around(1.0, 0.005, 70)).map(|(level, noise)| level * noise).collect()
    };
    for before in [[3, 3], [3, 2], [4, 3], [5, 3], [14, 3], [20, 3]] {
        for wild in [1.0, 10.0, 40.0, 60.0, 1000.0] {
            let values = quiet(&[(100.0, before[0]), (wild, 1), (100.0, before[1]), (90.0, 40)]);
            let found = of(&values, HIGHER);
            let open = found.open.unwrap_or_else(|| panic!("{before:?} {wild}: {found:?}"));
            assert!(open.from <= before[0] + 1 + before[1] + 3, "{before:?} {wild}: {found:?}");
            assert!(of(&[&values[..], &[90.3]].concat(), HIGHER).open.is_some(), "{before:?} {wild}");
        }
    }
}

#[test]
fn short_steps_add_up() {
    let steps: Vec<(f64, usize)> =
        (0..6_i32).map(|step| (100.0 * 0.98_f64.powi(step), if step == 0 { 10 } else { 6 })).collect();
    let levels = steps.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
    let values: Vec<f64> = levels.zip(around(1.0, 0.003, 40)).map(|(level, noise)| level * noise).collect();
    let found = of(&values, Policy { threshold: 0.03, ..HIGHER });
    assert_eq!(found.open.map(|open| open.from), Some(16), "{found:?}");
}

#[test]
fn the_newest_session_says_whether_it_is_open() {
    let values = series(&[(100.0, 20), (90.0, 6)]);
    let is_open = |values: &[f64], new: &[f64]| {
        let found = of(&[values, new].concat(), HIGHER);
        assert_eq!(found.open.is_none(), found.pending.is_some(), "{new:?} {found:?}");
        found.open.is_some()
    };
    for (new, expected) in [(100.0, false), (97.0, false), (110.0, false), (93.0, true), (90.0, true), (50.0, true)] {
        assert_eq!(is_open(&values, &[new]), expected, "{new}");
    }
    // A session that failed halfway is among those since.
    let with_zero = [&values[..], &[0.0]].concat();
    assert!(!is_open(&with_zero, &[100.0]));
    assert!(is_open(&with_zero, &[91.0]));
}

#[test]
fn acknowledgements() {
    let values = series(&[(100.0, 20), (90.0, 10)]);
    let marked = |at_most| baseline(&values, HIGHER, &[Mark { at: 20, at_most }]);
    for wide in [None, Some(0.15)] {
        let found = marked(wide);
        assert_eq!((found.open, &found.sessions), (None, &range(20, 30)), "{wide:?}");
        assert_eq!(turns(&found), [(20, Turn::Accepted)]);
    }
    let found = marked(Some(0.05));
    assert_eq!(
        (found.open, &found.sessions),
        (Some(Open { from: 20, sessions: 10 }), &range(0, 20)),
        "too much for it"
    );
    // One of several is enough, and one that is later takes the level from there.
    let both = [Mark { at: 20, at_most: Some(0.01) }, Mark { at: 20, at_most: None }];
    assert_eq!(baseline(&values, HIGHER, &both).open, None);
    let later = baseline(&values, HIGHER, &[Mark { at: 24, at_most: None }]);
    assert_eq!((later.open, later.sessions), (None, range(24, 30)));
    for outside in [30, 1000] {
        let found = baseline(&values, HIGHER, &[Mark { at: outside, at_most: None }]);
        assert_eq!(found.open.map(|open| open.from), Some(20));
    }
    assert_eq!(baseline(&values, HIGHER, &[Mark { at: 0, at_most: None }]).open.map(|open| open.from), Some(20));
}

/// What was accepted is the new normal, and a further change is a change of its own.
#[test]
fn after_an_acknowledgement() {
    let values = series(&[(100.0, 20), (90.0, 12), (80.0, 6)]);
    let found = baseline(&values, HIGHER, &[Mark { at: 20, at_most: Some(0.12) }]);
    assert_eq!(found.open, Some(Open { from: 32, sessions: 6 }));
    assert_eq!(found.sessions, range(20, 32));
    let again = baseline(&values, HIGHER, &[Mark { at: 20, at_most: None }, Mark { at: 32, at_most: Some(0.12) }]);
    assert_eq!((again.open, again.sessions), (None, range(32, 38)));
}

#[test]
fn an_improvement_is_the_new_normal() {
    let values = series(&[(100.0, 20), (110.0, 8)]);
    let found = of(&values, HIGHER);
    assert_eq!((found.open, &found.sessions, turns(&found)), (None, &range(20, 28), vec![(20, Turn::Better)]));
    // Going back is a regression then.
    let values = series(&[(100.0, 20), (110.0, 8), (100.0, 6)]);
    let found = of(&values, HIGHER);
    assert_eq!((found.open, found.sessions), (Some(Open { from: 28, sessions: 6 }), range(20, 28)));
}

/// Until it is a level, a better one stays out of the baseline: both in one would look like noise, and hide a drop below either.
#[test]
fn a_fresh_improvement_blinds_nothing() {
    for better in 1..=3 {
        for values in [series(&[(120.0, 19), (150.0, better)]), series(&[(120.0, 19), (130.0, better)])] {
            let found = of(&values, HIGHER);
            assert_eq!((found.open, found.sessions), (None, range(0, 19)), "{better}");
        }
    }
    let level = of(&series(&[(120.0, 19), (130.0, 5)]), HIGHER);
    assert_eq!((level.sessions, level.open), (range(19, 24), None));
    let inverse = of(&series(&[(120.0, 19), (108.0, 3)]), LOWER);
    assert_eq!((inverse.open, inverse.sessions), (None, range(0, 19)));
}

/// Each step is within the threshold, and together they are not.
#[test]
fn slow_creep() {
    let steps: Vec<(f64, usize)> = (0..5_i32).map(|step| (100.0 * 0.985_f64.powi(step), 12)).collect();
    let quiet: Vec<f64> = {
        let levels = steps.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        levels.zip(around(1.0, 0.002, 60)).map(|(level, noise)| level * noise).collect()
    };
    let found = of(&quiet, HIGHER);
    assert_eq!(turns(&found)[0], (12, Turn::Neither));
    let open = found.open.unwrap();
    assert_eq!(open, Open { from: 24, sessions: 36 }, "the second step is 3 % below the first level");
    assert!(found.sessions.iter().all(|at| *at < 24));
}

/// No step is there to be seen: what it lost since it began is.
#[test]
fn creep_without_steps() {
    let creeping = |per_session: f64, count: usize| -> Vec<f64> {
        let levels = (0..count).map(|at| 100.0 * (per_session * at as f64).exp());
        levels.zip(around(1.0, 0.01, count)).map(|(level, noise)| level * noise).collect()
    };
    for (per_session, count) in [(-0.005, 30), (-0.005, 60), (-0.01, 20), (-0.01, 40), (-0.002, 60)] {
        let found = of(&creeping(per_session, count), HIGHER);
        let open = found.open.unwrap_or_else(|| panic!("{per_session} {count}: {found:?}"));
        assert!(open.from < count * 2 / 3, "{per_session} {count}: {open:?}");
        // The same as an improvement is the new normal, the newest of it.
        let better = of(&creeping(-per_session, count), HIGHER);
        assert_eq!(better.open, None, "{better:?}");
        assert!(better.sessions[0] > 0, "{per_session} {count}: {better:?}");
    }
    // It gets worse faster and faster.
    let levels = (0..40).map(|at| 100.0 * (2.0 - 1.01_f64.powi(at)));
    let bent: Vec<f64> = levels.zip(around(1.0, 0.01, 40)).map(|(level, noise)| level * noise).collect();
    assert!(of(&bent, HIGHER).open.is_some_and(|open| open.from < 20));
    let within = of(&creeping(-0.0003, 60), HIGHER);
    assert_eq!(within.open, None, "less than 2 % in all: {within:?}");
}

#[test]
fn without_a_direction() {
    for level in [90.0, 110.0] {
        let found = of(&series(&[(100.0, 20), (level, 8)]), NONE);
        assert_eq!((found.open, &found.sessions, turns(&found)), (None, &range(20, 28), vec![(20, Turn::Neither)]));
        let short = of(&series(&[(100.0, 20), (level, 3)]), NONE);
        assert_eq!((short.open, short.sessions), (None, range(0, 23)));
    }
}

#[test]
fn values_that_are_not_positive() {
    let values: Vec<f64> = series(&[(100.0, 20), (90.0, 6)]).iter().map(|value| value - 100.5).collect();
    assert!(of(&values, Policy { threshold: 1.0, ..HIGHER }).open.is_some());
    let negative: Vec<f64> = series(&[(100.0, 20), (110.0, 6)]).iter().map(|value| -value).collect();
    assert_eq!(of(&negative, HIGHER).open, Some(Open { from: 20, sessions: 6 }));
    let wild: Vec<f64> = (0..30).map(|index| if index % 2 == 0 { 1e308 } else { -1e308 }).collect();
    assert_eq!(of(&wild, HIGHER).open, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_unit_decides_nothing(values in prop::collection::vec(80.0..120.0_f64, 0..50), step in 0_usize..50) {
        let values: Vec<f64> =
            values.iter().enumerate().map(|(at, value)| if at > step { value * 0.7 } else { *value }).collect();
        let scaled: Vec<f64> = values.iter().map(|value| value * 1024.0).collect();
        for policy in [HIGHER, LOWER, NONE] {
            let (found, other) = (of(&values, policy), of(&scaled, policy));
            prop_assert_eq!(&found.sessions, &other.sessions);
            prop_assert_eq!(found.open, other.open);
            prop_assert_eq!(turns(&found), turns(&other));
            // What is open is not in the baseline, and nothing is twice.
            prop_assert!(found.open.is_none_or(|open| found.sessions.iter().all(|at| *at < open.from)));
            prop_assert!(found.sessions.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(found.changes.iter().all(|change: &Change| change.difference.is_finite()));
        }
    }
}
