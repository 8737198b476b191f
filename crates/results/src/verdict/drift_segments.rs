//! Splits a slowly drifting segment into steps.

use super::LEAST_HISTORY;
use super::effect::correlation;
use super::watch::SETTLED;
use kubebench_stats::{self as stats, trend};

/// A drift is at most this likely where nothing drifts. Waves of correlated values drift for a while as well.
const DRIFTS: f64 = 0.0002;
/// In a longer level, a drift that matters is shown as levels.
const MOST: usize = 300;

/// Returns where to cut a level that drifts, so that each part moves by the bound or more, and is no shorter than a level can be.
///
/// Neighbors in a drift are similar, which hides its steps from a test of levels.
pub(super) fn cuts(places: &[f64], bound: f64) -> Vec<usize> {
    if !(SETTLED..=MOST).contains(&places.len()) {
        return Vec::new();
    }
    let Some(drift) = trend::drift(places).filter(|drift| drift.p <= DRIFTS) else { return Vec::new() };
    let slope = trend::slope(places);
    let moves = |parts: &usize| (places.len() / parts) as f64 * slope.abs() >= bound;
    let Some(parts) = (2..=places.len() / LEAST_HISTORY).rev().find(moves) else { return Vec::new() };
    if drift.p_of_correlated(correlation(&around(places, slope))) > DRIFTS {
        return Vec::new();
    }
    (1..parts).map(|part| part * places.len() / parts).collect()
}

/// Returns how far the places are from a drift that may bend: what remains of a bend would look like correlation.
fn around(places: &[f64], slope: f64) -> Vec<f64> {
    let middle = (places.len() as f64 - 1.0) / 2.0;
    let squares = || (0..places.len()).map(|at| (at as f64 - middle).powi(2));
    let mean = stats::mean(squares());
    let bends: Vec<f64> = squares().map(|square| square - mean).collect();
    let straight: Vec<f64> = places.iter().enumerate().map(|(at, place)| place - slope * at as f64).collect();
    let weight = stats::sum(bends.iter().map(|bend| bend.powi(2)));
    let bend = stats::sum(straight.iter().zip(&bends).map(|(place, bend)| place * bend)) / weight;
    straight.iter().zip(bends).map(|(place, own)| place - bend * own).collect()
}
