//! Every branch of a judgement, and what it may not depend on.

use kubebench_format::result::v1::Direction;
use proptest::prelude::*;

use super::super::{
    Judgement, Method, Policy, Reason, Scale, Verdict, against_history, judge, of_few, of_groups, of_pairs,
    without_scale,
};
use super::{HIGHER, LOWER, NONE, around, of_history};

fn of(judgement: &Judgement) -> (Verdict, Reason) {
    (judgement.verdict, judgement.reason)
}

fn groups(first: &[f64], second: &[f64], policy: Policy) -> Judgement {
    judge(of_groups(Scale::between(first, second).unwrap(), first, second), policy, None)
}

fn pairs(values: &[(f64, f64)], policy: Policy) -> Judgement {
    let (first, second): (Vec<f64>, Vec<f64>) = values.iter().copied().unzip();
    judge(of_pairs(Scale::between(&first, &second).unwrap(), values), policy, None)
}

#[test]
fn against_a_history() {
    let history = around(100.0, 0.005, 20);
    let said = |new: f64| of(&of_history(&history, &[new], HIGHER));
    assert_eq!(said(92.0), (Verdict::Regressed, Reason::Change));
    assert_eq!(said(108.0), (Verdict::Improved, Reason::Change));
    assert_eq!(said(100.0), (Verdict::Unchanged, Reason::Equivalent));
    assert_eq!(said(98.6), (Verdict::Inconclusive, Reason::MayBeBeyond));
    assert_eq!(of(&of_history(&history, &[92.0], LOWER)), (Verdict::Improved, Reason::Change));
    assert_eq!(of(&of_history(&history, &[92.0], NONE)), (Verdict::Inconclusive, Reason::NoDirection));
    let noisy = around(100.0, 0.05, 20);
    let said = |new: f64| of(&of_history(&noisy, &[new], HIGHER));
    assert_eq!(said(99.0), (Verdict::NoChangeSeen, Reason::Nothing));
    assert_eq!(said(95.0), (Verdict::Inconclusive, Reason::NotSignificant));
    let found = of_history(&noisy, &[95.0], HIGHER);
    assert!(found.detectable.unwrap() > 0.1 && found.more.is_some());
}

#[test]
fn among_many() {
    let history = around(100.0, 0.01, 20);
    let effect = of_history(&history, &[96.0], HIGHER).effect;
    assert_eq!(of(&judge(effect, HIGHER, None)), (Verdict::Regressed, Reason::Change));
    assert_eq!(of(&judge(effect, HIGHER, Some(0.2))), (Verdict::Inconclusive, Reason::NotAmongSoMany));
    assert_eq!(of(&judge(effect, HIGHER, Some(0.05))), (Verdict::Regressed, Reason::Change));
}

/// An outlier that came back before is no change, and neither is another of its kind.
#[test]
fn what_was_seen_before() {
    let mut history = around(100.0, 0.01, 20);
    history[7] = 90.0;
    for again in [90.5, 90.0, 89.0] {
        assert_eq!(of(&of_history(&history, &[again], HIGHER)), (Verdict::Inconclusive, Reason::SeenBefore), "{again}");
    }
    assert_eq!(of(&of_history(&history, &[80.0], HIGHER)), (Verdict::Regressed, Reason::Change));
    // Two in a row were not seen.
    assert_eq!(of_history(&history, &[90.0, 90.0], HIGHER).verdict, Verdict::Regressed);
    // Twice the noise of the others: what is no outlier moves nothing.
    let plain = around(100.0, 0.01, 20);
    let lowest = plain.iter().copied().fold(f64::INFINITY, f64::min);
    let effect = of_history(&plain, &[100.0], HIGHER).effect.unwrap();
    let center = plain.iter().map(|value| value.ln()).sum::<f64>() / 20.0;
    assert!((effect.beyond.0 - (lowest.ln() - center)).abs() < 1e-12);
}

