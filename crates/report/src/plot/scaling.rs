//! How a metric grows with the number of machines: what was measured, and what perfect scaling would be.

use maud::{Markup, html};

use super::trend::line;
use super::{Axis, BOTTOM, HEIGHT, LEFT, RIGHT, WIDTH, n};
use kubebench_results::compare::words;

/// What is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Scaling<'a> {
    /// The anchor.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What is counted on the horizontal axis.
    pub axis: &'a str,
    /// What was measured.
    pub points: Vec<Point>,
}

/// How many there are, how many times better that is than the first, and the interval of that.
pub(crate) type Point = (f64, f64, Option<(f64, f64)>);

impl Scaling<'_> {
    /// Draws it; nothing where there is no line to draw.
    pub(crate) fn draw(&self) -> Markup {
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else { return html! {} };
        let (least, most) = (first.0, last.0);
        let ideal = most / least;
        let reached =
            self.points.iter().map(|(_, value, bounds)| bounds.map_or(*value, |(_, high)| high.min(*value * 2.0)));
        let axis = Axis::of(reached.chain([ideal, 0.0]));
        let x = |count: f64| {
            LEFT + 16.0 + (WIDTH - LEFT - RIGHT - 60.0) * (count - least) / (most - least).max(f64::MIN_POSITIVE)
        };
        let (title, description) = (format!("{}-t", self.id), format!("{}-d", self.id));
        html! {
            svg.plot viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby={ (title) " " (description) } {
                title id=(title) { (self.title) }
                desc id=(description) { (self.description()) }
                (axis.draw(Some("times the first")))
                path.ideal d=(line([(x(least), axis.place(1.0)), (x(most), axis.place(ideal))].into_iter())) { title { "perfect scaling" } }
                path class="curve now" d=(line(self.points.iter().map(|(count, value, _)| (x(*count), axis.place(*value))))) {}
                @for (count, value, bounds) in &self.points {
                    @if let Some((low, high)) = bounds {
                        path.bar d=(line([(x(*count), axis.place(*low)), (x(*count), axis.place(*high))].into_iter())) {}
                    }
                    circle.dot cx=(n(x(*count))) cy=(n(axis.place(*value))) r="4" { title { (words::number(*count)) ": " (words::number(*value)) "×" } }
                    text x=(n(x(*count))) y=(n(HEIGHT - BOTTOM + 20.0)) text-anchor="middle" { (words::number(*count)) }
                }
                text x=(n(WIDTH - RIGHT)) y=(n(HEIGHT - 4.0)) text-anchor="end" { (self.axis) "; dashed: perfect scaling" }
            }
        }
    }

    fn description(&self) -> String {
        let of = |(count, value, _): &Point| format!("{} at {}", words::number(*value), words::number(*count));
        format!("Times better than the first: {}.", self.points.iter().map(of).collect::<Vec<_>>().join(", "))
    }
}
