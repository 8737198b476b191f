//! How latencies are distributed: a value for each share of requests, the last percent as wide as the rest.

use kubebench_stats as stats;
use maud::{Markup, html};

use super::trend::line;
use super::{Axis, BOTTOM, HEIGHT, LEFT, RIGHT, WIDTH, n};

/// The shares that are written below the axis.
const SHARES: [(f64, &str); 6] =
    [(0.0, "min"), (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// What is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Quantiles<'a> {
    /// The anchor.
    pub id: String,
    /// What it shows.
    pub title: String,
    pub unit: Option<&'a str>,
    /// The curves, the one that matters last.
    pub curves: Vec<Curve>,
}

/// One distribution.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub label: String,
    /// Shares between 0 and 1, and the value that each share is at most, in order.
    pub points: Vec<(f64, f64)>,
}

impl Quantiles<'_> {
    /// Draws it.
    pub(crate) fn draw(&self) -> Markup {
        let axis = Axis::of(self.curves.iter().flat_map(|curve| &curve.points).map(|(_, value)| *value).chain([0.0]));
        let last = self.curves.iter().flat_map(|curve| &curve.points).map(|(share, _)| *share).fold(0.9, f64::max);
        let (title, description) = (format!("{}-t", self.id), format!("{}-d", self.id));
        html! {
            svg.plot viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby={ (title) " " (description) } {
                title id=(title) { (self.title) }
                desc id=(description) { (self.description()) }
                (axis.draw(self.unit))
                g.axis {
                    @for (share, text) in SHARES.into_iter().filter(|(share, _)| *share <= last) {
                        text x=(n(x(share, last))) y=(n(HEIGHT - BOTTOM + 20.0))
                            text-anchor=(if share == 0.0 { "start" } else { "middle" }) { (text) }
                    }
                }
                @for (order, curve) in self.curves.iter().enumerate() {
                    @let points = curve.points.iter().map(|(share, value)| (x(*share, last), axis.place(*value)));
                    path class=(if order + 1 == self.curves.len() { "curve now" } else { "curve" }) d=(line(points)) {
                        title { (curve.label) }
                    }
                }
            }
        }
    }

    fn description(&self) -> String {
        let of = |curve: &Curve| {
            let value = |share: f64| curve.points.iter().find(|(own, _)| *own >= share).map(|(_, value)| *value);
            let said = SHARES.iter().filter_map(|(share, name)| {
                Some(format!("{name} {}", kubebench_results::compare::words::value(value(*share)?, self.unit)))
            });
            format!("{}: {}.", curve.label, said.collect::<Vec<_>>().join(", "))
        };
        self.curves.iter().map(of).collect::<Vec<_>>().join(" ")
    }
}

/// Returns where a share is: as far as the share of the rest is small.
fn x(share: f64, last: f64) -> f64 {
    let tail = |share: f64| -stats::log10((1.0 - share).max(1e-5));
    LEFT + (WIDTH - LEFT - RIGHT - 16.0) * tail(share) / tail(last)
}
