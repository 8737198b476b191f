//! Two groups of sessions, by ranks.
//!
//! Source: Mann & Whitney (1947); Hodges & Lehmann (1963); for ties Streitberg & Röhmel (1986). Assumes that values are independent and
//! that under the null hypothesis both groups are of one distribution. Domain: each group has a value, and all are finite.

use super::distribution::{normal_cdf, normal_quantile};
use super::invariant::Invariant as _;
use super::quantile;

/// Up to this many pairs the distribution of U is counted and not approximated.
const EXACT_PAIRS: usize = 2500;

/// How two groups differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Of all pairs, those in which the value of the second group is larger; ties count a half.
    pub u: f64,
    /// How likely so uneven a U is where nothing differs, on both sides.
    pub p: f64,
    /// How likely a U of at least this size is where nothing differs: the one-sided p, for values that cannot get less.
    pub p_greater: f64,
    /// Whether `p` is counted, not approximated.
    pub is_exact: bool,
    /// The median of all differences, second less first: Hodges and Lehmann's estimate of the shift.
    pub shift: f64,
    /// The interval around the shift of at least 95 %; without ends where the groups are too small for one.
    ///
    /// From the least to the largest difference of three and three values it would be 90 %, which R's `wilcox.test` warns of.
    pub interval: (f64, f64),
    /// The minimum p for groups of these sizes and ties.
    pub least_p: f64,
}

/// Compares two groups; nothing outside of the domain.
pub fn compare(first: &[f64], second: &[f64]) -> Option<Comparison> {
    let (one, other) = (first.len(), second.len());
    if one == 0 || other == 0 || first.iter().chain(second).any(|value| !value.is_finite()) {
        return None;
    }
    let ranks = doubled_ranks(first, second);
    let of_second: u64 = ranks.iter().skip(one).sum();
    let least_sum = (other * (other + 1)) as u64;
    let doubled_u = of_second - least_sum;
    let is_exact = one * other <= EXACT_PAIRS;
    let tails = if is_exact { exact(&ranks, other, of_second) } else { approximate(&ranks, one, other, doubled_u) };
    let two_sided = |tail: f64| (2.0 * tail).min(1.0);
    let mut differences: Vec<f64> = second.iter().flat_map(|b| first.iter().map(move |a| b - a)).collect();
    differences.sort_by(f64::total_cmp);
    let last = differences.len() - 1;
    let at = |index: usize| differences.get(index.min(last)).copied().expected("a difference of each pair");
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    Some(Comparison {
        u: doubled_u as f64 / 2.0,
        p: two_sided(tails.less.min(tails.greater)),
        p_greater: tails.greater,
        is_exact,
        shift: quantile(differences.iter().copied(), 0.5),
        interval: cut(one, other).map_or(all, |cut| (at(cut), at(last - cut.min(last)))),
        least_p: two_sided(tails.least),
    })
}

/// One-sided probabilities.
struct Tails {
    /// Of at most this rank sum.
    less: f64,
    /// Of at least this one.
    greater: f64,
    /// The minimum of them.
    least: f64,
}

/// Returns twice the mid-rank of each value, the first group before the second: whole numbers also for ties.
fn doubled_ranks(first: &[f64], second: &[f64]) -> Vec<u64> {
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    let value = |index: usize| all.get(index).copied().expected("a value for each place");
    order.sort_by(|one, other| value(*one).total_cmp(&value(*other)));
    let mut ranks = vec![0; all.len()];
    let mut start = 0;
    for group in
        order.chunk_by(|one, other| value(*one).partial_cmp(&value(*other)).is_some_and(std::cmp::Ordering::is_eq))
    {
        // Ranks start + 1 to start + length, and twice their mean.
        let doubled = (2 * start + group.len() + 1) as u64;
        for index in group {
            *ranks.get_mut(*index).expected("a rank for each value") = doubled;
        }
        start += group.len();
    }
    ranks
}

/// Returns the probabilities of a doubled rank sum of `chosen` values, by counting all choices.
fn exact(ranks: &[u64], chosen: usize, sum: u64) -> Tails {
    let sums = RankSums::count(ranks, chosen);
    let at = sums.place(sum);
    let all: f64 = sums.ways.iter().sum();
    let at_most: f64 = sums.ways.iter().take(at + 1).sum();
    let at_least: f64 = sums.ways.iter().skip(at).sum();
    let extremes = [sums.ways.first(), sums.ways.last()];
    let least = extremes.into_iter().flatten().copied().fold(f64::INFINITY, f64::min);
    Tails { less: at_most / all, greater: at_least / all, least: least / all }
}