#[test]
fn short_histories() {
    let all = around(100.0, 0.003, 6);
    let said = |count: usize, new: f64| of(&of_history(&all[..count], &[new], HIGHER));
    assert_eq!(Scale::of(&[], &[1.0]), None);
    assert_eq!(said(1, 50.0), (Verdict::Inconclusive, Reason::TooFew { wanted: 5 }));
    for new in [100.0, 97.0, 50.0] {
        assert_eq!(said(2, new), (Verdict::Inconclusive, Reason::ShortHistory { wanted: 5 }));
    }
    for count in [3, 4] {
        assert_eq!(said(count, 97.0), (Verdict::Inconclusive, Reason::ShortHistory { wanted: 5 }));
        assert_eq!(said(count, 80.0), (Verdict::Regressed, Reason::Change), "twice the threshold is enough");
        assert_eq!(of_history(&all[..count], &[97.0], HIGHER).more, Some(5 - count));
    }
    for count in [5, 6] {
        assert_eq!(said(count, 97.0), (Verdict::Regressed, Reason::Change));
        assert_eq!(said(count, 100.0), (Verdict::Unchanged, Reason::Equivalent));
    }
    let nothing = judge(None, HIGHER, None);
    assert_eq!((of(&nothing), nothing.more), ((Verdict::Inconclusive, Reason::TooFew { wanted: 5 }), None));
    assert_eq!(of(&without_scale(&[-1.0, 0.0, 1.0], &[1.0])), (Verdict::Inconclusive, Reason::NoScale));
    let far = without_scale(&[996.8, 997.0, -1e308], &[996.0]);
    assert_eq!(of(&far), (Verdict::Inconclusive, Reason::TooFar { value: -1e308 }));
}

#[test]
fn two_groups() {
    let (base, slow, fast) = (around(100.0, 0.005, 6), around(90.0, 0.005, 6), around(110.0, 0.005, 6));
    assert_eq!(of(&groups(&base, &slow, HIGHER)), (Verdict::Regressed, Reason::Change));
    assert_eq!(of(&groups(&base, &fast, HIGHER)), (Verdict::Improved, Reason::Change));
    assert_eq!(of(&groups(&base, &slow, NONE)), (Verdict::Inconclusive, Reason::NoDirection));
    assert_eq!(of(&groups(&base, &around(100.1, 0.005, 6), HIGHER)), (Verdict::Unchanged, Reason::Equivalent));
    assert_eq!(of(&groups(&base, &around(98.6, 0.005, 6), HIGHER)), (Verdict::Inconclusive, Reason::MayBeBeyond));
    assert_eq!(of(&groups(&base[..3], &slow[..3], HIGHER)), (Verdict::Inconclusive, Reason::TooFew { wanted: 4 }));
    assert_eq!(groups(&base[..4], &slow[..4], HIGHER).verdict, Verdict::Regressed, "four are enough");
    assert_eq!(of(&groups(&[5.0; 8], &[5.0; 8], HIGHER)), (Verdict::Unchanged, Reason::Equivalent), "all alike");
    assert_eq!(of(&groups(&[5.0; 3], &[5.0; 3], HIGHER)), (Verdict::Inconclusive, Reason::TooFew { wanted: 4 }));
}

/// How little many sessions of one case vary says nothing of how much few sessions of another one do.
#[test]
fn few_of_another_case() {
    let many = around(100.0, 0.005, 12);
    let said = |few: &[f64]| judge(of_few(Scale::Log, &many, few), HIGHER, None);
    let noisy = [92.0, 80.0, 99.0];
    assert_eq!(judge(against_history(Scale::Log, &many, &noisy), HIGHER, None).verdict, Verdict::Regressed);
    let found = said(&noisy);
    assert_eq!(of(&found), (Verdict::Inconclusive, Reason::Vague));
    assert_eq!(found.effect.unwrap().method, Method::Unequal);
    assert!(found.more.is_some_and(|more| more > 0) && found.detectable.is_none() && found.interval().is_none());
    assert_eq!(of(&said(&[80.0, 79.0, 81.0])), (Verdict::Regressed, Reason::Change));
    for as_new in [&[90.0][..], &[90.0, 90.1], &[90.0, 90.0]] {
        assert_eq!(said(as_new), judge(against_history(Scale::Log, &many, as_new), HIGHER, None));
    }
    let steady = [100.0; 12];
    assert_eq!(judge(of_few(Scale::Log, &steady, &noisy), HIGHER, None).verdict, Verdict::Inconclusive);
}

#[test]
fn sides_of_pairs() {
    let pair = |factor: f64, count: usize| -> Vec<(f64, f64)> {
        around(100.0, 0.05, count).into_iter().zip(around(100.0 * factor, 0.051, count)).collect()
    };
    assert_eq!(of(&pairs(&pair(0.9, 6), HIGHER)), (Verdict::Regressed, Reason::Change));
    assert_eq!(of(&pairs(&pair(1.1, 6), HIGHER)), (Verdict::Improved, Reason::Change));
    assert_eq!(of(&pairs(&pair(1.0, 6), HIGHER)), (Verdict::Unchanged, Reason::Equivalent));
    // Fewer are judged by t.
    assert_eq!(of(&pairs(&pair(0.9, 2), HIGHER)), (Verdict::Regressed, Reason::Change));
    assert_eq!(pairs(&pair(0.9, 5), HIGHER).effect.unwrap().method, Method::PairsByT);
    assert!(of_pairs(Scale::Log, &pair(0.9, 1)).is_none());
}

