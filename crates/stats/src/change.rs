//! Changes of level in a series.
//!
//! Source: Matteson & James, *A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data* (2014), E-divisive with
//! α = 1; with Student's t instead of permutations, as Fleming et al., *Hunter* (ICPE 2023), so that there are no random numbers.
//! The degrees of freedom and the error are those of the effective sample size where neighbors are correlated (Bartlett 1946), since slow
//! waves are not changes. Assumes about normal values of equal variance between changes. Domain: finite values in order of time;
//! fewer than two levels of the least length have no change. A pass is O(n log n), and there is one for each level of division.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::distribution::t_two_sided;
use super::invariant::Invariant as _;
use super::{autocorrelation_from, mean, quantile, shrunk_correlation, sum};

/// Levels that differ less surely than this are one. Hunter's is 0.001; but a change is looked for at each place.
const SIGNIFICANT: f64 = 0.0002;

/// Levels that differ so surely are two, however much neighbors follow each other: waves of an AR(1) process of 0.8 come nowhere near. A
/// change that is not separated makes the rest look correlated, which would hide the next one.
const SURE: f64 = 1e-10;

/// A part of at most this many values is divided whether its halves differ or not; a longer one only if they do, for speed.
const ANYWAY: usize = 1000;

#[cfg(test)]
thread_local! {
    /// How many values and changes were looked at.
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts steps if a test requests it: unlike time, they are the same on every machine.
#[cfg(test)]
fn count_steps(steps: usize) {
    STEPS.set(STEPS.get() + steps);
}

#[cfg(not(test))]
fn count_steps(_: usize) {}

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
    let series = normal(series);
    Levels::new(&series, &divide(&series, least)).merged()
}

/// Returns the series around its median and with deviations below 2, so that neither its unit nor its level decides a digit.
fn normal(series: &[f64]) -> Vec<f64> {
    // By a power of two, which is exact.
    let scaled = |values: &mut Vec<f64>| {
        let greatest = values.iter().fold(0.0_f64, |greatest, value| greatest.max(value.abs()));
        let (_, exponent) = libm::frexp(greatest);
        for value in values {
            *value = libm::ldexp(*value, -exponent);
        }
    };
    let mut values = series.to_vec();
    scaled(&mut values);
    let median = quantile(values.iter().copied(), 0.5);
    for value in &mut values {
        *value -= median;
    }
    scaled(&mut values);
    values
}

/// Divides the series; returns where its parts begin. What turns out to be no change is merged again.
fn divide(series: &[f64], least: usize) -> Vec<usize> {
    let differ = |part: &[f64], at: Option<usize>| {
        let sides = at.and_then(|at| part.split_at_checked(at));
        sides.is_some_and(|(left, right)| Level::of(left).p(&Level::of(right), 1.0) <= SIGNIFICANT)
    };
    let mut cuts = vec![0];
    // Each part is gone through once, and its place of division is kept until its turn comes.
    let mut open = vec![(0, series, widest(series, least))];
    while let Some((offset, part, at)) = open.pop() {
        let Some((left, right)) = at.and_then(|at| part.split_at_checked(at)) else { continue };
        let (in_left, in_right) = (widest(left, least), widest(right, least));
        // Changes that undo each other hide in the means of halves; two of them do not in the halves of the halves.
        if part.len() <= ANYWAY || differ(part, at) || differ(left, in_left) || differ(right, in_right) {
            cuts.push(offset + left.len());
            open.push((offset, left, in_left));
            open.push((offset + left.len(), right, in_right));
        }
    }
    cuts.sort_unstable();
    cuts
}

