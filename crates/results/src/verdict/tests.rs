#![expect(clippy::float_cmp, reason = "the same result on any machine")]
#![expect(clippy::disallowed_methods, reason = "sessions that look like noise, by any mathematics")]

mod histories;
mod judgements;
mod one_truth;
mod settled;
mod short_changes;
mod young_series;
mod zeros;

use super::{Judgement, Policy, Scale, judge, measure};
use kubebench_format::result::v1::Direction;

const HIGHER: Policy = Policy { direction: Direction::Higher, threshold: 0.02 };
const LOWER: Policy = Policy { direction: Direction::Lower, threshold: 0.02 };
const NONE: Policy = Policy { direction: Direction::None, threshold: 0.02 };

/// Sessions around a level, by shares of it that look like noise of the standard deviation `noise`.
fn around(level: f64, noise: f64, count: usize) -> Vec<f64> {
    const SHARES: [f64; 10] = [0.3, -1.1, 0.9, -0.2, 1.4, -0.8, -1.5, 0.6, 1.2, -0.8];
    (0..count).map(|index| level * (noise * SHARES[index % 10] + 0.01 * noise * (index / 10) as f64).exp()).collect()
}

fn of_history(history: &[f64], new: &[f64], policy: Policy) -> Judgement {
    let scale = Scale::of(history, new).unwrap();
    judge(measure(scale, history, &[], new), policy, None)
}

#[test]
fn no_share_is_shown_where_there_is_none() {
    let most = f64::MAX;
    assert_eq!(Scale::of(&[-most, -most, most, most], &[1.0]), None, "a share of 0");
    assert_eq!(Scale::of(&[1e-200, 1e-200, -1.0], &[1e200]), None, "nor is one of next to nothing");
    assert_eq!(Scale::of(&[-2.0, -4.0], &[0.0]), Some(Scale::Relative(3.0)));
    assert!(kubebench_stats::quantile([-most, most].into_iter(), 0.5) == 0.0, "the middle of two ends is between them");
}
