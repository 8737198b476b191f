//! Which sessions of a young series are a baseline.

use super::super::{Baseline, Mark, Open, Turn, baseline};
use super::histories::{of, range, series, turns};
use super::{HIGHER, LOWER, around};

/// A change after so few sessions that they are no level is held open as it was reported, and never becomes the baseline by
/// staying.
#[test]
fn a_change_of_a_young_series_stays_open() {
    for good in [3, 4] {
        for bad in [5, 8, 12, 30] {
            let found = of(&series(&[(100.0, good), (85.0, bad)]), HIGHER);
            let open = Some(Open { from: good, sessions: bad });
            assert_eq!((found.open, found.sessions), (open, range(0, good)), "{good} {bad}");
        }
        // Fewer than five sessions say nothing of a single one.
        let found = of(&series(&[(100.0, good), (85.0, 1)]), HIGHER);
        assert_eq!((found.open, found.pending, found.sessions), (None, None, range(0, good + 1)));
    }
    for good in 5..15 {
        for bad in [5, 8, 12, 30] {
            let found = of(&series(&[(100.0, good), (90.0, bad)]), HIGHER);
            let open = found.open.unwrap_or_else(|| panic!("{good} {bad}"));
            assert!(open.from.abs_diff(good) <= 1, "{good} {bad}: {open:?}");
            assert!(found.sessions.iter().all(|at| *at <= good), "{good} {bad}: {found:?}");
        }
    }
}

#[test]
fn a_young_series_gets_better_or_comes_back() {
    let better = of(&series(&[(100.0, 4), (120.0, 6)]), HIGHER);
    assert_eq!((better.open, &better.sessions, turns(&better)), (None, &range(4, 10), vec![(4, Turn::Better)]));
    // What got better and worse again is open.
    let again = of(&series(&[(100.0, 4), (80.0, 6)]), LOWER);
    assert_eq!((again.open, again.sessions), (None, range(4, 10)));
    let one = of(&series(&[(100.0, 4), (80.0, 1), (100.0, 8)]), HIGHER);
    assert_eq!((one.open, one.changes), (None, Vec::new()), "one session is no level");
}

/// A regression begins with its first session, whatever was reported before it.
#[test]
fn a_change_after_an_improvement_begins_where_it_does() {
    for (first, second, third) in [(8, 8, 16), (7, 7, 12), (10, 9, 12)] {
        let values = series(&[(100.0, first), (106.0, second), (94.0, third)]);
        for count in first + second + 5..=values.len() {
            let open = of(&values[..count], HIGHER).open.map(|open| open.from);
            assert_eq!(open, Some(first + second), "{first} {second}: {count}");
        }
    }
}

/// What was better for a while is no noise in which a change hides.
#[test]
fn a_short_improvement_hides_no_change() {
    for (first, second) in [(6, 3), (6, 4), (10, 2), (10, 4), (20, 3), (20, 4)] {
        let values = series(&[(100.0, first), (108.0, second), (92.0, 8)]);
        let before = of(&values[..first + second], HIGHER);
        assert_eq!((before.open, before.sessions.last()), (None, Some(&(first - 1))), "{first} {second}");
        for count in first + second + 4..=values.len() {
            let open = of(&values[..count], HIGHER)
                .open
                .unwrap_or_else(|| panic!("{first} {second}: {count} {:?}", of(&values[..count], HIGHER)));
            assert!(open.from.abs_diff(first + second) <= 1, "{first} {second}: {open:?}");
        }
    }
}

/// Sessions before and after a short improvement are no neighbors: two slow ones apart open nothing.
#[test]
fn what_lies_around_a_short_improvement_is_no_change() {
    for first in [10, 20] {
        for parts in [
            &[(94.0, 1), (106.0, 3), (94.0, 1)][..],
            &[(94.0, 1), (106.0, 3), (94.0, 1), (100.0, 4)],
            &[(94.0, 3), (106.0, 3)],
            &[(94.0, 2), (106.0, 2), (94.0, 2)],
            &[(106.0, 3), (100.0, 8)],
        ] {
            let found = of(&series(&[&[(100.0, first)], parts].concat()), HIGHER);
            assert_eq!(found.open, None, "{first} {parts:?}");
        }
    }
    let found = of(&series(&[(100.0, 20), (94.0, 1), (108.0, 4), (94.0, 3)]), HIGHER);
    assert_eq!(found.open, Some(Open { from: 25, sessions: 3 }));
}

/// The first session fills caches: what follows is not compared with it.
#[test]
fn a_cold_first_session_hides_nothing() {
    for cold in [10.0, 50.0, 70.0, 180.0, 1000.0] {
        for warm in [4, 5, 8, 20] {
            let found = of(&series(&[(cold, 1), (100.0, warm)]), HIGHER);
            assert_eq!(
                found,
                Baseline { sessions: range(1, warm + 1), apart: 1, ..Baseline::default() },
                "{cold} {warm}"
            );
            let worse = of(&series(&[(cold, 1), (100.0, warm), (85.0, 12)]), HIGHER);
            let open = worse.open.unwrap_or_else(|| panic!("{cold} {warm}"));
            assert!(open.from.abs_diff(warm + 1) <= 1, "{cold} {warm}: {open:?}");
        }
    }
    // So few that it may as well be the other three.
    assert_eq!(of(&series(&[(50.0, 1), (100.0, 3)]), HIGHER).sessions, range(0, 4));
    // One that is as the others is one of them.
    assert_eq!(of(&series(&[(98.0, 1), (100.0, 8)]), HIGHER).sessions, range(0, 9));
}

