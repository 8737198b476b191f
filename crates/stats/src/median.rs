//! How sure the median of few values is.
//!
//! Source: Thompson (1936); Conover, *Practical Nonparametric Statistics* (1999), §3.2. Assumes that values are independent; from six on
//! nothing else, below that also that they are about normal. Domain: at least three values, all finite.

use super::distribution::normal_quantile;
use super::exp2;
use super::pairs::by_t;

/// From this many values on, two of them enclose the median with 95 %.
const LEAST_ORDERED: usize = 6;
/// With fewer values there is no result: the interval would be many times as wide as the values' distances.
const LEAST: usize = 3;
/// Up to this many values the distribution is counted and not approximated.
const EXACT: usize = 1000;

/// Returns the interval of at least 95 % around the median; by Student's t around the mean for three to five values.
pub fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len();
    if count < LEAST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    if count < LEAST_ORDERED {
        return by_t(values).map(|(interval, _)| interval);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let outside = outside(count);
    Some((*sorted.get(outside)?, *sorted.get(count - 1 - outside)?))
}

/// Returns how many of the sorted values are outside of the interval, on each side.
fn outside(count: usize) -> usize {
    const TAIL: f64 = 0.025;
    let n = count as f64;
    if count > EXACT {
        let place = f64::midpoint(n, normal_quantile(TAIL) * n.sqrt()) - 0.5;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among values in memory")]
        let outside = place.max(0.0).floor() as usize;
        return outside;
    }
    let mut ways = exp2(-n);
    let mut below = 0.0;
    let mut outside = 0;
    for place in 0..count {
        below += ways;
        if below > TAIL {
            break;
        }
        outside = place;
        ways *= (n - place as f64) / (place as f64 + 1.0);
    }
    outside
}
