//! Regressions of a few sessions, and what only looks like one.

use super::super::{Scale, Verdict};
use super::super::{Turn, Why, baseline, judge, measure};
use super::histories::{of, turns};
use super::{LOWER, around};

#[test]
fn what_was_open_for_a_few_sessions_does_not_hide_the_next_one() {
    for short in 2..=4 {
        let mut values = around(100.0, 0.003, 20);
        values.extend(around(110.0, 0.003, short));
        assert!(of(&values, LOWER).open.is_some(), "{short}");
        values.extend(around(100.0, 0.003, 6));
        let found = of(&values, LOWER);
        assert_eq!(turns(&found), [(20, Turn::Worse), (20 + short, Turn::Back)], "{short}");
        assert!((20..20 + short).all(|at| !found.sessions.contains(&at)), "{short}");
        values.push(110.0);
        let (new, earlier) = values.split_last().unwrap();
        let found = of(earlier, LOWER);
        let base: Vec<f64> = found.sessions.iter().map(|at| earlier[*at]).collect();
        let said = judge(measure(Scale::Log, &base, &[], &[*new]), LOWER, None);
        assert_eq!(said.verdict, Verdict::Regressed, "{short}: {said:?}");
    }
}

#[test]
fn two_values_without_a_change_are_no_regression() {
    // A generator of its own, so that a failure can be seen again.
    let mut state = 7_u64;
    let mut share = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut open = 0;
    for (low, high, often) in [(3.0, 4.0, 0.3), (3.0, 4.0, 0.5), (100.0, 115.0, 0.3), (100.0, 115.0, 0.5)] {
        for _ in 0..50 {
            let values: Vec<f64> = (0..60).map(|_| if share() < often { high } else { low }).collect();
            open += usize::from(of(&values, LOWER).open.is_some());
        }
    }
    assert!(open <= 6, "{open} of 200");
}

#[test]
fn what_is_within_the_threshold_now_is_pending_and_ends() {
    let policy = super::Policy { threshold: 0.03, ..LOWER };
    let mut values = around(100.0, 0.005, 20);
    values.extend(around(104.0, 0.005, 6));
    assert!(baseline(&values, policy, &[]).open.is_some());
    values.extend(around(100.8, 0.005, 40));
    let states: Vec<(bool, Option<Why>)> = (27..values.len())
        .map(|count| baseline(&values[..count], policy, &[]))
        .map(|found| (found.open.is_some(), found.pending.map(|pending| pending.why)))
        .collect();
    let last_open = states.iter().rposition(|(is_open, _)| *is_open);
    assert!(last_open < Some(12), "{states:?}");
    assert_eq!(states.last(), Some(&(false, None)), "{states:?}");
}

#[test]
fn counts_that_never_vary_open_and_come_back() {
    let exact = |parts: &[(f64, usize)]| {
        let values: Vec<f64> = parts.iter().flat_map(|(level, count)| vec![*level; *count]).collect();
        of(&values, LOWER)
    };
    for count in [8, 20, 30] {
        assert!(exact(&[(100_000.0, count), (105_500.0, 2)]).open.is_some_and(|open| open.from == count), "{count}");
    }
    let found = exact(&[(5.0, 30), (6.0, 3)]);
    assert_eq!(found.open.map(|open| open.from), Some(30), "a digit more, three times in a row: {found:?}");
    for back in 1..=4 {
        let found = exact(&[(5.0, 30), (6.0, 6), (5.0, back)]);
        assert_eq!(found.pending.map(|pending| pending.why), Some(Why::Back(back)), "{found:?}");
    }
    assert_eq!(exact(&[(5.0, 30), (6.0, 6), (5.0, 5)]).open, None);
}