/// After one outlier, as after any session, a change is seen within three sessions.
#[test]
fn one_outlier_does_not_hide_a_change() {
    for wild in [20.0, 60.0, 160.0, 1e4] {
        for (before, between) in [(14, 5), (10, 10), (6, 8), (20, 5)] {
            let values = series(&[(100.0, before), (wild, 1), (100.0, between), (90.0, 3)]);
            let open = of(&values, HIGHER).open.map(|open| open.from);
            assert_eq!(open, Some(before + 1 + between), "{wild} after {before}, {between} since");
        }
    }
}

/// What was slow for a while and came back is known, and what is slower than usual again is a change again.
#[test]
fn what_was_slow_for_once_does_not_hide_a_change() {
    for slow in [2, 5, 8] {
        let values = series(&[(100.0, 10), (80.0, slow), (100.0, 8), (88.0, 12)]);
        let open = of(&values, HIGHER).open.unwrap_or_else(|| panic!("{slow}"));
        assert!(open.from.abs_diff(18 + slow) <= 1, "{slow}: {open:?}");
    }
}

/// A level that was accepted when it was young is judged as any young series, and by nothing older.
#[test]
fn a_change_after_a_young_level_was_accepted() {
    for since in [3, 4, 8] {
        let values = series(&[(100.0, 12), (80.0, since), (68.0, 6)]);
        let found = baseline(&values, HIGHER, &[Mark { at: 12, at_most: Some(0.3) }]);
        let open = found.open.unwrap_or_else(|| panic!("{since}: {found:?}"));
        assert!(open.from.abs_diff(12 + since) <= 1, "{since}: {open:?}");
        assert!(found.sessions.iter().all(|at| (12..=open.from).contains(at)), "{since}: {found:?}");
    }
    // What got worse than was accepted is a change, also where both are too few to be levels.
    let values = series(&[(100.0, 12), (80.0, 2), (50.0, 3)]);
    let found = baseline(&values, HIGHER, &[Mark { at: 12, at_most: Some(0.3) }]);
    assert_eq!((found.open, found.sessions), (Some(Open { from: 14, sessions: 3 }), range(12, 14)));
    // One session of it is no change yet.
    let found = baseline(&values[..15], HIGHER, &[Mark { at: 12, at_most: Some(0.3) }]);
    assert_eq!(found.open, None, "{found:?}");
}

/// What was reported of a young series stays reported when another level or an outlier follows: it is no better than before for
/// that.
#[test]
fn a_reported_change_is_not_lost_among_what_follows() {
    let quiet = |parts: &[(f64, usize)]| -> Vec<f64> {
        let levels = parts.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        levels.zip(around(1.0, 0.003, 80)).map(|(level, noise)| level * noise).collect()
    };
    let histories: [&[(f64, usize)]; 4] = [
        &[(100.0, 4), (70.0, 6), (95.0, 30)],
        &[(100.0, 4), (95.0, 5), (60.0, 1), (95.0, 30)],
        &[(100.0, 4), (95.0, 5), (150.0, 1), (95.0, 30)],
        &[(100.0, 4), (90.0, 6), (70.0, 12)],
    ];
    for history in histories {
        let values = quiet(history);
        for count in 6..=values.len() {
            let found = of(&values[..count], HIGHER);
            let pending = found.pending.map(|pending| pending.from);
            assert_eq!(found.open.map(|open| open.from).or(pending), Some(4), "{count} of {history:?}: {found:?}");
        }
    }
}

/// One zero among many does not change what a share is of.
#[test]
fn a_zero_decides_nothing() {
    let lower = |values: &[f64]| of(values, LOWER).open.map(|open| open.from);
    let parts = [(1000.0, 10), (990.0, 1), (1000.0, 19), (100.0, 10), (115.0, 15)];
    let mut values = series(&parts);
    assert_eq!(lower(&values), Some(40));
    values[10] = 0.0;
    assert_eq!(lower(&values), Some(40), "a failed session hides nothing");
    // What was accepted stays accepted.
    let mut values = series(&[(1000.0, 10), (400.0, 22)]);
    let mark = [Mark { at: 10, at_most: Some(0.63) }];
    assert_eq!(baseline(&values, HIGHER, &mark).open, None);
    values[21] = 0.0;
    assert_eq!(baseline(&values, HIGHER, &mark).open, None);
    // All that there is to lose is 100 %.
    let values = [series(&[(100.0, 12)]), vec![0.0; 8]].concat();
    assert_eq!(of(&values, HIGHER).open.map(|open| open.from), Some(12));
    assert_eq!(baseline(&values, HIGHER, &[Mark { at: 12, at_most: Some(1.0) }]).open, None);
}
