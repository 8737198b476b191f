//! The values of one metric in the order in which they were read, and how they become one.

use std::collections::VecDeque;

use crate::spec::v1::metric::{self as wire, Reduce};
use crate::stats::{quantile, sum};

/// Which of the values count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// All.
    #[default]
    All,
    /// Those of these steps, both ends included.
    Steps(u64, u64),
    /// All but the first so many.
    SkipFirst(u64),
    /// The last so many.
    LastN(u64),
}

impl Window {
    /// Returns the window that `wire` describes.
    pub fn of(wire: Option<&wire::Window>) -> Self {
        let Some(wire) = wire else { return Self::All };
        match (wire.steps.as_deref(), wire.skip_first, wire.last_n) {
            (Some([from, to]), ..) => Self::Steps(from.0.into(), to.0.into()),
            (_, Some(count), _) => Self::SkipFirst(count.0.into()),
            (.., Some(count)) => Self::LastN(count.0.into()),
            _ => Self::All,
        }
    }
}

/// One value, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The value; not finite where the tool printed that.
    pub value: f64,
    /// The training step.
    pub step: Option<u64>,
    /// The line, from 1; none in documents.
    pub line: Option<u64>,
    /// The rank that a launcher's prefix named.
    pub rank: Option<u32>,
}

impl Sample {
    /// Makes a sample that has no step, line or rank.
    pub fn of(value: f64) -> Self {
        Self { value, step: None, line: None, rank: None }
    }
}

/// The values of one metric: 8 bytes each.
///
/// Of several ranks in one log only the lowest that printed a value counts: every rank prints the same line, and mixing
/// them would average the same thing several times.
#[derive(Clone, Debug, Default)]
pub struct Series {
    window: Window,
    rank: Option<u32>,
    /// Values read, also outside the window.
    seen: u64,
    without_step: u64,
    values: Vec<f64>,
    first: Option<u64>,
    least: Option<(f64, Option<u64>)>,
    greatest: Option<(f64, Option<u64>)>,
    /// Lines of the last values: one, or as many as the window holds.
    lines: VecDeque<Option<u64>>,
}

/// What became of the values of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reduced {
    /// The value; none without one, or when it is not finite.
    pub value: Option<f64>,
    /// The line that it stands on; that of the last value for a mean and the like.
    pub line: Option<u64>,
    /// How many values counted.
    pub n: u64,
    /// How many of those are not finite.
    pub non_finite: u64,
    /// Why there is no value.
    pub reason: Option<String>,
}

impl Series {
    /// Makes an empty series.
    pub fn new(window: Window) -> Self {
        Self { window, ..Self::default() }
    }

    /// Takes in the next value.
    pub fn push(&mut self, sample: Sample) {
        if self.seen > 0 && sample.rank > self.rank {
            return;
        }
        if sample.rank < self.rank || self.seen == 0 {
            *self = Self { rank: sample.rank, ..Self::new(self.window) };
        }
        self.seen += 1;
        let counts = match self.window {
            Window::All | Window::LastN(_) => true,
            Window::SkipFirst(count) => self.seen > count,
            Window::Steps(from, to) => {
                self.without_step += u64::from(sample.step.is_none());
                sample.step.is_some_and(|step| (from..=to).contains(&step))
            }
        };
        if !counts {
            return;
        }
        if self.values.is_empty() {
            self.first = sample.line;
        }
        self.values.push(sample.value);
        if self.least.is_none_or(|(least, _)| sample.value < least) {
            self.least = Some((sample.value, sample.line));
        }
        if self.greatest.is_none_or(|(greatest, _)| sample.value > greatest) {
            self.greatest = Some((sample.value, sample.line));
        }
        let remembered = if let Window::LastN(count) = self.window { count } else { 1 };
        if self.lines.len() as u64 >= remembered {
            self.lines.pop_front();
        }
        self.lines.push_back(sample.line);
    }

    /// Returns the rank whose values these are.
    pub fn rank(&self) -> Option<u32> {
        self.rank
    }

    /// Returns true when nothing was read, inside the window or outside.
    pub fn is_empty(&self) -> bool {
        self.seen == 0
    }

    /// Returns the values inside the window.
    pub fn values(&self) -> &[f64] {
        match self.window {
            Window::LastN(count) => {
                let from = self.values.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
                self.values.get(from..).unwrap_or_default()
            }
            _ => &self.values,
        }
    }

    /// Makes one value of them.
    pub fn reduce(&self, how: Reduce) -> Reduced {
        let values = self.values();
        let non_finite = values.iter().filter(|value| !value.is_finite()).count() as u64;
        let empty = Reduced { n: values.len() as u64, non_finite, ..Reduced::default() };
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return Reduced { reason: Some(self.why_empty()), ..empty };
        };
        let last_line = self.lines.back().copied().flatten();
        let first_line =
            if let Window::LastN(_) = self.window { self.lines.front().copied().flatten() } else { self.first };
        let single = match how {
            Reduce::First => Some((*first, first_line)),
            Reduce::Last => Some((*last, last_line)),
            _ => None,
        };
        if let Some((value, line)) = single {
            let reason = (!value.is_finite()).then(|| format!("the {} value is {}", word(how), spelled(value)));
            return Reduced { value: Some(value).filter(|value| value.is_finite()), line, reason, ..empty };
        }
        if non_finite > 0 {
            let odd = values.iter().copied().find(|value| !value.is_finite()).map_or("nan", spelled);
            let reason = format!("{non_finite} of {} values are not finite, such as {odd}", values.len());
            return Reduced { line: last_line, reason: Some(reason), ..empty };
        }
        let windowed = matches!(self.window, Window::LastN(_));
        let line_of =
            |extreme: Option<(f64, Option<u64>)>| if windowed { last_line } else { extreme.and_then(|(_, line)| line) };
        let (value, line) = match how {
            Reduce::Min => (values.iter().copied().fold(f64::INFINITY, f64::min), line_of(self.least)),
            Reduce::Max => (values.iter().copied().fold(f64::NEG_INFINITY, f64::max), line_of(self.greatest)),
            Reduce::Sum => (sum(values), last_line),
            Reduce::Mean => (sum(values) / values.len() as f64, last_line),
            Reduce::Median | Reduce::All => (quantile(values, 0.5), last_line),
            Reduce::P99 => (quantile(values, 0.99), last_line),
            Reduce::First | Reduce::Last => return empty,
        };
        let reason = (!value.is_finite()).then(|| "the result is beyond the range of numbers".to_owned());
        Reduced { value: Some(value).filter(|value| value.is_finite()), line, reason, ..empty }
    }

    fn why_empty(&self) -> String {
        match self.window {
            _ if self.seen == 0 => "no value was found".to_owned(),
            Window::Steps(..) if self.without_step == self.seen => {
                format!("{} values were found, none with a step: the window counts steps", self.seen)
            }
            Window::Steps(from, to) => format!("none of {} values is of steps {from} to {to}", self.seen),
            Window::SkipFirst(count) => format!("the window skips the first {count}, and there are {}", self.seen),
            Window::All | Window::LastN(_) => "no value was found".to_owned(),
        }
    }
}

fn word(how: Reduce) -> &'static str {
    if how == Reduce::First { "first" } else { "last" }
}

/// Spells a value that is not finite.
pub fn spelled(value: f64) -> &'static str {
    match value {
        value if value.is_nan() => "nan",
        value if value > 0.0 => "inf",
        _ => "-inf",
    }
}