#[test]
fn values_that_are_not_positive() {
    assert_eq!(Scale::of(&[1.0, 2.0], &[3.0]), Some(Scale::Log));
    assert_eq!(Scale::of(&[-4.0, 2.0, 4.0], &[3.0]), Some(Scale::Relative(2.0)));
    assert_eq!(Scale::of(&[0.0, 0.0, 1.0], &[0.0]), Some(Scale::FromZero(1.0)), "the median is 0 and not all are");
    assert_eq!(Scale::of(&[0.0, 0.0, -1.0], &[0.0]), None, "less than 0 is worse or better than 0");
    assert_eq!(Scale::of(&[0.0; 5], &[0.0]), Some(Scale::Relative(1.0)));
    assert_eq!(Scale::of(&[0.0; 5], &[1.0]), Some(Scale::FromZero(1.0)));
    assert_eq!(Scale::of(&[1.0, f64::NAN], &[1.0]), None);
    assert_eq!(Scale::of(&[1.0], &[f64::INFINITY]), None);
    assert_eq!(of(&of_history(&[0.0; 6], &[0.0], LOWER)), (Verdict::Unchanged, Reason::Equivalent));
    let negative: Vec<f64> = around(100.0, 0.005, 10).into_iter().map(|value| -value).collect();
    // −110 is worse where more is better, −90 where less is.
    assert_eq!(of_history(&negative, &[-110.0], HIGHER).verdict, Verdict::Regressed);
    assert_eq!(of_history(&negative, &[-110.0], LOWER).verdict, Verdict::Improved);
    let mixed = [10.0, 11.0, 9.0, 10.0, 10.5, 9.5, 10.2];
    assert_eq!(of_history(&mixed, &[-3.0], HIGHER).verdict, Verdict::Regressed);
    assert!((of_history(&mixed, &[-3.0], HIGHER).change().unwrap() + 1.3).abs() < 0.01);
}

#[test]
fn numbers_at_the_ends_of_the_range() {
    let huge = around(1e307, 0.005, 10);
    assert_eq!(of_history(&huge, &[0.9e307], HIGHER).verdict, Verdict::Regressed);
    let tiny = around(1e-307, 0.005, 10);
    assert_eq!(of_history(&tiny, &[0.9e-307], HIGHER).verdict, Verdict::Regressed);
    assert_eq!(
        Scale::of(&[1.0, -1e308, 1e308, 2.0, 1.0, 1.0, 0.0], &[1e308]),
        None,
        "squares of shares are no numbers"
    );
    let wild = [1.0, -1e108, 1e108, 2.0, 1.0, 1.0, 0.0];
    for policy in [HIGHER, LOWER, NONE] {
        let found = of_history(&wild, &[1e108], policy);
        assert_ne!(found.verdict, Verdict::Regressed, "{found:?}");
        assert_ne!(found.verdict, Verdict::Unchanged, "{found:?}");
        assert!(found.interval().is_none_or(|(low, high)| low.is_finite() && high.is_finite()));
        assert!(found.detectable.is_none_or(f64::is_finite));
    }
}

/// Both bounds are as far away on the scale, so that a change and its reverse are judged the same.
#[test]
fn thresholds_in_logarithms() {
    for threshold in [0.001, 0.02, 0.1, 0.5] {
        let (higher, lower) =
            (Scale::Log.bound(threshold, HIGHER.direction), Scale::Log.bound(threshold, LOWER.direction));
        assert!((Scale::Log.change(-higher).unwrap() + threshold).abs() < 1e-9);
        assert!((Scale::Log.change(lower).unwrap() - threshold).abs() < 1e-9);
        assert!((Scale::Relative(3.0).bound(threshold, HIGHER.direction) - threshold).abs() < 1e-9);
    }
    assert!(Scale::Log.bound(1.0, HIGHER.direction).is_finite(), "nothing is all of it");
    // −10 % and +11.1 % are the same change.
    let exact = Policy { threshold: 0.1, ..HIGHER };
    let history = [100.0, 100.001, 99.999, 100.0, 100.0, 100.0];
    assert_eq!(of_history(&history, &[89.9], exact).verdict, Verdict::Regressed);
    assert_eq!(of_history(&history, &[90.1], exact).verdict, Verdict::Unchanged);
    assert_eq!(of_history(&history, &[111.2], exact).verdict, Verdict::Improved);
    assert_eq!(of_history(&history, &[111.0], exact).verdict, Verdict::Unchanged);
}

