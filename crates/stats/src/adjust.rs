//! Several questions at once.

/// Returns the p values adjusted by Benjamini and Hochberg (1995), in the order in which they came: that of each is the largest share of
/// false discoveries among all that are at least as small.
///
/// Assumes that the tests are independent or positively dependent. Domain: probabilities; a NaN stays one and counts as 1.
pub fn benjamini_hochberg(values: &[f64]) -> Vec<f64> {
    let total = values.len() as f64;
    let mut order: Vec<(usize, f64)> =
        values.iter().copied().map(|p| if p.is_nan() { 1.0 } else { p }).enumerate().collect();
    order.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let mut adjusted = values.to_vec();
    let mut least = 1.0_f64;
    for (above, (at, p)) in order.into_iter().enumerate() {
        let rank = total - above as f64;
        least = least.min(p * total / rank);
        if let Some(place) = adjusted.get_mut(at).filter(|place| !place.is_nan()) {
            *place = least;
        }
    }
    adjusted
}