/// How many selections of a number of ranks have each sum. Counts are whole numbers below 2⁵³, or lose precision that no p shows.
struct RankSums {
    /// From the least sum to the greatest, `step` from one to the next.
    ways: Vec<f64>,
    least: u64,
    step: u64,
}

impl RankSums {
    fn count(ranks: &[u64], chosen: usize) -> Self {
        // Without ties all doubled ranks are even.
        let step = if ranks.iter().all(|rank| rank % 2 == 0) { 2 } else { 1 };
        let mut ranks: Vec<u64> = ranks.iter().map(|rank| rank / step).collect();
        ranks.sort_unstable();
        let up_to: Vec<u64> = std::iter::once(0)
            .chain(ranks.iter().scan(0, |sum, rank| {
                *sum += rank;
                Some(*sum)
            }))
            .collect();
        let sum = |from: usize, to: usize| {
            let at = |count: usize| up_to.get(count).copied().expected("a sum for each number of ranks");
            at(to) - at(from)
        };
        // How many sums `count` of the first `known` ranks can have.
        let width = |count: usize, known: usize| index(sum(known - count, known) - sum(0, count)) + 1;
        let all = ranks.len();
        // By how many are chosen, then by how much their sum is above the least.
        let mut ways: Vec<Vec<f64>> = (0..=chosen).map(|count| vec![0.0; width(count, all)]).collect();
        *ways.first_mut().and_then(|sums| sums.first_mut()).expected("one way to choose nothing") = 1.0;
        for (known, rank) in ranks.iter().enumerate() {
            // With fewer than this the rest is not enough.
            let fewest = (known + 1 + chosen).saturating_sub(all).max(1);
            for count in (fewest..=chosen.min(known + 1)).rev() {
                let (fewer, more) = ways.split_at_mut(count);
                let (Some(before), Some(now)) = (fewer.last(), more.first_mut()) else { continue };
                let above = rank - ranks.get(count - 1).expected("a rank for each that is chosen");
                let before = before.iter().take(width(count - 1, known));
                for (place, add) in now.iter_mut().skip(index(above)).zip(before) {
                    *place += add;
                }
            }
        }
        Self { ways: ways.pop().expected("counts for each number of chosen ranks"), least: step * sum(0, chosen), step }
    }

    /// Returns where a sum is among the counts.
    fn place(&self, sum: u64) -> usize {
        index((sum - self.least) / self.step)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a sum of ranks of values in memory")]
fn index(sum: u64) -> usize {
    sum as usize
}

/// The normal approximation with the correction for ties and that for continuity.
fn approximate(ranks: &[u64], one: usize, other: usize, doubled_u: u64) -> Tails {
    let (n, m) = (one as f64, other as f64);
    let all = n + m;
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let ties: f64 =
        sorted.chunk_by(|one, other| one == other).map(|group| (group.len() as f64).powi(3) - group.len() as f64).sum();
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let below = |distance: f64| if variance > 0.0 { normal_cdf((distance + 0.5) / variance.sqrt()) } else { 1.0 };
    let distance = doubled_u as f64 / 2.0 - n * m / 2.0;
    Tails { less: below(distance), greater: below(-distance), least: below(-n * m / 2.0) }
}

/// Returns how many of the sorted differences are outside of the interval, on each side: the maximum U that is significant; none if no U
/// is.
fn cut(one: usize, other: usize) -> Option<usize> {
    let tail = 0.025;
    if one * other <= EXACT_PAIRS {
        // Without ties the distribution of U is that of these ranks.
        let ranks: Vec<u64> = (1..=(one + other) as u64).map(|rank| 2 * rank).collect();
        let ways = RankSums::count(&ranks, other).ways;
        let all: f64 = ways.iter().sum();
        let mut below = 0.0;
        let mut outside = None;
        for (u, count) in ways.iter().enumerate() {
            below += count;
            if below / all > tail {
                break;
            }
            outside = Some(u);
        }
        return outside;
    }
    let (n, m) = (one as f64, other as f64);
    let place = n * m / 2.0 + normal_quantile(tail) * (n * m * (n + m + 1.0) / 12.0).sqrt();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among pairs in memory")]
    let outside = (place - 0.5).max(0.0).floor() as usize;
    Some(outside)
}