/// More sessions than are said decide, and the stated change is seen.
#[test]
fn what_would_be_seen() {
    let history = around(100.0, 0.01, 20);
    let found = of_history(&history, &[100.0], HIGHER);
    let change = found.detectable.unwrap();
    let center = (history.iter().map(|value| value.ln()).sum::<f64>() / 20.0).exp();
    assert_eq!(of_history(&history, &[center * (1.0 - change)], HIGHER).verdict, Verdict::Regressed);
    // By the formula, where the threshold and the worst of the history are smaller: 2.093 and 1.462 (for 92 %) of s √(1 + 1/20).
    let deviation = found.effect.unwrap().deviation;
    let expected = 1.0 - (-(2.093_02 + 1.462_31) * deviation * 1.05_f64.sqrt()).exp();
    assert!((change - expected).abs() < 2e-4, "{change} {expected}");
    let slower = of_history(&history, &[center * (1.0 + change)], LOWER).detectable.unwrap();
    assert!(slower > change, "shares of more are larger");
}

#[test]
fn correlated_sessions_say_less() {
    let waves: Vec<f64> = (0..20).map(|index| 100.0 * (0.01 * (f64::from(index) / 2.5).sin()).exp()).collect();
    let mut mixed = waves.clone();
    mixed.sort_by(|one, other| (one * 1e6 % 7.0).total_cmp(&(other * 1e6 % 7.0)));
    let (found, other) = (of_history(&waves, &[98.0], HIGHER), of_history(&mixed, &[98.0], HIGHER));
    assert!(found.effect.unwrap().correlation > 0.5);
    assert!(other.effect.unwrap().correlation < 0.3);
    assert!(found.effect.unwrap().p > 2.0 * other.effect.unwrap().p);
    assert!(found.detectable > other.detectable);
}

fn mirrored(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Regressed => Verdict::Improved,
        Verdict::Improved => Verdict::Regressed,
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn reversed_sides_reverse_the_verdict(
        first in prop::collection::vec(-50.0..150.0_f64, 2..9),
        second in prop::collection::vec(50.0..250.0_f64, 2..9),
        positive in any::<bool>(),
    ) {
        let first: Vec<f64> = first.iter().map(|value| if positive { value.abs() + 1.0 } else { *value }).collect();
        let paired: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
        let swapped: Vec<(f64, f64)> = paired.iter().map(|(one, other)| (*other, *one)).collect();
        for policy in [HIGHER, LOWER, NONE] {
            if Scale::between(&first, &second).is_none() {
                continue;
            }
            let (there, back) = (groups(&first, &second, policy), groups(&second, &first, policy));
            prop_assert_eq!(mirrored(there.verdict), back.verdict);
            prop_assert_eq!(there.reason, back.reason);
            prop_assert_eq!(there.more, back.more);
            let (there, back) = (there.effect.unwrap(), back.effect.unwrap());
            prop_assert!((there.difference + back.difference).abs() < 1e-9);
            prop_assert_eq!(there.p, back.p);
            let sides: (Vec<f64>, Vec<f64>) = paired.iter().copied().unzip();
            if paired.len() > 1 && Scale::between(&sides.0, &sides.1).is_some() {
                let (there, back) = (pairs(&paired, policy), pairs(&swapped, policy));
                prop_assert_eq!(mirrored(there.verdict), back.verdict);
                prop_assert_eq!(there.reason, back.reason);
            }
        }
    }

    #[test]
    fn neither_unit_nor_order_decides(
        history in prop::collection::vec(80.0..120.0_f64, 5..12),
        new in prop::collection::vec(60.0..140.0_f64, 1..4),
        shift in 0_usize..12,
    ) {
        let said = of_history(&history, &new, HIGHER);
        let scaled = |values: &[f64]| values.iter().map(|value| value * 1000.0).collect::<Vec<_>>();
        let other = of_history(&scaled(&history), &scaled(&new), HIGHER);
        prop_assert_eq!(of(&said), of(&other));
        prop_assert!((said.change().unwrap() - other.change().unwrap()).abs() < 1e-9);
        // Groups have no order, unless neighbors are similar.
        let mut turned = history.clone();
        turned.rotate_left(shift % history.len());
        let sides = [&history, &turned].map(|history| groups(history, &new, HIGHER));
        if sides.iter().all(|side| side.effect.unwrap().autocorrelation.is_none()) {
            prop_assert_eq!(of(&sides[0]), of(&sides[1]));
        }
        prop_assert_eq!(of(&groups(&history, &new, HIGHER)), of(&groups(&scaled(&history), &scaled(&new), HIGHER)));
    }
}

