//! The rules of other tools, as they are by default, on the sessions of a benchmark where more is better.

#![expect(clippy::disallowed_methods, reason = "tables have shares of simulations, not their last digits")]

use kubebench_stats::distribution::t_quantile;
use kubebench_stats::{deviation, mean, rank};

use super::{Session, median, medians};

/// Says whether the newest session is slower than what was before it.
type Rule = fn(&[Session], &Session) -> bool;

/// The rules by name.
pub(super) const RULES: [(&str, Rule); 6] = [
    ("previous − 5 %", |past, new| previous(past, new, 1.0 / 0.95)),
    ("github-action-benchmark 200 %", |past, new| previous(past, new, 2.0)),
    ("the same, 110 %", |past, new| previous(past, new, 1.1)),
    ("benchstat", benchstat),
    ("asv", asv),
    ("Bencher t-test", bencher),
];

/// The newest value against the one before it. github-action-benchmark: `alert-threshold` is the ratio of both, 200 % by default.
fn previous(past: &[Session], new: &Session, ratio: f64) -> bool {
    past.last().is_some_and(|previous| median(previous) / median(new) > ratio)
}

/// Mann and Whitney's test of the runs of both sessions, p < .05 (golang.org/x/perf/benchmath).
fn benchstat(past: &[Session], new: &Session) -> bool {
    past.last()
        .and_then(|previous| rank::compare(previous, new))
        .is_some_and(|found| found.p < 0.05 && found.shift < 0.0)
}

/// `asv continuous`: times that differ, and by the factor 1.1. By Mann and Whitney's test where its p can be below .002, which five runs
/// cannot; else by intervals of 99 % that do not overlap (`asv/_stats.py`).
fn asv(past: &[Session], new: &Session) -> bool {
    let Some(previous) = past.last() else { return false };
    let (before, after) = (previous.map(|value| 1.0 / value), new.map(|value| 1.0 / value));
    let (low, high) = (laplace_interval(&before, 0.01), laplace_interval(&after, 0.01));
    let overlap = low.1 >= high.0 && low.0 <= high.1;
    !overlap && median(&before) < median(&after) / 1.1
}

/// Where the median is after these values, if they are of a Laplace distribution of unknown width: asv's interval for few values. Its
/// density goes with the sum of the distances to the power of −n.
fn laplace_interval(values: &Session, alpha: f64) -> (f64, f64) {
    let mut sorted = *values;
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let distances = |at: f64| sorted.iter().map(|value| (value - at).abs()).sum::<f64>();
    // Between two values the sum is a line, beyond them one of the slope n.
    let ends: Vec<f64> = sorted.iter().map(|value| distances(*value)).collect();
    let power = 1.0 - n;
    let tail = |end: f64| end.powf(power) / (n * (n - 1.0));
    let piece = |at: usize| {
        let (from, to, width) = (ends[at], ends[at + 1], sorted[at + 1] - sorted[at]);
        if width <= 0.0 {
            return (0.0, 0.0);
        }
        let slope = (to - from) / width;
        if slope.abs() * width < 1e-9 * from {
            (width * from.powf(-n), 0.0)
        } else {
            ((to.powf(power) - from.powf(power)) / (slope * power), slope)
        }
    };
    let (left, right) = (tail(ends[0]), tail(ends[sorted.len() - 1]));
    let pieces: Vec<(f64, f64)> = (0..sorted.len() - 1).map(piece).collect();
    let all = left + right + pieces.iter().map(|(mass, _)| mass).sum::<f64>();
    let at = |share: f64| {
        let mut wanted = share * all;
        if wanted <= left {
            let sum = (wanted * n * (n - 1.0)).powf(1.0 / power);
            return sorted[0] - (sum - ends[0]) / n;
        }
        wanted -= left;
        for (place, (mass, slope)) in pieces.iter().enumerate() {
            if wanted <= *mass {
                let from = ends[place];
                let along = if *slope == 0.0 {
                    wanted / from.powf(-n)
                } else {
                    ((from.powf(power) + wanted * slope * power).powf(1.0 / power) - from) / slope
                };
                return sorted[place] + along;
            }
            wanted -= mass;
        }
        let last = sorted.len() - 1;
        let sum = ((right - wanted).max(f64::MIN_POSITIVE) * n * (n - 1.0)).powf(1.0 / power);
        sorted[last] + (sum - ends[last]) / n
    };
    (at(alpha / 2.0).min(sorted[0]), at(1.0 - alpha / 2.0).max(sorted[sorted.len() - 1]))
}

/// Student's t of the last 64 values, one-sided .99 as its documentation shows it: the mean less t · s · √(1 + 1/n), where the variance is
/// by n.
fn bencher(past: &[Session], new: &Session) -> bool {
    let values = medians(&past[past.len().saturating_sub(64)..]);
    let n = values.len() as f64;
    let population = deviation(values.iter().copied()) * ((n - 1.0) / n).sqrt();
    let limit = t_quantile(0.99, n - 1.0) * population * (1.0 + 1.0 / n).sqrt();
    median(new) < mean(values.iter().copied()) - limit
}
