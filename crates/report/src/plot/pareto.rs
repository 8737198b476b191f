//! Two metrics that pull apart, case by case: which are the best that one can have.

use maud::{Markup, html};

use super::{Axis, BOTTOM, HEIGHT, LEFT, RIGHT, WIDTH, n};
use kubebench_results::compare::words;

/// What is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Pareto {
    /// The anchor.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The metrics across and up, with their units.
    pub axes: (String, String),
    /// The cases: name, values, and whether none is better in both.
    pub points: Vec<(String, f64, f64, bool)>,
}

impl Pareto {
    /// Draws it.
    pub(crate) fn draw(&self) -> Markup {
        let up = Axis::of(self.points.iter().map(|(_, _, y, _)| *y));
        let across = Axis::of(self.points.iter().map(|(_, x, _, _)| *x));
        let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * across.share(value);
        let (title, description) = (format!("{}-t", self.id), format!("{}-d", self.id));
        html! {
            svg.plot viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby={ (title) " " (description) } {
                title id=(title) { (self.title) }
                desc id=(description) { (self.description()) }
                (up.draw(Some(&self.axes.1)))
                g.axis {
                    @for (value, text) in across.ticks(None).0 {
                        text x=(n(x(value))) y=(n(HEIGHT - BOTTOM + 20.0)) text-anchor="middle" { (text) }
                    }
                    text x=(n(WIDTH - RIGHT)) y=(n(HEIGHT - 4.0)) text-anchor="end" {
                        (self.axes.0)
                        @if across.is_cut() { tspan.cut { ", not from 0" } }
                    }
                    @if across.is_cut() {
                        path.cut d={ "M" (n(LEFT + 8.0)) " " (n(HEIGHT - BOTTOM - 5.0)) "l5 10m-10 -10l5 10" } {}
                    }
                }
                @for (name, one, other, is_best) in &self.points {
                    circle class=(if *is_best { "dot best" } else { "dot aside" }) cx=(n(x(*one))) cy=(n(up.place(*other)))
                        r=(if *is_best { "5" } else { "4" }) {
                        title { (name) ": " (words::number(*one)) ", " (words::number(*other)) @if *is_best { ", on the front" } }
                    }
                }
            }
        }
    }

    fn description(&self) -> String {
        let best: Vec<&str> =
            self.points.iter().filter(|(.., is_best)| *is_best).map(|(name, ..)| name.as_str()).collect();
        format!(
            "{} cases by {} and {}; on the front: {}.",
            self.points.len(),
            self.axes.0,
            self.axes.1,
            best.join("; ")
        )
    }
}
