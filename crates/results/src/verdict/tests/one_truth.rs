//! What `compare` finds between two neighboring commits is in the history, and fails the gate.

use super::super::{Scale, Turn, Verdict, baseline_of_commits, judge, measure};
use super::{LOWER, around};

/// A generator of its own, so that a failure can be seen again.
struct Numbers(u64);

impl Numbers {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal: Irwin and Hall's sum of twelve.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

#[derive(Clone, Copy, Debug)]
enum Noise {
    Normal,
    Heavy,
    Bimodal,
    Outliers,
    Correlated,
}

fn session(numbers: &mut Numbers, noise: Noise, before: f64) -> f64 {
    match noise {
        Noise::Heavy => numbers.normal() / (numbers.normal().abs() + 0.3),
        Noise::Bimodal => numbers.share().round() * 2.0 + 0.3 * numbers.normal(),
        Noise::Outliers if numbers.share() < 0.1 => 10.0 + 20.0 * numbers.share(),
        Noise::Normal | Noise::Outliers => numbers.normal(),
        Noise::Correlated => 0.5 * before + 0.87 * numbers.normal(),
    }
}

#[test]
fn compare_history_and_gate_agree() {
    let (mut found, mut green) = (0, 0);
    for noise in [Noise::Normal, Noise::Heavy, Noise::Bimodal, Noise::Outliers, Noise::Correlated] {
        for (deviation, step) in [(0.01, 0.02), (0.01, 0.03), (0.01, 0.1), (0.03, 0.03), (0.03, 0.05), (0.03, 0.1)] {
            for (seed, count) in (0..30).zip(0_usize..) {
                let mut numbers = Numbers(seed);
                let (first, second) = (8 + count * 7 % 25, 8 + count % 15);
                let mut last = 0.0;
                let values: Vec<f64> = (0..first + second)
                    .map(|at| {
                        last = session(&mut numbers, noise, last);
                        let level = if at < first { 100.0 } else { 100.0 * (1.0 + step) };
                        level * (deviation * last).exp()
                    })
                    .collect();
                let (before, after) = values.split_at(first);
                let scale = Scale::of(before, after).unwrap();
                let compared = judge(measure(scale, before, &[], after), LOWER, None);
                let effect = compared.effect.unwrap();
                if effect.p > 0.0001 {
                    continue;
                }
                found += 1;
                let reported = baseline_of_commits(&values, &[first], LOWER, &[]);
                let change = reported.changes.iter().find(|change| change.at == first);
                let change =
                    change.unwrap_or_else(|| panic!("{noise:?} {deviation} {step} {seed}: {compared:?} {reported:?}"));
                assert_eq!(change.difference > 0.0, effect.difference > 0.0, "{noise:?} {deviation} {step} {seed}");
                let is_red =
                    reported.open.is_some() || reported.changes.iter().any(|change| change.turn == Turn::Accepted);
                green += usize::from(compared.verdict == Verdict::Regressed && !is_red && reported.pending.is_none());
            }
        }
    }
    assert!(found > 300, "{found} pairs of commits differ");
    assert_eq!(green, 0, "of {found} pairs of commits that differ");
}

#[test]
fn a_change_begins_with_its_commit() {
    let (mut right, mut found) = (0, 0);
    for (deviation, step) in [(0.01, 0.03), (0.03, 0.05), (0.03, 0.1)] {
        for each in [2, 3, 5] {
            for seed in 0..40 {
                let mut numbers = Numbers(seed);
                let first = each * (24 / each);
                let level = |at: usize| if at < first { 100.0 } else { 100.0 * (1.0 + step) };
                let values: Vec<f64> =
                    (0..first + 10).map(|at| level(at) * (deviation * numbers.normal()).exp()).collect();
                let begins: Vec<usize> = (each..values.len()).step_by(each).collect();
                let Some(open) = baseline_of_commits(&values, &begins, LOWER, &[]).open else { continue };
                found += 1;
                right += usize::from(open.from == first);
                assert!(begins.contains(&open.from), "{deviation} {step} {each} {seed}: {open:?}");
            }
        }
    }
    assert!(found > 250 && right * 100 >= found * 85, "{right} of {found} begin with their commit");
}

#[test]
fn a_change_amid_a_commit_is_where_it_is() {
    let mut values = around(100.0, 0.01, 24);
    values.extend(around(130.0, 0.01, 12));
    let open = baseline_of_commits(&values, &[6, 12, 18, 27, 33], LOWER, &[]).open.unwrap();
    assert_eq!(open.from, 24, "as where a machine became slower");
}
