//! A metric over its sessions: runs, medians, levels, and what happened when.

use maud::{Markup, PreEscaped, html};

use super::{Axis, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, n};
use kubebench_stats as stats;

/// More runs than this are drawn as a band from the least to the greatest.
const MOST_RUNS: usize = 500;
/// More sessions than this share a place on the axis.
const MOST_SESSIONS: usize = 300;
/// How many sessions, the newest ones, say what they are when they are pointed at.
const NAMED: usize = 150;

/// The height of a row of labels, and the width of a letter, on a phone, where letters are large.
const ROW: f64 = 22.0;
const LETTER: f64 = 14.0;
/// The width of a digit elsewhere.
const DIGIT: f64 = 6.2;

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trend<'a> {
    /// The anchor: part of the ids that the drawing needs.
    pub id: &'a str,
    /// What it shows, in one line.
    pub title: String,
    /// What one sees in it.
    pub description: String,
    pub unit: Option<&'a str>,
    /// The sessions, the oldest first.
    pub sessions: Vec<Dot<'a>>,
    /// The levels: from and to which session, and how high.
    pub levels: Vec<(usize, usize, f64)>,
    /// From which session on, and how low and high, nothing has changed that matters.
    pub band: Option<(usize, f64, f64)>,
    /// What happened.
    pub marks: Vec<Mark>,
}

/// One session.
#[derive(Clone, Debug)]
pub(crate) struct Dot<'a> {
    /// When it began.
    pub at: &'a str,
    /// What is said of it.
    pub label: String,
    /// The median of its runs.
    pub median: f64,
    /// The values of its runs.
    pub runs: &'a [f64],
    /// Whether it ran on hardware that was replaced, or is not of the default branch.
    pub standing: Standing,
}

/// What a session is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is judged by.
    Current,
    /// It ran on hardware that was replaced.
    Replaced,
    /// It is not of the default branch.
    Aside,
}

/// Something that happened before a session.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// The session.
    pub at: usize,
    /// What it was.
    pub event: Event,
    /// What is written at it; nothing at what is a point on the axis only.
    pub label: String,
    /// What is said when it is pointed at.
    pub title: String,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A regression that is open.
    Open,
    /// One that is resolved or accepted, or a change below the threshold.
    Resolved,
    /// An improvement, or a change back.
    Better,
    /// The level that begins there was accepted.
    Accepted,
    /// Other hardware from here on.
    Hardware,
    /// A change of something else than the metric.
    Environment,
}

impl Event {
    fn class(self) -> &'static str {
        match self {
            Self::Open => "mark open",
            Self::Resolved | Self::Hardware => "mark",
            Self::Better => "mark better",
            Self::Accepted => "mark ack",
            Self::Environment => "mark env",
        }
    }
}

/// The label of a mark, at its place.
struct Label<'m> {
    mark: &'m Mark,
    x: f64,
    y: f64,
    /// How many rows it is above the first.
    above: usize,
    is_right: bool,
}

impl Label<'_> {
    fn draw(&self) -> Markup {
        html! {
            g class=(self.mark.event.class()) {
                text x=(n(self.x)) y=(n(self.y)) text-anchor=(if self.is_right { "start" } else { "end" }) { (self.mark.label) }
            }
        }
    }
}

