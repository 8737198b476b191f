//! Plots as SVG: an axis that says where it begins, ticks at round numbers, and text that a reader without eyes gets too.
//!
//! No library fits: those that draw SVG know neither `title` nor classes, which light, dark and print need.

pub(super) mod pareto;
pub(super) mod quantiles;
pub(super) mod scaling;
pub(super) mod spark;
pub(super) mod trend;

use kubebench_results::compare::words::Scaled;
use kubebench_stats as stats;
use maud::{Markup, html};

/// The drawing in units of its own; the page scales it.
pub(super) const WIDTH: f64 = 760.0;
/// Its height.
pub(super) const HEIGHT: f64 = 270.0;
/// Room for the numbers of the vertical axis.
pub(super) const LEFT: f64 = 70.0;
/// Room at the other side.
pub(super) const RIGHT: f64 = 14.0;
/// Room for labels of marks.
pub(super) const TOP: f64 = 24.0;
/// Room for the numbers of the horizontal axis.
pub(super) const BOTTOM: f64 = 48.0;

/// A vertical axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    step: f64,
    /// What the values are divided by before anything is computed: doubles end at 1.8e308 and at 5e-324.
    scale: f64,
}

impl Axis {
    /// Returns the axis of these values: from 0 where that costs less than half of the room, around them otherwise.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let scale = match low.abs().max(high.abs()) {
            size if size > 1e290 => 1e290,
            size if size > 0.0 && size < 1e-290 => 1e-300,
            _ => 1.0,
        };
        let (mut low, mut high) = (low / scale, high / scale);
        if low >= 0.0 && low < high / 2.0 {
            low = 0.0;
        } else if high <= 0.0 && high > low / 2.0 {
            high = 0.0;
        }
        if high - low <= high.abs().max(low.abs()) * 1e-12 {
            let room = if high == 0.0 { 1.0 } else { high.abs() * 0.05 };
            (low, high) = (low - room, high + room);
        }
        let step = round_step((high - low) / 4.0);
        let edge = |value: f64| if value == 0.0 { 0.0 } else { (high - low) * 0.04 };
        let (low, high) = (low - edge(low), high + edge(high));
        Self { low, high, step, scale }
    }

    /// Returns whether it does not begin at zero.
    pub(super) fn is_cut(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Returns where a value is, from the top.
    pub(super) fn place(&self, value: f64) -> f64 {
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - self.share(value))
    }

    /// Returns how far along the axis a value is, between 0 and 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        ((value / self.scale - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Returns the round numbers on it, with their texts, and the unit that these are in.
    pub(super) fn ticks(&self, unit: Option<&str>) -> (Vec<(f64, String)>, Option<String>) {
        const MOST: usize = 12;
        let first = (self.low / self.step).ceil();
        let marks = (0..MOST).map(|at| (first + at as f64) * self.step).take_while(|value| *value <= self.high);
        let marks: Vec<f64> = marks.collect();
        let size = marks.iter().fold(0.0, |size: f64, value| size.max(value.abs())) * self.scale;
        let scaled = Scaled::of(size, unit);
        let power = stats::log10(scaled.convert(1.0));
        // Round numbers of bytes are not round in `KiB`.
        let is_round = power != 0.0 && (power - power.round()).abs() < 1e-9;
        let (divisor, suffix) = if is_round { (stats::power_of_ten(-power.round()), "") } else { magnitude(size) };
        let digits = decimals(self.step * self.scale / divisor);
        // So many that neighbors are distinct.
        let exact = decimals(self.step * self.scale / size).max(1);
        let text = |value: f64| {
            let value = value * self.scale / divisor;
            let text = if (1e-6..1e6).contains(&value.abs()) || value == 0.0 {
                format!("{value:.digits$}")
            } else {
                format!("{value:.exact$e}")
            };
            format!("{}{suffix}", text.replace('-', "−"))
        };
        let mut ticks: Vec<(f64, String)> = marks.into_iter().map(|value| (value * self.scale, text(value))).collect();
        // Between the smallest doubles there is nothing.
        ticks.dedup_by(|one, other| one.0.total_cmp(&other.0).is_eq());
        (ticks, if is_round { scaled.unit().map(str::to_owned) } else { unit.map(str::to_owned) })
    }

    /// Draws lines, numbers and, where the axis does not begin at zero, a break in it.
    pub(super) fn draw(&self, unit: Option<&str>) -> Markup {
        let (ticks, unit) = self.ticks(unit);
        html! {
            g class="axis" {
                @for (value, text) in ticks {
                    @let y = n(self.place(value));
                    @let room = (text.chars().count() > if text.contains('e') { 6 } else { 7 }).then_some("62");
                    path d={ "M" (n(LEFT)) " " (y) "H" (n(WIDTH - RIGHT)) } {}
                    text x=(n(LEFT - 6.0)) y=(y) dy=".32em" text-anchor="end"
                        textLength=[room] lengthAdjust=[room.map(|_| "spacingAndGlyphs")] { (text) }
                }
                text x="4" y="12" { (unit.as_deref().unwrap_or("no unit")) }
                @if self.is_cut() {
                    path class="cut" d={ "M" (n(LEFT - 5.0)) " " (n(HEIGHT - BOTTOM - 8.0)) "l10 -5m-10 10l10 -5" } {}
                    text x="4" y=(n(HEIGHT - 4.0)) class="cut" { "not from 0" }
                }
            }
        }
    }
}

