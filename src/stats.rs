//! Pure mathematics on samples. No random numbers, and the same result on any machine.

/// Sums by Neumaier's method, so that the order of magnitudes does not decide the last digits.
pub fn sum(values: &[f64]) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = total + value;
        lost += if total.abs() >= value.abs() { (total - next) + value } else { (value - next) + total };
        total = next;
    }
    if lost.is_finite() { total + lost } else { total }
}

/// Returns the arithmetic mean.
pub fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

/// Returns the standard deviation with n − 1; 0 for a single value.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: Vec<f64> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
    (sum(&squares) / (values.len().max(2) - 1) as f64).sqrt()
}

/// Returns the median of the absolute deviations from the median, not scaled.
pub fn median_deviation(values: &[f64]) -> f64 {
    let median = quantile(values, 0.5);
    let deviations: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    quantile(&deviations, 0.5)
}

/// Returns a quantile of values in any order.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, share)
}

/// Returns a quantile of sorted values by linear interpolation between order statistics (Hyndman & Fan 1996, type 7:
/// NumPy's and R's default).
pub fn quantile_of_sorted(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len().saturating_sub(1)) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length is a position")]
    let below = position.floor() as usize;
    let at = |index: usize| sorted.get(index).or_else(|| sorted.last()).copied().unwrap_or(f64::NAN);
    let (low, high) = (at(below), at(below + 1));
    let rest = position - below as f64;
    // An exact position asks nothing of the next value, which may be infinite.
    if rest > 0.0 { low + (high - low) * rest } else { low }
}