/// Returns where the energy distance between both sides, weighted by their sizes, is the widest.
fn widest(part: &[f64], least: usize) -> Option<usize> {
    let count = part.len();
    if count < 2 * least {
        return None;
    }
    count_steps(count);
    let ranks = ranks(part);
    let ranked = || part.iter().copied().zip(ranks.iter().copied());
    let (mut left, mut right) = (Sums::new(count), Sums::new(count));
    let mut inside_right = 0.0;
    for (value, rank) in ranked() {
        inside_right += right.distance(rank, value);
        right.put(rank, value, 1.0);
    }
    let (mut inside_left, mut between) = (0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for (index, (value, rank)) in ranked().enumerate() {
        right.put(rank, value, -1.0);
        let (to_left, to_right) = (left.distance(rank, value), right.distance(rank, value));
        inside_right -= to_right;
        inside_left += to_left;
        between += to_right - to_left;
        left.put(rank, value, 1.0);
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

/// Returns the place of each value among the sorted ones.
fn ranks(part: &[f64]) -> Vec<usize> {
    let mut order: Vec<(usize, f64)> = part.iter().copied().enumerate().collect();
    order.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut ranks = vec![0; part.len()];
    for (rank, (at, _)) in order.into_iter().enumerate() {
        *ranks.get_mut(at).expected("a rank for each value") = rank;
    }
    ranks
}

/// Counts and sums of values by rank, in a binary indexed tree (Fenwick 1994).
struct Sums {
    /// How many values, and their sum.
    nodes: Vec<(f64, f64)>,
    all: (f64, f64),
}

impl Sums {
    fn new(size: usize) -> Self {
        Self { nodes: vec![(0.0, 0.0); size + 1], all: (0.0, 0.0) }
    }

    /// Adds a value, or removes it with the weight −1.
    fn put(&mut self, rank: usize, value: f64, weight: f64) {
        let add = |(count, total): &mut (f64, f64)| {
            *count += weight;
            *total += weight * value;
        };
        let mut at = rank + 1;
        while let Some(node) = self.nodes.get_mut(at) {
            add(node);
            at += at & at.wrapping_neg();
        }
        add(&mut self.all);
    }

    /// Returns the sum of the distances of all values from this one.
    fn distance(&self, rank: usize, value: f64) -> f64 {
        let (mut below, mut sum_below, mut at) = (0.0, 0.0, rank);
        while at > 0 {
            let (count, total) = self.nodes.get(at).copied().expected("a node for each rank");
            below += count;
            sum_below += total;
            at &= at - 1;
        }
        let (count, total) = self.all;
        (value * below - sum_below) + (total - sum_below) - value * (count - below)
    }
}

/// Neighboring values, and what is known of them.
#[derive(Clone, Copy, Debug)]
struct Level {
    start: usize,
    count: f64,
    mean: f64,
    /// The sum of the squares of the residuals.
    squares: f64,
    /// The sum of the products of neighboring residuals.
    products: f64,
    first: f64,
    last: f64,
}

impl Level {
    fn of(values: &[f64]) -> Self {
        let mean = mean(values.iter().copied());
        let residuals = || values.iter().map(|value| value - mean);
        Self {
            start: 0,
            count: values.len() as f64,
            mean,
            squares: sum(residuals().map(|residual| residual * residual)),
            products: sum(residuals().zip(residuals().skip(1)).map(|(one, next)| one * next)),
            first: values.first().copied().unwrap_or(f64::NAN),
            last: values.last().copied().unwrap_or(f64::NAN),
        }
    }

    /// Returns this level and the next one as one (Chan, Golub & LeVeque 1979).
    fn with(&self, next: &Self) -> Self {
        let count = self.count + next.count;
        let mean = self.mean + (next.mean - self.mean) * next.count / count;
        let moved = |level: &Self| {
            let by = level.mean - mean;
            let ends = level.first - level.mean + (level.last - level.mean);
            (level.squares + level.count * by * by, level.products - by * ends + (level.count - 1.0) * by * by)
        };
        let ((squares, products), (more_squares, more_products)) = (moved(self), moved(next));
        let between = (self.last - mean) * (next.first - mean);
        Self {
            start: self.start,
            count,
            mean,
            squares: squares + more_squares,
            products: products + more_products + between,
            first: self.first,
            last: next.last,
        }
    }

    /// Returns the product of the residuals on both sides of a change.
    fn between(&self, next: &Self) -> f64 {
        (self.last - self.mean) * (next.first - next.mean)
    }

    /// Returns the p value of Student's t test of two levels, each value worth `factor` of one; 1 where it cannot be computed.
    fn p(&self, next: &Self, factor: f64) -> f64 {
        let count = self.count + next.count;
        self.p_by(next, factor, self.variance(next), count * factor - 2.0)
    }

    /// Returns the variance of both levels together.
    fn variance(&self, next: &Self) -> f64 {
        (self.squares + next.squares) / (self.count + next.count - 2.0).max(1.0)
    }

    /// The same with a variance that is known with `freedom` degrees of freedom.
    fn p_by(&self, next: &Self, factor: f64, variance: f64, freedom: f64) -> f64 {
        let error = variance * (1.0 / self.count + 1.0 / next.count) / factor;
        let difference = self.mean - next.mean;
        if error <= 0.0 {
            return if difference == 0.0 { 1.0 } else { 0.0 };
        }
        let p = t_two_sided(difference / error.sqrt(), freedom.max(1.0));
        if p.is_nan() { 1.0 } else { p }
    }
}

/// Levels, of which neighbors are merged; each is identified by its initial place.
struct Levels {
    present: Vec<Option<Level>>,
    /// The level before each, and the one after it.
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
    squares: f64,
    products: f64,
    count: f64,
    /// The values of the whole series.
    values: f64,
}

impl Levels {
    /// Makes levels of the parts that begin at `starts`.
    fn new(series: &[f64], starts: &[usize]) -> Self {
        let ends = starts.iter().copied().skip(1).chain([series.len()]);
        let levels: Vec<Level> = starts
            .iter()
            .zip(ends)
            .map(|(start, end)| Level {
                start: *start,
                ..Level::of(series.get(*start..end).expected("parts of the series, in order"))
            })
            .collect();
        let count = levels.len();
        Self {
            squares: sum(levels.iter().map(|level| level.squares)),
            products: sum(levels.iter().map(|level| level.products))
                + sum(levels.iter().zip(levels.iter().skip(1)).map(|(one, next)| one.between(next))),
            present: levels.into_iter().map(Some).collect(),
            before: (0..count).map(|at| at.checked_sub(1)).collect(),
            after: (0..count).map(|at| Some(at + 1).filter(|next| *next < count)).collect(),
            count: count as f64,
            values: series.len() as f64,
        }
    }

    fn level(&self, at: Option<usize>) -> Option<&Level> {
        self.present.get(at?)?.as_ref()
    }

    fn after(&self, at: usize) -> Option<usize> {
        self.after.get(at).copied().flatten()
    }

    /// Returns the change at the end of a level.
    ///
    /// Two short levels hardly tell by themselves how much values vary; all levels do, unless these two vary more.
    fn change(&self, at: usize, factor: f64) -> Option<ChangePoint> {
        count_steps(1);
        let (level, next) = (self.level(Some(at))?, self.level(self.after(at))?);
        let variance = self.squares / (self.values - self.count).max(1.0);
        let by_all = level.p_by(next, factor, level.variance(next).max(variance), self.values * factor - self.count);
        let alone = level.p(next, 1.0);
        let p = if alone <= SURE { alone } else { level.p(next, factor).min(by_all) };
        Some(ChangePoint { at: next.start, p })
    }

    /// Returns which share of the values is worth as much as all of them, given how much each follows its neighbor within its level.
    fn worth(&self) -> f64 {
        // Each change was looked for, which hides as much of the correlation as a mean does.
        let means = 2.0 * self.count - 1.0;
        let own = autocorrelation_from(self.products, self.squares, self.values, means);
        let correlation = shrunk_correlation(own.is_finite().then_some(own), self.values);
        (1.0 - correlation) / (1.0 + correlation)
    }

    /// Removes the least certain change until all that remain are significant.
    fn merged(mut self) -> Vec<ChangePoint> {
        let mut versions = vec![0_usize; self.present.len()];
        let entry = |levels: &Self, at: usize, versions: &[usize]| {
            let change = levels.change(at, 1.0)?;
            Some(Unsure { p: change.p, at, version: versions.get(at).copied()? })
        };
        let mut heap: BinaryHeap<Unsure> =
            (0..self.present.len()).filter_map(|at| entry(&self, at, &versions)).collect();
        loop {
            let next = loop {
                match heap.pop() {
                    Some(unsure) if versions.get(unsure.at) != Some(&unsure.version) => {}
                    found => break found,
                }
            };
            let factor = self.worth();
            let p = |at: usize| self.change(at, factor).map(|change| change.p);
            // The least certain change may not be the least certain where neighbors are correlated: in the end all are checked.
            let unsure = match next {
                Some(unsure) if p(unsure.at).is_some_and(|p| p > SIGNIFICANT) => unsure.at,
                next => {
                    heap.extend(next);
                    let all = (0..self.present.len()).filter_map(|at| Some((at, p(at)?)));
                    match all.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
                        Some((at, p)) if p > SIGNIFICANT => at,
                        _ => return (0..self.present.len()).filter_map(|at| self.change(at, factor)).collect(),
                    }
                }
            };
            let gone = self.after(unsure);
            self.merge(unsure);
            let before = self.before.get(unsure).copied().flatten();
            for at in [Some(unsure), gone, before].into_iter().flatten() {
                *versions.get_mut(at).expected("a version for each level") += 1;
            }
            heap.extend([Some(unsure), before].into_iter().flatten().filter_map(|at| entry(&self, at, &versions)));
        }
    }

    /// Makes one level of a level and the next one.
    fn merge(&mut self, at: usize) {
        let (before, next) = (self.before.get(at).copied().flatten(), self.after(at));
        let beyond = next.and_then(|next| self.after(next));
        let (Some(level), Some(other)) = (self.level(Some(at)).copied(), self.level(next).copied()) else { return };
        let both = level.with(&other);
        let around = |left: &Level, right: &Level| {
            let first = self.level(before).map_or(0.0, |before| before.between(left));
            first + self.level(beyond).map_or(0.0, |beyond| right.between(beyond))
        };
        self.products += both.products + around(&both, &both)
            - (level.products + other.products + level.between(&other) + around(&level, &other));
        self.squares += both.squares - level.squares - other.squares;
        self.count -= 1.0;
        let set = |places: &mut Vec<Option<usize>>, at: Option<usize>, to: Option<usize>| {
            if let Some(at) = at {
                *places.get_mut(at).expected("a place for each level") = to;
            }
        };
        set(&mut self.after, Some(at), beyond);
        set(&mut self.before, beyond, Some(at));
        for (place, level) in [(Some(at), Some(both)), (next, None)] {
            if let Some(place) = place {
                *self.present.get_mut(place).expected("a place for each level") = level;
            }
        }
    }
}

/// A change in a heap that begins with the least certain, and of those with the earliest.
struct Unsure {
    p: f64,
    at: usize,
    /// The version of the level at that time; a level that changed since has another entry.
    version: usize,
}

impl Ord for Unsure {
    fn cmp(&self, other: &Self) -> Ordering {
        self.p.total_cmp(&other.p).then(other.at.cmp(&self.at)).then(self.version.cmp(&other.version))
    }
}

impl PartialOrd for Unsure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Unsure {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Unsure {}

#[cfg(test)]
mod tests;
