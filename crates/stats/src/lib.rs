//! Pure mathematics on samples. No random numbers, and the same result on any machine.
//!
//! Samples are gone through several times and not copied: a log may have a hundred million of them.
//!
//! ```
//! let samples = [12.0, 10.0, 11.0, 55.0];
//! assert_eq!(kubebench_stats::quantile(samples.into_iter(), 0.5), 11.5);
//! ```

pub mod adjust;
pub mod change;
pub mod distribution;
pub mod hampel;
mod invariant;
pub mod median;
pub mod pairs;
pub mod prediction;
pub mod rank;
pub mod trend;
pub mod unequal;

use invariant::Invariant as _;

/// The median of the absolute deviations of normal values is one standard deviation divided by this.
pub const NORMAL: f64 = 1.482_602_218_505_602;

/// The maximum number of samples that are sorted; of more, those wanted are looked for.
const SORTED: usize = 1 << 16;

/// How many values 16 bits have.
const DIGITS: usize = 1 << 16;

/// A sum by Neumaier's method, so that the order of magnitudes does not decide the last digits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        let Self { total, lost } = self;
        let next = *total + value;
        *lost += if total.abs() >= value.abs() { (*total - next) + value } else { (value - next) + *total };
        *total = next;
    }

    /// Returns the sum of what `change` makes of the values, where that multiplies them.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self { total: change(self.total), lost: change(self.lost) }
    }

    /// Returns the sum.
    pub fn value(self) -> f64 {
        if self.lost.is_finite() { self.total + self.lost } else { self.total }
    }
}

/// Returns the sum of values.
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sum = Sum::default();
    for value in values {
        sum.add(value);
    }
    sum.value()
}

/// Returns the arithmetic mean.
pub fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    sum(values.clone()) / values.count() as f64
}

/// Returns the standard deviation with n − 1; 0 for a single value.
pub fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let mean = mean(values.clone());
    let squares = sum(values.clone().map(|value| (value - mean) * (value - mean)));
    (squares / (values.count().max(2) - 1) as f64).sqrt()
}

/// Returns how much each value follows the one before it: the autocorrelation at lag 1, corrected for the bias that the mean brings
/// (Kendall 1954). Nothing for fewer than four values, values that are all the same, or one that is not finite.
pub fn autocorrelation(values: &[f64]) -> Option<f64> {
    let greatest = values.iter().fold(0.0_f64, |greatest, value| greatest.max(value.abs()));
    let varies = values.iter().zip(values.iter().skip(1)).any(|(one, next)| one.total_cmp(next).is_ne());
    if values.len() < 4 || !varies || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    // Scaled by a power of two, so that no square is too large or too small.
    let (_, exponent) = libm::frexp(greatest);
    let scaled = values.iter().map(|value| libm::ldexp(*value, -exponent));
    let mean = mean(scaled.clone());
    let residuals = || scaled.clone().map(|value| value - mean);
    let squares = sum(residuals().map(|residual| residual * residual));
    let products = sum(residuals().zip(residuals().skip(1)).map(|(one, next)| one * next));
    Some(autocorrelation_from(products, squares, values.len() as f64, 1.0))
}

/// The same from the sums of the products of neighboring residuals and of their squares, of `count` residuals around `means` means; 0
/// where they do not vary.
fn autocorrelation_from(products: f64, squares: f64, count: f64, means: f64) -> f64 {
    if squares <= 0.0 || !squares.is_finite() {
        return 0.0;
    }
    let found = products / squares;
    let bias = (1.0 + 3.0 * found) * means / count;
    (found + bias).clamp(-1.0, 1.0)
}

/// Returns how much the values of groups follow each other within these, where that is more than chance: at 5 %, on one side.
pub fn seen_autocorrelation(groups: &[&[f64]]) -> Option<f64> {
    let count: usize = groups.iter().map(|group| group.len()).sum();
    let is_finite = groups.iter().all(|group| group.iter().all(|value| value.is_finite()));
    let residuals: Vec<Vec<f64>> = groups
        .iter()
        .map(|group| {
            let mean = mean(group.iter().copied());
            group.iter().map(|value| value - mean).collect()
        })
        .collect();
    let products =
        residuals.iter().flat_map(|group| group.iter().zip(group.iter().skip(1)).map(|(one, next)| one * next));
    let squares = sum(residuals.iter().flatten().map(|residual| residual * residual));
    let found = autocorrelation_from(sum(products), squares, count as f64, groups.len() as f64);
    more_than_chance(Some(found).filter(|_| is_finite), count)
}

/// Returns the autocorrelation of `count` values where it is more than chance.
pub fn more_than_chance(found: Option<f64>, count: usize) -> Option<f64> {
    const CHANCE: f64 = 1.645;
    const LEAST: usize = 8;
    found.filter(|found| count >= LEAST && found * (count as f64).sqrt() > CHANCE)
}

/// Returns the autocorrelation to reckon with, of `count` values that show `found`: few values hardly tell, so that it is drawn towards
/// what sessions of a cluster may have.
pub fn shrunk_correlation(found: Option<f64>, count: f64) -> f64 {
    /// The autocorrelation that is assumed without data.
    const ASSUMED: f64 = 0.5;
    /// The assumption counts as much as this many values.
    const WEIGHT: f64 = 15.0;
    /// Of values that follow each other more, few say nothing of how they vary.
    const MOST: f64 = 0.95;
    ((WEIGHT * ASSUMED + count * found.unwrap_or(ASSUMED)) / (WEIGHT + count)).clamp(0.0, MOST)
}