impl Trend<'_> {
    /// Draws it.
    pub(crate) fn draw(&self) -> Markup {
        let drawn = self.sessions.iter().flat_map(|dot| dot.runs.iter().copied().chain([dot.median]));
        let band = self.band.into_iter().flat_map(|(_, low, high)| [low, high]);
        let axis = Axis::of(drawn.chain(band));
        let (title, description) = (format!("{}-t", self.id), format!("{}-d", self.id));
        let labels = self.labels();
        let rows = labels.iter().map(|label| label.above).max().unwrap_or_default();
        let more = ROW * rows as f64;
        html! {
            svg.plot viewBox={ "0 " (n(-more)) " " (WIDTH) " " (n(HEIGHT + more)) } role="img" aria-labelledby={ (title) " " (description) } {
                title id=(title) { (self.title) }
                desc id=(description) { (self.description) }
                @if let Some((from, low, high)) = self.band {
                    @let (left, top, bottom) = (self.x(from, -0.5), axis.place(high), axis.place(low));
                    rect.band x=(n(left)) y=(n(top)) width=(n(WIDTH - RIGHT - left)) height=(n((bottom - top).max(0.5))) {}
                }
                (axis.draw(self.unit))
                (self.dates())
                @for mark in &self.marks { (self.mark(mark, &labels)) }
                (self.runs(&axis))
                @for (from, to, level) in &self.levels {
                    path.level d={ "M" (n(self.x(*from, -0.4))) " " (n(axis.place(*level))) "H" (n(self.x(*to, 0.4))) } {}
                }
                (self.medians(&axis))
                @for label in &labels { (label.draw()) }
            }
        }
    }

    /// Returns where the labels of marks are, so that none is over another one: in rows above the plot, and those of what was accepted in
    /// rows below it.
    fn labels(&self) -> Vec<Label<'_>> {
        let unit = self.unit.unwrap_or("no unit").chars().count();
        // The unit is in the first row.
        let mut above = vec![vec![(0.0, 4.0 + unit as f64 * LETTER)]];
        let mut below = Vec::new();
        let mut labels = Vec::new();
        let mut marks: Vec<&Mark> = self.marks.iter().filter(|mark| !mark.label.is_empty()).collect();
        // From right to left: a line that goes up to a higher row passes no label then.
        marks.sort_by_key(|mark| std::cmp::Reverse(mark.at));
        for mark in marks {
            let x = self.x(mark.at, -0.5);
            let width = mark.label.chars().count() as f64 * LETTER;
            let is_right = x + 4.0 + width <= WIDTH;
            let (from, to) = if is_right { (x + 4.0, x + 4.0 + width) } else { (x - 4.0 - width, x - 4.0) };
            let rows = if mark.event == Event::Accepted { &mut below } else { &mut above };
            let is_free = |row: &Vec<(f64, f64)>| row.iter().all(|(own, end)| to <= *own || from >= *end);
            let row = rows.iter().position(is_free).unwrap_or(rows.len());
            if row == rows.len() {
                rows.push(Vec::new());
            }
            rows.iter_mut().skip(row).take(1).for_each(|own| own.push((from, to)));
            let (above, y) = match mark.event {
                Event::Accepted => (0, HEIGHT - BOTTOM - 8.0 - ROW * row as f64),
                _ => (row, TOP - 8.0 - ROW * row as f64),
            };
            labels.push(Label { mark, x: if is_right { x + 4.0 } else { x - 4.0 }, y, above, is_right });
        }
        labels
    }

    /// Returns where a session is, moved by a share of what it has for itself.
    fn x(&self, session: usize, by: f64) -> f64 {
        let room = (WIDTH - LEFT - RIGHT) / self.sessions.len().max(1) as f64;
        LEFT + (session as f64 + 0.5 + by) * room
    }

    fn dates(&self) -> Markup {
        const WANTED: usize = 5;
        const SCALE: &str = "sessions, evenly spaced";
        let last = self.sessions.len().saturating_sub(1);
        let mut places: Vec<usize> = (0..WANTED).map(|at| at * last / (WANTED - 1)).collect();
        places.dedup();
        let day = |at: usize| self.sessions.get(at).and_then(|dot| dot.at.get(..10)).unwrap_or_default();
        let is_one_day = day(0) == day(last);
        let time =
            |at: usize, end: usize| self.sessions.get(at).and_then(|dot| dot.at.get(11..end)).unwrap_or_default();
        let is_one_minute =
            places.iter().zip(places.iter().skip(1)).any(|(one, next)| time(*one, 16) == time(*next, 16));
        let text = |at: usize| match (is_one_day, is_one_minute) {
            (false, _) => day(at),
            (true, false) => time(at, 16),
            (true, true) => time(at, 19),
        };
        html! {
            g.axis {
                @for (order, at) in places.iter().enumerate() {
                    @let class = match *at {
                        at if last > 0 && at == 0 => "first",
                        at if last > 0 && at == last => "last",
                        _ if order % 2 == 1 => "minor",
                        _ => "",
                    };
                    @let (x, half) = (self.x(*at, 0.0), text(*at).len() as f64 * DIGIT / 2.0);
                    path.tick d={ "M" (n(x)) " " (n(HEIGHT - BOTTOM)) "v5" } {}
                    text x=(n(x.min(WIDTH - half))) y=(n(HEIGHT - BOTTOM + 20.0)) text-anchor="middle" class=(class) { (text(*at)) }
                }
                text x=(n(WIDTH - RIGHT)) y=(n(HEIGHT - 4.0)) text-anchor="end" {
                    (SCALE) @if is_one_day { "; all on " (day(0)) ", UTC" }
                }
            }
        }
    }

    fn mark(&self, mark: &Mark, labels: &[Label<'_>]) -> Markup {
        let x = self.x(mark.at, -0.5);
        let label = labels.iter().find(|label| std::ptr::eq(label.mark, mark));
        let top = label.map_or(TOP, |label| label.y + 4.0);
        html! {
            g class=(mark.event.class()) {
                title { (mark.title) }
                @if mark.event == Event::Environment {
                    circle cx=(n(x)) cy=(n(HEIGHT - BOTTOM)) r="4" {}
                } @else if mark.event != Event::Accepted {
                    path d={ "M" (n(x)) " " (n(top)) "V" (n(HEIGHT - BOTTOM)) } {}
                }
            }
        }
    }

    /// Draws the values of runs as points, or how far they reach where they are many.
    fn runs(&self, axis: &Axis) -> Markup {
        let count: usize = self.sessions.iter().map(|dot| dot.runs.len()).sum();
        if count > MOST_RUNS || self.sessions.len() > MOST_SESSIONS {
            let edges: Vec<(f64, f64, f64)> = self.places().into_iter().map(|(x, dots)| reach(x, &dots)).collect();
            let upper = edges.iter().map(|(x, _, high)| (*x, axis.place(*high)));
            let lower = edges.iter().rev().map(|(x, low, _)| (*x, axis.place(*low)));
            return html! { path.reach d={ (line(upper.chain(lower))) "Z" } {} };
        }
        let mut path = String::new();
        for (at, dot) in self.sessions.iter().enumerate() {
            let mut before = None;
            for place in dot.runs.iter().map(|run| axis.place(*run)) {
                // Those of a session are above each other: by how much is shorter than where.
                let step = before.map_or_else(
                    || format!("M{} {}h0", n(self.x(at, 0.0)), n(place)),
                    |before: f64| format!("m0 {}h0", n(place - before)),
                );
                path.push_str(&step);
                before = Some(place);
            }
        }
        html! { path.runs d=(PreEscaped(path)) {} }
    }

    fn medians(&self, axis: &Axis) -> Markup {
        if self.sessions.len() > MOST_SESSIONS {
            let middle = |(x, dots): (f64, Vec<&Dot<'_>>)| {
                (x, axis.place(stats::quantile(dots.iter().map(|dot| dot.median), 0.5)))
            };
            return html! { path.median d=(line(self.places().into_iter().map(middle))) {} };
        }
        let named = self.sessions.len().saturating_sub(NAMED);
        html! {
            @for (standing, class) in [(Standing::Replaced, "median replaced"), (Standing::Current, "median")] {
                path class=(class) d=(line(self.of(standing).map(|(at, dot)| (self.x(at, 0.0), axis.place(dot.median))))) {}
            }
            @for (at, dot) in self.sessions.iter().enumerate() {
                @let class = if dot.standing == Standing::Aside { "dot aside" } else { "dot" };
                circle class=(class) cx=(n(self.x(at, 0.0))) cy=(n(axis.place(dot.median))) r="3" {
                    @if at >= named { title { (dot.label) } }
                }
            }
        }
    }

    fn of(&self, standing: Standing) -> impl Iterator<Item = (usize, &Dot<'_>)> {
        self.sessions.iter().enumerate().filter(move |(_, dot)| dot.standing == standing)
    }

    /// Returns the places on the axis, and the sessions at each.
    fn places(&self) -> Vec<(f64, Vec<&Dot<'_>>)> {
        let by = self.sessions.len().div_ceil(MOST_SESSIONS).max(1);
        let parts = self.sessions.chunks(by).enumerate();
        parts.map(|(at, dots)| (self.x(at * by, (dots.len() - 1) as f64 / 2.0), dots.iter().collect())).collect()
    }
}