/// Returns a length as SVG takes it: to a tenth.
pub(super) fn n(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Returns 1, 2 or 5 times a power of ten, at least `wanted`.
fn round_step(wanted: f64) -> f64 {
    if !wanted.is_finite() || wanted <= 0.0 {
        return 1.0;
    }
    let power = stats::power_of_ten(stats::log10(wanted).floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|of| of * power).find(|step| *step >= wanted * 0.999).unwrap_or(wanted)
}

fn magnitude(size: f64) -> (f64, &'static str) {
    match size {
        size if (1e12..1e15).contains(&size) => (1e12, " T"),
        size if (1e9..1e12).contains(&size) => (1e9, " G"),
        size if (1e6..1e9).contains(&size) => (1e6, " M"),
        size if (1e4..1e6).contains(&size) => (1e3, " k"),
        _ => (1.0, ""),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 8")]
fn decimals(step: f64) -> usize {
    if step <= 0.0 { 0 } else { (-stats::log10(step * 1.001).floor()).clamp(0.0, 8.0) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64]) -> String {
        let axis = Axis::of(values.iter().copied());
        let texts: Vec<String> = axis.ticks(None).0.into_iter().map(|(_, text)| text).collect();
        format!("{}{}", texts.join(" | "), if axis.is_cut() { " cut" } else { "" })
    }

    #[test]
    fn axes_have_round_numbers_and_say_where_they_do_not_begin_at_zero() {
        assert_eq!(ticks(&[1_286_000.0, 1_494_000.0]), "1.3 M | 1.4 M | 1.5 M cut");
        assert_eq!(ticks(&[3.0, 10.0]), "0 | 5 | 10");
        assert_eq!(ticks(&[0.0011, 0.0013]), "0.00110 | 0.00115 | 0.00120 | 0.00125 | 0.00130 cut");
        assert_eq!(ticks(&[5.0, 5.0]), "4.8 | 5.0 | 5.2 cut");
        assert_eq!(ticks(&[-3.0, 4.0]), "−2 | 0 | 2 | 4");
        assert_eq!(ticks(&[0.0]), "−1.0 | −0.5 | 0.0 | 0.5 | 1.0");
        assert_eq!(ticks(&[]), "0.0 | 0.5 | 1.0");
        assert_eq!(ticks(&[1e308, 1e308]), "9.50e307 | 1.00e308 | 1.05e308 cut");
    }

    #[test]
    fn known_units_have_the_prefix_of_their_size() {
        for (values, unit, expected) in [
            ([6.1e7, 6.3e7], Some("ns"), "61.0 | 61.5 | 62.0 | 62.5 | 63.0 ms"),
            ([1_286_000.0, 1_494_000.0], Some("tokens/s"), "1.3 | 1.4 | 1.5 Mtokens/s"),
            ([20_000.0, 40_000.0], Some("MiB"), "20 k | 25 k | 30 k | 35 k | 40 k MiB"),
            ([20_000.0, 40_000.0], Some("rows"), "20 k | 25 k | 30 k | 35 k | 40 k rows"),
            ([20.0, 40.0], Some("ns"), "20 | 25 | 30 | 35 | 40 ns"),
        ] {
            let (ticks, unit) = Axis::of(values.into_iter()).ticks(unit);
            let texts: Vec<String> = ticks.into_iter().map(|(_, text)| text).collect();
            assert_eq!(format!("{} {}", texts.join(" | "), unit.unwrap_or_default()), expected);
        }
    }

    #[test]
    fn no_value_leaves_the_drawing() {
        for values in
            [[1e308, -1e308], [5e-324, 1e308], [1e-300, 2e-300], [5e-324, 5e-324], [-0.0, 0.0], [f64::NAN, 1.0]]
        {
            let axis = Axis::of(values.into_iter());
            for value in values.into_iter().chain([0.0, 1e308, -1e308]).filter(|value| value.is_finite()) {
                let place = axis.place(value);
                assert!((TOP..=HEIGHT - BOTTOM).contains(&place), "{values:?}: {value} at {place}");
            }
            let ticks = axis.ticks(None).0;
            assert!(ticks.len() < 13 && ticks.iter().all(|(value, _)| value.is_finite()));
        }
    }
}
