//! Pairs of measurements that were taken side by side.
//!
//! Source: Fisher (1935), the randomization test of signs; Walsh (1949) and Tukey (1949) for the interval. Assumes that under the null
//! hypothesis each difference is as likely to have the other sign. Domain: at least one difference, all finite.

use super::distribution::{around, normal_cdf};
use super::invariant::Invariant as _;
use super::{deviation, exp2, mean, quantile, sum};

/// Up to this many pairs all signs are tried.
const EXACT_PAIRS: usize = 24;

/// How the second of each pair differs from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// How likely so large a mean difference is where nothing differs, on both sides.
    pub p: f64,
    /// Whether `p` is counted, not approximated.
    pub is_exact: bool,
    /// The median of the means of all two differences: Hodges and Lehmann's estimate.
    pub shift: f64,
    /// The interval around it of at least 95 %; without ends where there are too few pairs for one.
    pub interval: (f64, f64),
    /// The minimum p of this many pairs.
    pub least_p: f64,
}

/// Judges the `differences` of pairs; nothing outside of the domain.
pub fn judge(differences: &[f64]) -> Option<Paired> {
    if differences.is_empty() || differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    let count = differences.len();
    let is_exact = count <= EXACT_PAIRS;
    let p = if is_exact { exact(differences) } else { approximate(differences) };
    let mut means: Vec<f64> = Vec::with_capacity(count * (count + 1) / 2);
    for (index, one) in differences.iter().enumerate() {
        means.extend(differences.iter().skip(index).map(|other| f64::midpoint(*one, *other)));
    }
    means.sort_by(f64::total_cmp);
    let last = means.len() - 1;
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    let at = |index: usize| means.get(index.min(last)).copied().expected("a mean of each pair");
    let least_p = if is_exact { 2.0 * exp2(-(count as f64)) } else { 0.0 };
    Some(Paired {
        p,
        is_exact,
        shift: quantile(means.iter().copied(), 0.5),
        interval: cut(count).map_or(all, |cut| (at(cut), at(last - cut.min(last)))),
        least_p: least_p.min(1.0),
    })
}

/// Returns the interval of 95 % around the mean difference, and how likely so large a mean is where nothing differs, by Student's t
/// (1908). Assumes that differences are about normal; nothing for fewer than two, or where one is not finite.
pub fn by_t(differences: &[f64]) -> Option<((f64, f64), f64)> {
    let count = differences.len();
    if count < 2 || differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    let error = deviation(differences.iter().copied()) / (count as f64).sqrt();
    Some(around(mean(differences.iter().copied()), error, count as f64 - 1.0))
}

/// Counts the assignments of signs with which the sum is at least as far from 0.
fn exact(differences: &[f64]) -> f64 {
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    let wanted = sum(differences.iter().copied()).abs();
    // The same sum in another order may differ by rounding.
    let wanted = wanted - 1e-12 * sum(sizes.iter().copied());
    let (left, right) = sizes.split_at(sizes.len() / 2);
    let (left, mut right) = (signed_sums(left), signed_sums(right));
    right.sort_by(f64::total_cmp);
    let mut far = 0_u64;
    for one in &left {
        let below = right.partition_point(|other| one + other <= -wanted);
        let not_above = right.partition_point(|other| one + other < wanted);
        let both = if wanted <= 0.0 { right.len() } else { below + right.len() - not_above };
        far += both as u64;
    }
    far as f64 / (left.len() as f64 * right.len() as f64)
}

/// Returns the sums for all signs.
fn signed_sums(sizes: &[f64]) -> Vec<f64> {
    sizes.iter().fold(vec![0.0], |sums, size| sums.iter().flat_map(|sum| [sum + size, sum - size]).collect())
}

fn approximate(differences: &[f64]) -> f64 {
    let squares = sum(differences.iter().map(|difference| difference * difference)).sqrt();
    let z = sum(differences.iter().copied()).abs() / squares;
    if squares > 0.0 { 2.0 * normal_cdf(-z) } else { 1.0 }
}

/// Returns how many of the sorted means are outside of the interval, on each side: the maximum sum of Wilcoxon's signed ranks that is
/// significant, as many as leave at least 95 %; none if no sum is.
fn cut(count: usize) -> Option<usize> {
    let total = count * (count + 1) / 2;
    let mut ways = vec![0.0_f64; total + 1];
    *ways.first_mut().expected("a count for each sum") = 1.0;
    for rank in 1..=count {
        for sum in (rank..=total).rev() {
            let before = ways.get(sum - rank).copied().expected("a count for each sum");
            *ways.get_mut(sum).expected("a count for each sum") += before;
        }
    }
    let all: f64 = ways.iter().sum();
    let mut below = 0.0;
    let mut outside = None;
    for (sum, count) in ways.iter().enumerate() {
        below += count;
        if below / all > 0.025 {
            break;
        }
        outside = Some(sum);
    }
    outside
}
