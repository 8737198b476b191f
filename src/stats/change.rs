//! Changes of level in a series.
//!
//! Source: Matteson & James, *A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data* (2014), E-divisive with
//! α = 1; with Welch's t instead of permutations, as Fleming et al., *Hunter* (ICPE 2023), so that there are no random numbers.
//! The degrees of freedom are those of the effective sample size where neighbors are correlated (Bartlett 1946), since slow waves are
//! no changes. Assumes that between changes values are about normal. Domain: finite values in the order of time; fewer than two levels
//! of the least length have no change.

use super::distribution::t_two_sided;
use super::{autocorrelation_of, deviation, mean};

/// Levels that differ less surely than this are one.
const SIGNIFICANT: f64 = 0.001;
/// A part is divided further while its halves differ at least this surely; what turns out to be no change is merged again.
const PROMISING: f64 = 0.1;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value of the new level.
    pub at: usize,
    /// How likely so different levels are where nothing changed, on both sides.
    pub p: f64,
}

/// Returns the changes of level in `series`, in order; each level has at least `least` values.
pub fn change_points(series: &[f64], least: usize) -> Vec<ChangePoint> {
    let least = least.max(2);
    if series.len() < 2 * least || series.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let mut cuts = vec![0, series.len()];
    divide(series, 0, least, &mut cuts);
    cuts.sort_unstable();
    merged(series, cuts)
}

/// Divides `part`, which begins at `offset`, as long as its halves may differ.
fn divide(part: &[f64], offset: usize, least: usize, cuts: &mut Vec<usize>) {
    let Some(at) = widest(part, least) else { return };
    let (left, right) = part.split_at(at);
    // Two changes that undo each other hide in the means of halves, not in the halves of the halves.
    let promises =
        |part: &[f64]| widest(part, least).map(|at| part.split_at(at)).map_or(1.0, |(a, b)| welch(a, b, 1.0));
    if welch(left, right, 1.0) <= PROMISING || promises(left).min(promises(right)) <= SIGNIFICANT {
        cuts.push(offset + at);
        divide(left, offset, least, cuts);
        divide(right, offset + at, least, cuts);
    }
}

/// Returns where the energy distance between both sides, weighted by their sizes, is the widest.
fn widest(part: &[f64], least: usize) -> Option<usize> {
    let count = part.len();
    if count < 2 * least {
        return None;
    }
    let mut sorted: Vec<f64> = part.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = |value: f64| sorted.partition_point(|other| other.total_cmp(&value).is_lt());
    let (mut left, mut right) = (Sums::new(count), Sums::new(count));
    let mut inside_right = 0.0;
    for value in part {
        inside_right += right.distance(rank(*value), *value);
        right.put(rank(*value), *value, 1.0);
    }
    let (mut inside_left, mut between) = (0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for (index, value) in part.iter().enumerate() {
        let place = rank(*value);
        right.put(place, *value, -1.0);
        let (to_left, to_right) = (left.distance(place, *value), right.distance(place, *value));
        inside_right -= to_right;
        inside_left += to_left;
        between += to_right - to_left;
        left.put(place, *value, 1.0);
        let at = index + 1;
        if at < least || count - at < least {
            continue;
        }
        let (n, m) = (at as f64, (count - at) as f64);
        let pairs = |n: f64| n * (n - 1.0) / 2.0;
        let energy = 2.0 * between / (n * m) - inside_left / pairs(n) - inside_right / pairs(m);
        let distance = energy * n * m / (n + m);
        if best.is_none_or(|(widest, _)| distance > widest) {
            best = Some((distance, at));
        }
    }
    best.map(|(_, at)| at)
}

/// Counts and sums of values by rank, in a binary indexed tree (Fenwick 1994).
struct Sums {
    counts: Vec<f64>,
    totals: Vec<f64>,
    count: f64,
    total: f64,
}

impl Sums {
    fn new(size: usize) -> Self {
        Self { counts: vec![0.0; size + 1], totals: vec![0.0; size + 1], count: 0.0, total: 0.0 }
    }

    /// Puts a value in, or takes it out by the weight −1.
    fn put(&mut self, rank: usize, value: f64, weight: f64) {
        let mut at = rank + 1;
        while let (Some(count), Some(total)) = (self.counts.get_mut(at), self.totals.get_mut(at)) {
            *count += weight;
            *total += weight * value;
            at += at & at.wrapping_neg();
        }
        self.count += weight;
        self.total += weight * value;
    }

    /// Returns the sum of the distances of all values from this one.
    fn distance(&self, rank: usize, value: f64) -> f64 {
        let (mut below, mut sum_below, mut at) = (0.0, 0.0, rank);
        while at > 0 {
            below += self.counts.get(at).copied().unwrap_or_default();
            sum_below += self.totals.get(at).copied().unwrap_or_default();
            at &= at - 1;
        }
        (value * below - sum_below) + (self.total - sum_below) - value * (self.count - below)
    }
}

/// Takes out the least sure change until all that are left are significant.
fn merged(series: &[f64], mut cuts: Vec<usize>) -> Vec<ChangePoint> {
    loop {
        let factor = effective(series, &cuts);
        let part = |from: usize, to: usize| series.get(from..to).unwrap_or_default();
        let sure = |at: &[usize]| match at {
            [from, at, to] => Some(ChangePoint { at: *at, p: welch(part(*from, *at), part(*at, *to), factor) }),
            _ => None,
        };
        let found: Vec<ChangePoint> = cuts.windows(3).filter_map(sure).collect();
        let least_sure = found.iter().copied().max_by(|one, other| one.p.total_cmp(&other.p));
        match least_sure {
            Some(point) if point.p > SIGNIFICANT => cuts.retain(|cut| *cut != point.at),
            _ => return found,
        }
    }
}

/// Returns which share of the values is worth as much as all of them, given how much each follows its neighbor within its level.
fn effective(series: &[f64], cuts: &[usize]) -> f64 {
    let levels = cuts.windows(2).filter_map(|cut| series.get(*cut.first()?..*cut.last()?));
    let residuals: Vec<f64> = levels
        .flat_map(|level| {
            let mean = mean(level.iter().copied());
            level.iter().map(move |value| value - mean)
        })
        .collect();
    let correlation = autocorrelation_of(&residuals, cuts.len().saturating_sub(1)).clamp(0.0, 0.95);
    (1.0 - correlation) / (1.0 + correlation)
}

/// Returns the p value of Welch's t test on both sides, each value worth `factor` of one.
fn welch(left: &[f64], right: &[f64], factor: f64) -> f64 {
    let part = |side: &[f64]| {
        let deviation = deviation(side.iter().copied());
        let count = (side.len() as f64 * factor).max(2.0);
        (deviation * deviation / count, count)
    };
    let ((one, n), (other, m)) = (part(left), part(right));
    let difference = mean(left.iter().copied()) - mean(right.iter().copied());
    let error = one + other;
    if error <= 0.0 {
        return if difference == 0.0 { 1.0 } else { 0.0 };
    }
    let freedom = error * error / (one * one / (n - 1.0) + other * other / (m - 1.0));
    t_two_sided(difference / error.sqrt(), freedom)
}
