//! What ought to be 0: allocations, errors, lost packets.

use super::super::{Method, Open, Reason, SIGNIFICANT, Scale, Turn, Verdict, Why, baseline, judge, measure};
use super::histories::{of, turns};
use super::{HIGHER, LOWER, of_history};

fn zeros(count: usize, then: &[f64]) -> Vec<f64> {
    std::iter::repeat_n(0.0, count).chain(then.iter().copied()).collect()
}

/// Returns what the gate says of the newest session, as it does: by itself, and by what is open with it.
fn gate(values: &[f64]) -> (Verdict, bool) {
    let (new, earlier) = values.split_last().unwrap();
    let found = of(earlier, LOWER);
    let pick = |places: &[usize]| -> Vec<f64> { places.iter().map(|at| earlier[*at]).collect() };
    let (base, held) = (pick(&found.sessions), pick(&found.held));
    let scale = Scale::of(&base, &[*new]).unwrap();
    let said = judge(measure(scale, &base, &held, &[*new]), LOWER, None);
    (said.verdict, of(values, LOWER).open.is_some())
}

#[test]
fn a_rise_from_zeros_is_a_regression_and_stays_one() {
    let values = zeros(30, &[12.0; 12]);
    for count in 31..=42 {
        let (verdict, is_open) = gate(&values[..count]);
        assert!(is_open, "{count}: {verdict:?}, and not only among few metrics");
    }
    let found = of(&values, LOWER);
    assert_eq!((found.open, turns(&found)), (Some(Open { from: 30, sessions: 12 }), vec![(30, Turn::Worse)]));
    let said = of_history(&zeros(30, &[]), &[12.0], LOWER);
    let effect = said.effect.unwrap();
    assert_eq!((effect.method, said.reason), (Method::FromZero, Reason::Change));
    assert!((effect.p - 1.0 / 31.0).abs() < 1e-12, "the greatest of 31");
    assert_eq!((said.change(), said.interval(), said.detectable), (None, None, None), "nothing is a share of 0");
}

#[test]
fn few_zeros_wait_for_more_sessions() {
    for (count, more) in [(18, 1), (5, 1), (4, 2)] {
        let said = of_history(&zeros(count, &[]), &[12.0], LOWER);
        assert_ne!(said.verdict, Verdict::Regressed, "{count}");
        if count >= 5 {
            assert_eq!(
                (said.verdict, said.reason, said.more),
                (Verdict::Inconclusive, Reason::NotSignificant, Some(more))
            );
        }
    }
    assert_eq!(of_history(&zeros(19, &[]), &[12.0], LOWER).verdict, Verdict::Regressed);
    // The second one decides, since the first one is suspected.
    for count in 5..=18 {
        assert_eq!(gate(&zeros(count, &[12.0])).0, Verdict::Inconclusive, "{count}");
        let (verdict, is_open) = gate(&zeros(count, &[12.0, 11.0]));
        assert!(verdict == Verdict::Regressed || is_open, "{count}: {verdict:?}");
    }
}

#[test]
fn events_that_were_there_before_are_no_news() {
    // Three of thirty sessions had an error already.
    let history: Vec<f64> = (0..30).map(|at| if at % 10 == 4 { 1.0 } else { 0.0 }).collect();
    let said = of_history(&history, &[1.0], LOWER);
    assert_eq!(said.verdict, Verdict::Inconclusive);
    assert!(said.effect.unwrap().p > SIGNIFICANT);
    assert_eq!(of_history(&history, &[0.0], LOWER).verdict, Verdict::NoChangeSeen);
    assert_eq!(of_history(&history, &[12.0], LOWER).verdict, Verdict::Regressed, "and never so many");
    assert_eq!(of(&history, LOWER).open, None);
    for count in 10..30 {
        assert_ne!(gate(&history[..count]).0, Verdict::Regressed, "{count}");
    }
}

#[test]
fn one_event_passes_and_a_level_of_zeros_comes_back() {
    let mut values = zeros(30, &[12.0]);
    values.extend([0.0; 8]);
    for count in 32..=34 {
        let pending = of(&values[..count], LOWER).pending.map(|pending| (pending.from, pending.why));
        assert_eq!(pending, Some((30, Why::Back(count - 31))));
    }
    let found = of(&values, LOWER);
    assert_eq!((found.open, found.pending, turns(&found)), (None, None, vec![(30, Turn::Worse), (31, Turn::Back)]));
    let mut values = zeros(30, &[12.0; 10]);
    values.extend([0.0; 8]);
    let found = of(&values, LOWER);
    assert_eq!(found.open, None);
    assert_eq!(turns(&found), [(30, Turn::Worse), (40, Turn::Back)]);
}

#[test]
fn zeros_are_a_level_that_what_was_more_can_fall_to_and_rise_from() {
    let mut values = vec![12.0; 20];
    values.extend([0.0; 20]);
    let found = of(&values, LOWER);
    assert_eq!((turns(&found), found.sessions.len()), (vec![(20, Turn::Better)], 20));
    values.extend([12.0; 4]);
    assert_eq!(of(&values, LOWER).open, Some(Open { from: 40, sessions: 4 }));
    // Where more is better, a rise is no regression.
    let found = of(&zeros(30, &[12.0; 12]), HIGHER);
    assert_eq!((found.open, turns(&found)), (None, vec![(30, Turn::Better)]));
    assert_eq!(of_history(&zeros(30, &[]), &[12.0], HIGHER).verdict, Verdict::Improved);
}

#[test]
fn what_people_accepted_is_the_level() {
    use super::super::Mark;
    let values = zeros(30, &[12.0; 12]);
    let accepted = |at_most| baseline(&values, LOWER, &[Mark { at: 30, at_most }]);
    assert_eq!((accepted(None).open, accepted(None).sessions.len()), (None, 12));
    assert!(accepted(Some(0.5)).open.is_some(), "half of nothing is nothing");
}