/// Five sessions that drift leave so few degrees of freedom that the interval would reach from nothing to a hundred times as much.
#[test]
fn what_nobody_can_use_is_not_said() {
    let drifting = [89.8, 89.2, 89.9, 91.5, 92.3];
    for (history, new) in
        [(&drifting[..], 89.0), (&[100.0, 400.0, 20.0, 900.0, 50.0, 300.0], 150.0), (&[1.0, 2.0], 1.5)]
    {
        let said = of_history(history, &[new], LOWER);
        assert_eq!(said.verdict, Verdict::Inconclusive, "{history:?}");
        assert_eq!((said.interval(), said.detectable), (None, None), "{history:?}");
    }
    for seed in 0..40_u32 {
        let noise = f64::from(seed) / 20.0;
        for count in 2..=30 {
            let said = of_history(&around(100.0, noise, count), &[100.0], LOWER);
            if let Some((low, high)) = said.interval() {
                let change = 1.0 + said.change().unwrap();
                assert!((1.0 + high) / change <= 5.0 + 1e-9 && change / (1.0 + low) <= 5.0 + 1e-9, "{noise} {count}");
            } else {
                assert!(
                    matches!(said.verdict, Verdict::Inconclusive | Verdict::Regressed | Verdict::Improved),
                    "{said:?}"
                );
            }
        }
    }
}

/// Two afternoons in which each session is like the one before it: ranks take that for a difference.
#[test]
fn groups_of_correlated_sessions_are_worth_fewer() {
    let waves = |from: usize, level: f64| -> Vec<f64> {
        (from..from + 14).map(|at| level * (0.02 * (at as f64 / 4.0).sin()).exp()).collect()
    };
    let (first, second) = (waves(0, 100.0), waves(14, 100.0));
    let said = groups(&first, &second, HIGHER);
    let effect = said.effect.unwrap();
    assert_eq!((effect.method, said.verdict), (Method::Correlated, Verdict::Inconclusive), "{said:?}");
    assert!(effect.autocorrelation.unwrap() > 0.5);
    let ranks = kubebench_stats::rank::compare(&first, &second).unwrap();
    assert!(ranks.p < effect.p && effect.p.is_finite());
    assert_eq!(groups(&first, &waves(14, 60.0), HIGHER).verdict, Verdict::Regressed, "a large one is still one");
    let (there, back) = (said, groups(&second, &first, HIGHER));
    assert_eq!((mirrored(there.verdict), there.reason), (back.verdict, back.reason));
}

#[test]
fn a_change_of_exactly_the_threshold_is_one_however_it_is_rounded() {
    let exact = |direction| Policy { direction, threshold: 0.05 };
    for (before, after, direction) in [
        (100.0, 105.0, Direction::Lower),
        (200.0, 210.0, Direction::Lower),
        (20.0, 21.0, Direction::Lower),
        (0.1, 0.105, Direction::Lower),
        (100.0, 95.0, Direction::Higher),
        (200.0, 190.0, Direction::Higher),
        (-100.0, -105.0, Direction::Higher),
    ] {
        let said = of_history(&[before; 30], &[after; 2], exact(direction));
        assert_eq!(said.verdict, Verdict::Regressed, "{before} {after}: {said:?}");
    }
}

#[test]
fn what_is_rounded_varies_by_half_of_its_last_digit() {
    let said = |count: usize, before: f64, new: f64| of_history(&vec![before; count], &[new], LOWER).verdict;
    assert_eq!(said(10, 3.0, 4.0), Verdict::Inconclusive, "3 ms or 4 ms");
    assert_eq!(said(19, 3.0, 4.0), Verdict::Regressed, "which nineteen sessions in a row were not, one in twenty");
    assert_eq!(said(6, 3.0, 6.0), Verdict::Regressed, "no rounding");
    assert_eq!(said(6, 100_000.0, 105_000.0), Verdict::Regressed);
    assert_eq!(said(6, 3.000_1, 4.0), Verdict::Regressed, "3.0001 never was 4");
    assert_eq!(said(6, 3.0, 3.0), Verdict::Unchanged);
}