/// Returns the natural logarithm: libm's, not the system's, whose last digit differs between machines.
pub fn ln(value: f64) -> f64 {
    libm::log(value)
}

/// Returns the logarithm to base 10.
pub fn log10(value: f64) -> f64 {
    libm::log10(value)
}

/// Returns 10 to the power of `value`.
pub fn power_of_ten(value: f64) -> f64 {
    libm::pow(10.0, value)
}

/// Returns 2 to the power of `value`.
pub(crate) fn exp2(value: f64) -> f64 {
    libm::exp2(value)
}

/// Returns e to the power of `value`.
pub(crate) fn exp(value: f64) -> f64 {
    libm::exp(value)
}

/// Returns e to the power of `value`, less 1.
pub fn exp_m1(value: f64) -> f64 {
    libm::expm1(value)
}

/// Returns the natural logarithm of 1 and `value`.
pub fn ln_1p(value: f64) -> f64 {
    libm::log1p(value)
}

/// Returns the median of the absolute deviations from the median, not scaled.
pub fn median_deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let median = quantile(values.clone(), 0.5);
    quantile(values.map(|value| (value - median).abs()), 0.5)
}

/// Returns a quantile of values in any order.
pub fn quantile(values: impl Iterator<Item = f64> + Clone, share: f64) -> f64 {
    let [found] = quantiles(values, [share]);
    found
}

/// Returns quantiles of values in any order, by linear interpolation between order statistics (Hyndman & Fan 1996, type 7:
/// NumPy's and R's default).
pub fn quantiles<const N: usize>(values: impl Iterator<Item = f64> + Clone, shares: [f64; N]) -> [f64; N] {
    let count = values.clone().count();
    let last = count.saturating_sub(1);
    if count <= SORTED {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let at = |rank: usize| sorted.get(rank).copied().unwrap_or(f64::NAN);
        return shares.map(|share| {
            let (below, rest) = place(last, share);
            between(at(below), at((below + 1).min(last)), rest)
        });
    }
    let mut ranks: Vec<usize> =
        shares.iter().map(|share| place(last, *share).0).flat_map(|below| [below, (below + 1).min(last)]).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let found = ordered(&values, &ranks);
    let at = |rank: usize| {
        ranks.binary_search(&rank).ok().and_then(|index| found.get(index)).map_or(f64::NAN, |key| of_key(*key))
    };
    shares.map(|share| {
        let (below, rest) = place(last, share);
        between(at(below), at((below + 1).min(last)), rest)
    })
}

/// The position of a quantile among sorted values whose last has the position `last`: the one below, and how far to the next.
fn place(last: usize, share: f64) -> (usize, f64) {
    let position = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length is a position")]
    let below = (position.floor() as usize).min(last);
    (below, position - below as f64)
}

/// An exact position does not use the next value, which may be infinite.
fn between(low: f64, high: f64, rest: f64) -> f64 {
    match high - low {
        _ if rest <= 0.0 => low,
        // The difference of two extreme numbers may be infinite.
        span if span.is_infinite() && low.is_finite() && high.is_finite() => low * (1.0 - rest) + high * rest,
        span => low + span * rest,
    }
}

/// Returns the keys of the values that would be at `ranks` if all were sorted: digit by digit, 16 bits at a time.
fn ordered(values: &(impl Iterator<Item = f64> + Clone), ranks: &[usize]) -> Vec<u64> {
    // What is known of each key, and its rank among the values that begin with it.
    let mut wanted: Vec<(u64, usize)> = ranks.iter().map(|rank| (0, *rank)).collect();
    for shift in [48_u32, 32, 16, 0] {
        let above = |key: u64| key.checked_shr(shift + 16).unwrap_or(0);
        let mut prefixes: Vec<u64> = wanted.iter().map(|(prefix, _)| *prefix).collect();
        prefixes.dedup();
        let mut counts = vec![vec![0_usize; DIGITS]; prefixes.len()];
        for value in values.clone() {
            let key = key(value);
            if let Some(counts) =
                prefixes.iter().position(|prefix| *prefix == above(key)).and_then(|at| counts.get_mut(at))
            {
                *counts.get_mut(digit(key >> shift)).expected("a count for each digit") += 1;
            }
        }
        for (prefix, rank) in &mut wanted {
            let counts = prefixes.iter().position(|known| known == prefix).and_then(|at| counts.get(at));
            for (digit, count) in counts.into_iter().flatten().enumerate() {
                if *rank < *count {
                    *prefix = *prefix << 16 | digit as u64;
                    break;
                }
                *rank -= count;
            }
        }
    }
    wanted.into_iter().map(|(key, _)| key).collect()
}

/// The last 16 bits.
fn digit(bits: u64) -> usize {
    usize::try_from(bits & 0xffff).ok().expected("16 bits")
}

/// A number that is ordered as [`f64::total_cmp`] orders values.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests;