fn reach(x: f64, dots: &[&Dot<'_>]) -> (f64, f64, f64) {
    let values = dots.iter().flat_map(|dot| dot.runs.iter().copied().chain([dot.median]));
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    (x, low, high)
}

/// Returns the path through points; nothing where there are none.
pub(super) fn line(points: impl Iterator<Item = (f64, f64)>) -> PreEscaped<String> {
    let mut path = String::new();
    for (x, y) in points {
        path.push_str(&format!("{}{} {}", if path.is_empty() { 'M' } else { 'L' }, n(x), n(y)));
    }
    PreEscaped(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(at: usize, event: Event) -> Mark {
        Mark { at, event, label: format!("+{at}.5 %"), title: String::new() }
    }

    /// The places of labels: row by row, from left to right, with the letters of a phone.
    fn places(trend: &Trend<'_>) -> Vec<(f64, f64, f64)> {
        let end = |label: &Label<'_>| label.mark.label.chars().count() as f64 * LETTER;
        let place = |label: &Label<'_>| {
            let from = if label.is_right { label.x } else { label.x - end(label) };
            (label.y, from, from + end(label))
        };
        let mut places: Vec<(f64, f64, f64)> = trend.labels().iter().map(place).collect();
        places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        places
    }

    #[test]
    fn every_change_has_a_label_and_none_is_over_another_one() {
        let dot = Dot {
            at: "2026-01-01T00:00:00Z",
            label: String::new(),
            median: 1.0,
            runs: &[],
            standing: Standing::Current,
        };
        let marks: Vec<Mark> =
            [(0, Event::Better), (3, Event::Resolved), (4, Event::Open), (5, Event::Hardware), (38, Event::Open)]
                .into_iter()
                .chain([(39, Event::Open), (4, Event::Accepted), (5, Event::Accepted)])
                .map(|(at, event)| mark(at, event))
                .collect();
        let trend = Trend { id: "x", unit: Some("images/s"), sessions: vec![dot; 40], marks, ..Trend::default() };
        let places = places(&trend);
        assert_eq!(places.len(), 8);
        for (one, next) in places.iter().zip(places.iter().skip(1)) {
            assert!(one.0 < next.0 || one.2 <= next.1, "{places:?}");
        }
        assert!(places.iter().all(|(_, from, to)| *from >= 0.0 && *to <= WIDTH), "{places:?}");
        let drawn = trend.draw().into_string();
        let lines = drawn.matches("<title></title><path").count();
        assert_eq!(lines, 6, "what was accepted is no line: {drawn}");
        assert!(drawn.contains("sessions, evenly spaced; all on 2026-01-01, UTC"), "{drawn}");
    }
}
