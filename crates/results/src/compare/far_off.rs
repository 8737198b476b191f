//! Sessions whose values are far from those of their side: a mean with them says nothing, and ranks hide them.

use super::model::Sessions;
use super::words;

/// The factor by which a value far from the median is above or below it.
const FAR: f64 = 5.0;
/// The maximum number of sessions that are named.
const SHOWN: usize = 3;

/// Names them.
pub(super) fn named(side: &Sessions, unit: Option<&str>) -> Vec<String> {
    let Some(median) = side.median.filter(|median| *median != 0.0 && side.sessions.len() > 2) else {
        return Vec::new();
    };
    let is_far = |value: f64| !(1.0 / FAR..=FAR).contains(&(value / median));
    let far = side.sessions.iter().filter(|session| is_far(session.value)).take(SHOWN);
    far.map(|session| {
        let [value, median] = words::values([session.value, median], unit);
        format!("session {} is an outlier: {value}, where the median of its side is {median}", session.session)
    })
    .collect()
}
