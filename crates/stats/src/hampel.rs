//! Isolated outliers, replaced by the level around them.
//!
//! Source: Hampel's filter (Pearson, Neuvo, Astola & Gabbouj, *Generalized Hampel Filters*, 2016): what is far from the median around it
//! becomes that median. The noise is that of differences between neighbors (von Neumann et al. 1941), by their median, so that
//! a change of level does not count as noise. Assumes that values between changes are about normal. Domain: finite values in order of time.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::invariant::Invariant as _;
use super::{NORMAL, mean, quantile};

/// So many values are around one, itself among them: more than half of them are a level, and never drawn in. At the ends of the series they
/// are the first and the last ones.
pub const AROUND: usize = 9;
/// A value that is more than this many deviations from the median around it is isolated.
const FAR: f64 = 4.0;

/// Returns the values, isolated ones replaced by the median around them; fewer than nine values unchanged.
///
/// The last value of a level may be outnumbered by those of the next one. A value that is like those before it or those after it is not
/// isolated.
pub fn drawn_in(series: &[f64]) -> Vec<f64> {
    if series.len() < AROUND {
        return series.to_vec();
    }
    let bound = FAR * noise(series);
    let median = |from: usize, to: usize| {
        let part = series.get(from..to.min(series.len())).expected("a part of the series");
        (part.len() > AROUND / 2).then(|| quantile(part.iter().copied(), 0.5))
    };
    let place = |(at, value): (usize, &f64)| {
        let is_near = |median: &f64| (value - median).abs() <= bound;
        let first = at.saturating_sub(AROUND / 2).min(series.len() - AROUND);
        let around = median(first, first + AROUND);
        let sides = [median(at.saturating_sub(AROUND), at), median(at + 1, at + 1 + AROUND)];
        let is_outlier = !around.iter().chain(sides.iter().flatten()).any(is_near);
        around.filter(|_| is_outlier).unwrap_or(*value)
    };
    series.iter().enumerate().map(place).collect()
}

/// Returns values of one level, for outliers their median; fewer than nine values as they are.
pub fn without_outliers(level: &[f64]) -> Vec<f64> {
    if level.len() < AROUND {
        return level.to_vec();
    }
    let median = quantile(level.iter().copied(), 0.5);
    let bound = FAR * noise(level);
    level.iter().map(|value| if (value - median).abs() > bound { median } else { *value }).collect()
}

/// Returns the standard deviation of values around their level.
fn noise(series: &[f64]) -> f64 {
    let steps = series.iter().zip(series.iter().skip(1)).map(|(one, next)| (next - one).abs());
    match NORMAL * FRAC_1_SQRT_2 * quantile(steps.clone(), 0.5) {
        // Most are the same: then by the mean, as little as there is.
        0.0 => PI.sqrt() / 2.0 * mean(steps),
        noise => noise,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "what is not drawn in is the same")]

    use super::drawn_in;

    fn noisy(levels: &[(usize, f64)]) -> Vec<f64> {
        const SHARES: [f64; 7] = [0.3, -1.1, 0.9, -0.2, 1.4, -0.8, -0.5];
        let levels = levels.iter().flat_map(|(count, level)| std::iter::repeat_n(*level, *count));
        levels.enumerate().map(|(at, level)| level + SHARES[at % 7]).collect()
    }

    #[test]
    fn levels_stay() {
        for series in [
            noisy(&[(20, 0.0)]),
            noisy(&[(20, 0.0), (5, 50.0), (20, 0.0)]),
            noisy(&[(20, 0.0), (5, 50.0)]),
            noisy(&[(5, 50.0), (20, 0.0)]),
            noisy(&[(4, 0.0), (4, 50.0)]),
        ] {
            assert_eq!(drawn_in(&series), series);
        }
        assert_eq!(drawn_in(&[2.0; 9]), [2.0; 9]);
        assert_eq!(drawn_in(&[]), [0.0; 0]);
        assert_eq!(drawn_in(&[3.0]), [3.0]);
        assert_eq!(drawn_in(&[-f64::MAX, f64::MAX].repeat(9)), [-f64::MAX, f64::MAX].repeat(9));
    }

    #[test]
    fn the_last_value_of_a_level_is_of_it() {
        // One more of those before it is as low as the next level, so that it is outnumbered.
        let mut series = noisy(&[(20, 10.0), (20, 0.0)]);
        series[17] = 0.0;
        let drawn = drawn_in(&series);
        assert_eq!((drawn[19], drawn[20]), (series[19], series[20]));
    }

    #[test]
    fn what_is_alone_is_drawn_in() {
        for (wild, at) in [-1e9, -50.0, 50.0, 1e300].into_iter().flat_map(|wild| [0, 5, 28, 36].map(|at| (wild, at))) {
            for count in 1..=4 {
                let usual = noisy(&[(20, 0.0), (20, 10.0)]);
                let mut series = usual.clone();
                series[at..at + count].fill(wild);
                let drawn = drawn_in(&series);
                let near = drawn.iter().zip(&usual).all(|(drawn, usual)| (drawn - usual).abs() < 9.0);
                assert!(near, "{wild} at {at}: {drawn:?}");
                let is_outlier = |place: usize| (at..at + count).contains(&place);
                assert!(
                    (0..40).all(|place| is_outlier(place) || drawn[place] == usual[place]),
                    "{wild} at {at}: {drawn:?}"
                );
            }
        }
    }
}
