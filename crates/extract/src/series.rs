//! The values of one metric in the order in which they were read, and how they become one.

use std::collections::VecDeque;
use std::sync::Arc;

use super::number;
use super::quantity::Quantities;
use super::room::{FEW, Room};
use super::totals::Totals;
use super::unit_word::UnitWord;
use kubebench_format::spec::v1::metric::{self as wire, Reduce};
use kubebench_stats::quantile;

use kubebench_syntax::text::grouped;
use kubebench_syntax::unit::{Conversion, MetricUnit};

/// How many values are in one piece of memory: with what the allocator adds, a multiple of the size of huge pages.
const CHUNK: usize = (1 << 21) - (1 << 13);

/// The help for more values than are kept.
const FEWER: &str = "choose fewer by `role`, `index` or `window`";
const NO_MEMORY: &str = "or reduce them by `first`, `last`, `min`, `max`, `mean` or `sum`, which keep none";

/// Which of the values count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    #[default]
    All,
    /// Those of these steps, both ends included.
    Steps(u64, u64),
    /// All except the first this many.
    SkipFirst(u64),
    /// The last this many.
    LastN(u64),
}

impl Window {
    /// Returns the window that `wire` describes.
    pub(crate) fn of(wire: Option<&wire::Window>) -> Self {
        let Some(wire) = wire else { return Self::All };
        match (wire.steps.as_deref(), wire.skip_first, wire.last_n) {
            (Some([from, to]), ..) => Self::Steps(from.0.into(), to.0.into()),
            (_, Some(count), _) => Self::SkipFirst(count.0.into()),
            (.., Some(count)) => Self::LastN(count.0.into()),
            _ => Self::All,
        }
    }
}

/// One value, and its place.
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

/// What was read where a value is expected: a number, or something that cannot be read as one.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    sample: Sample,
    fault: Option<Fault>,
}

/// Why what was read is not a number.
#[derive(Clone, Debug)]
enum Fault {
    /// It says something else: `` `n/a` is not a number ``.
    Unreadable(String),
    /// The line did not end, and the number may be what is missing: as good as no value.
    Cut,
}

impl Reading {
    /// Reads `text`, which is where `place` says.
    pub(crate) fn of_text(place: Sample, text: &str) -> Self {
        Self::of(place, number::parse(text))
    }

    /// Takes a number that was read, or why it could not be.
    pub(crate) fn of(place: Sample, read: Result<f64, String>) -> Self {
        match read {
            Ok(value) => Self { sample: Sample { value, ..place }, fault: None },
            Err(reason) => Self { sample: Sample { value: f64::NAN, ..place }, fault: Some(Fault::Unreadable(reason)) },
        }
    }

    /// Returns the same of a line that did not end: what cannot be read may have been cut.
    pub(crate) fn of_open_line(mut self) -> Self {
        self.fault = self.fault.map(|_| Fault::Cut);
        self
    }

    /// Returns the number; none when it cannot be read.
    pub(crate) fn value(&self) -> Option<f64> {
        self.fault.is_none().then_some(self.sample.value)
    }

    /// Returns true when it may have been cut, so that there is no value.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self.fault, Some(Fault::Cut))
    }

    /// Returns the line on which it is.
    pub(crate) fn line(&self) -> Option<u64> {
        self.sample.line
    }

    /// Returns the step that it is of.
    pub(crate) fn step(&self) -> Option<u64> {
        self.sample.step
    }

    /// Returns the rank that printed it.
    pub(crate) fn rank(&self) -> Option<u32> {
        self.sample.rank
    }

    /// Returns why it is not a number.
    pub(crate) fn fault(&self) -> Option<&str> {
        match &self.fault {
            Some(Fault::Unreadable(reason)) => Some(reason),
            Some(Fault::Cut) | None => None,
        }
    }

    /// Returns the same with `change` applied to the number, if there is one.
    pub(crate) fn map(mut self, change: impl FnOnce(f64) -> f64) -> Self {
        self.sample.value = change(self.sample.value);
        self
    }

    /// Returns the same in the unit `wanted`, where it was printed in another one.
    pub(crate) fn converted(self, printed: &str, wanted: &str) -> Self {
        match MetricUnit::of(printed).conversion_to(&MetricUnit::of(wanted)) {
            _ if self.fault.is_some() => self,
            Some(conversion) => self.map(|value| conversion.convert(value)),
            None => {
                let value = self.sample.value;
                let reason = format!("{value} is in `{printed}`, and other values of it are in `{wanted}`");
                Self::of(self.sample, Err(reason))
            }
        }
    }

    /// Returns the same as the value of `step`.
    pub(crate) fn at_step(mut self, step: Option<u64>) -> Self {
        self.sample.step = step;
        self
    }
}

impl From<Sample> for Reading {
    fn from(sample: Sample) -> Self {
        Self { sample, fault: None }
    }
}

impl From<f64> for Reading {
    fn from(value: f64) -> Self {
        Sample::of(value).into()
    }
}

/// The first of the values that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: Option<u64>,
    /// Why it is not a number.
    pub(crate) reason: String,
    /// How many such values there are.
    pub(crate) count: u64,
}

/// The values of one metric: 8 bytes each, and never moved, so that growing needs no more than that.
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
    /// Full chunks, which copies share.
    chunks: Vec<Arc<Vec<f64>>>,
    tail: Vec<f64>,
    /// In place of both, in a window of the last values: each with its line.
    latest: VecDeque<(f64, Option<u64>)>,
    first_line: Option<u64>,
    last_line: Option<u64>,
    least: Option<(f64, Option<u64>)>,
    greatest: Option<(f64, Option<u64>)>,
    unreadable: Option<Unreadable>,
    /// How many of the first values are left out.
    skipped: usize,
    /// Reads values as those of the metric's unit.
    quantities: Quantities,
    /// What this series and others may keep.
    room: Room,
    /// For how many more values it has room.
    left: u64,
    /// What is known of the values once there are too many to keep.
    let_go: Option<LetGo>,
}

/// What is known of values that are not kept.
#[derive(Clone, Copy, Debug)]
enum LetGo {
    /// What needs no memory.
    Totals(Totals),
    /// How many there are: what leaves a window cannot be taken out of a total.
    Count(usize),
}

/// The size, in values, of a value in a window of the last ones, with its line.
const LATEST: u64 = (size_of::<(f64, Option<u64>)>() / size_of::<f64>()) as u64;

/// What became of the values of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reduced {
    /// The value; none without one, or when it is not finite.
    pub value: Option<f64>,
    /// The line that it is on; for a mean or similar, that of the last value.
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

    /// Lets the series share `room` with others.
    #[must_use]
    pub(crate) fn within(self, room: &Room) -> Self {
        Self { room: room.clone(), ..self }
    }

    /// Sets the unit of values to `unit`: those with another of the same dimension are converted.
    #[must_use]
    pub(crate) fn in_unit(self, unit: Option<MetricUnit>) -> Self {
        Self { quantities: Quantities::in_unit(unit), ..self }
    }

    /// Lets the values be those that `quantities` read.
    pub(crate) fn read_by(&mut self, quantities: &Quantities) {
        self.quantities = quantities.clone();
    }

    /// Returns the units from which values were converted.
    pub(crate) fn converted_from(&self) -> impl Iterator<Item = &str> {
        self.quantities.converted_from()
    }

    /// Returns the unit next to the values of a metric without a unit.
    pub(crate) fn printed_unit(&self) -> Option<&str> {
        self.quantities.printed_unit()
    }

    /// Reads a text as a value in the unit of the series; the name of its place may include its unit.
    ///
    /// # Errors
    /// Why it is not a number.
    pub(crate) fn number(&mut self, text: &str, named: Option<UnitWord<'_>>) -> Result<f64, String> {
        self.quantities.read_beside(text, named, "")
    }

    /// Returns the series with every value converted.
    pub(crate) fn converted(&self, conversion: Conversion) -> Self {
        let convert = |values: &Vec<f64>| values.iter().map(|value| conversion.convert(*value)).collect();
        let place = |of: &(f64, Option<u64>)| (conversion.convert(of.0), of.1);
        Self {
            chunks: self.chunks.iter().map(|chunk| Arc::new(convert(chunk))).collect(),
            tail: convert(&self.tail),
            latest: self.latest.iter().map(place).collect(),
            least: self.least.as_ref().map(place),
            greatest: self.greatest.as_ref().map(place),
            unreadable: self.unreadable.clone(),
            quantities: self.quantities.clone(),
            room: self.room.clone(),
            let_go: self.let_go.map(|let_go| match let_go {
                LetGo::Totals(totals) => LetGo::Totals(totals.converted(conversion)),
                LetGo::Count(count) => LetGo::Count(count),
            }),
            ..*self
        }
    }

    /// Adds what was read as the next value. What is unreadable is a value that is not finite: without it, an
    /// older value would take its place.
    pub(crate) fn read(&mut self, reading: Reading) {
        let Reading { sample, fault } = reading;
        if matches!(fault, Some(Fault::Cut)) {
            return;
        }
        if self.take(sample)
            && let Some(Fault::Unreadable(reason)) = fault
        {
            self.unreadable.get_or_insert(Unreadable { line: sample.line, reason, count: 0 }).count += 1;
        }
    }

    /// Adds the next value.
    pub fn push(&mut self, sample: Sample) {
        self.take(sample);
    }

    /// Adds the next value, and returns whether it counts.
    fn take(&mut self, sample: Sample) -> bool {
        // A line without a rank is of the first: launchers name it in some lines alone.
        let [rank, own] = [sample.rank, self.rank].map(Option::unwrap_or_default);
        if self.seen > 0 && rank > own {
            return false;
        }
        if rank < own || self.seen == 0 {
            // The units that were read for the sample belong to it.
            let quantities = std::mem::take(&mut self.quantities);
            *self = Self { rank: sample.rank, quantities, room: self.room.clone(), ..Self::new(self.window) };
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
            return false;
        }
        let Sample { value, line, .. } = sample;
        self.last_line = line;
        if let Window::LastN(count) = self.window {
            self.keep_latest((value, line), count);
            return true;
        }
        if self.chunks.is_empty() && self.tail.is_empty() && self.let_go.is_none() {
            self.first_line = line;
        }
        if self.least.is_none_or(|(least, _)| value < least) {
            self.least = Some((value, line));
        }
        if self.greatest.is_none_or(|(greatest, _)| value > greatest) {
            self.greatest = Some((value, line));
        }
        self.keep(value);
        true
    }

    /// Keeps a value, or what needs no memory of it.
    fn keep(&mut self, value: f64) {
        if self.left == 0 {
            self.take_room(1);
        }
        if let Some(let_go) = &mut self.let_go {
            if let LetGo::Totals(totals) = let_go {
                totals.push(value);
            }
            return;
        }
        self.left -= 1;
        if self.tail.len() == CHUNK {
            let full = std::mem::replace(&mut self.tail, Vec::with_capacity(CHUNK));
            self.chunks.push(Arc::new(full));
        }
        self.tail.push(value);
    }

    /// Keeps one of the last `most` values.
    fn keep_latest(&mut self, place: (f64, Option<u64>), most: u64) {
        let is_full = self.count() as u64 >= most;
        if self.left == 0 && !is_full {
            self.take_room(LATEST);
        }
        if let Some(let_go) = &mut self.let_go {
            if let LetGo::Count(count) = let_go {
                *count += usize::from(!is_full);
            }
            return;
        }
        if is_full {
            self.latest.pop_front();
        } else {
            self.left -= 1;
        }
        self.latest.push_back(place);
    }

    /// Reserves room for more values, each as large as `size` numbers, unless there are too many.
    fn take_room(&mut self, size: u64) {
        if self.let_go.is_none() {
            self.left = self.room.take(self.count() as u64, size);
            self.settle();
        }
    }

    /// Lets go of the values if there are too many, here and in the series that share the room.
    pub(crate) fn settle(&mut self) {
        if self.let_go.is_some() || self.count() as u64 <= FEW || !self.room.is_over() {
            return;
        }
        self.let_go = Some(match self.window {
            Window::LastN(_) => LetGo::Count(self.count()),
            Window::All | Window::Steps(..) | Window::SkipFirst(_) => LetGo::Totals(self.values().collect()),
        });
        (self.chunks, self.tail, self.latest) = Default::default();
    }

    /// Returns true when there are more values than are kept.
    pub(crate) fn is_let_go(&self) -> bool {
        self.let_go.is_some()
    }

    /// Returns the first value that could not be read, where such a value counts.
    pub(crate) fn unreadable(&self) -> Option<&Unreadable> {
        self.unreadable.as_ref().filter(|_| self.has_odd())
    }

    fn has_odd(&self) -> bool {
        match self.let_go {
            Some(LetGo::Totals(totals)) => totals.non_finite > 0,
            Some(LetGo::Count(_)) | None => self.values().any(|value| !value.is_finite()),
        }
    }

    /// Returns the rank whose values these are.
    pub(crate) fn rank(&self) -> Option<u32> {
        self.rank
    }

    /// Returns the line of the last value inside the window.
    pub(crate) fn last_line(&self) -> Option<u64> {
        self.last_line
    }

    /// Returns true when nothing was read, inside the window or outside.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen == 0
    }

    /// Returns the series without the first tenth of its values: at least one, at most ten.
    pub(crate) fn steady(&self) -> Self {
        let count = self.count();
        let skipped = (count / 10).clamp(1, 10).min(count);
        if self.is_let_go() {
            return Self { let_go: Some(LetGo::Count(count - skipped)), ..self.clone() };
        }
        Self { skipped: self.skipped + skipped, ..self.clone() }
    }

    /// Returns the values inside the window; none when there are more than are kept.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = f64> + Clone + '_ {
        let kept = self.chunks.iter().map(|chunk| chunk.as_slice()).chain([self.tail.as_slice()]);
        let all = kept.flatten().copied().chain(self.latest.iter().map(|(value, _)| *value));
        // Not `skip`, which iterates over every value even if there is nothing to skip.
        let mut rest = all;
        if self.skipped > 0 {
            rest.nth(self.skipped - 1);
        }
        rest
    }

    /// Returns how many values are inside the window.
    pub fn count(&self) -> usize {
        match self.let_go {
            Some(LetGo::Totals(totals)) => totals.count.try_into().unwrap_or(usize::MAX),
            Some(LetGo::Count(count)) => count,
            None => self.chunks.len() * CHUNK + self.tail.len() + self.latest.len() - self.skipped,
        }
    }

    /// Returns the value at `index` inside the window, if it is kept.
    pub(crate) fn value(&self, index: usize) -> Option<f64> {
        let index = index + self.skipped;
        let kept = match self.chunks.get(index / CHUNK) {
            Some(chunk) => chunk.get(index % CHUNK),
            None => index.checked_sub(self.chunks.len() * CHUNK).and_then(|at| self.tail.get(at)),
        };
        kept.copied().or_else(|| self.latest.get(index).map(|(value, _)| *value))
    }

    /// Returns the last value inside the window.
    pub fn last(&self) -> Option<f64> {
        match self.let_go {
            Some(LetGo::Totals(totals)) => Some(totals.last),
            Some(LetGo::Count(_)) | None => self.values().next_back(),
        }
    }

    /// Makes one value of them.
    pub fn reduce(&self, how: Reduce) -> Reduced {
        let totals = match self.let_go {
            Some(LetGo::Totals(totals)) => totals,
            Some(LetGo::Count(count)) => {
                let reason = Some(format!("{}; {FEWER}", self.too_many(count as u64)));
                return Reduced { line: self.last_line, reason, ..Reduced::default() };
            }
            None => self.values().collect(),
        };
        let Totals { count, non_finite, .. } = totals;
        let empty = Reduced { n: count, non_finite, ..Reduced::default() };
        if count == 0 {
            return Reduced { reason: Some(self.why_empty()), ..empty };
        }
        let is_single = matches!(how, Reduce::First | Reduce::Last);
        if let Some(odd) = totals.odd.filter(|_| !is_single) {
            let reason = format!("{non_finite} of {count} values are not finite, such as {}", spelled(odd));
            return Reduced { line: self.last_line, reason: Some(reason), ..empty };
        }
        let needs_all = matches!(how, Reduce::Median | Reduce::All | Reduce::Percentile(_));
        if self.is_let_go() && needs_all {
            let reason = format!("{}; {FEWER}, {NO_MEMORY}", self.too_many(count));
            return Reduced { line: self.last_line, reason: Some(reason), ..empty };
        }
        let line_of = |extreme: Option<(f64, Option<u64>)>, value: f64| match extreme {
            Some((_, line)) => line,
            None => self.latest.iter().find(|(latest, _)| latest.total_cmp(&value).is_eq()).and_then(|(_, line)| *line),
        };
        let (value, line) = match how {
            Reduce::First => (totals.first, self.latest.front().map_or(self.first_line, |(_, line)| *line)),
            Reduce::Last => (totals.last, self.last_line),
            Reduce::Min => (totals.least, line_of(self.least, totals.least)),
            Reduce::Max => (totals.greatest, line_of(self.greatest, totals.greatest)),
            Reduce::Sum => (totals.sum.value(), self.last_line),
            Reduce::Mean => (totals.sum.value() / count as f64, self.last_line),
            Reduce::Median | Reduce::All => (quantile(self.values(), 0.5), self.last_line),
            Reduce::Percentile(percentile) => (quantile(self.values(), percentile.share()), self.last_line),
        };
        let reason = match self.let_go {
            _ if !value.is_finite() && is_single => Some(format!("the {} value is {}", word(how), spelled(value))),
            _ if !value.is_finite() => Some("the result is beyond the range of numbers".to_owned()),
            Some(_) => Some(format!("{}, so there are no samples and no quantiles", self.too_many(count))),
            None => None,
        };
        Reduced { value: Some(value).filter(|value| value.is_finite()), line, reason, ..empty }
    }

    /// Says that there are too many values.
    fn too_many(&self, count: u64) -> String {
        let (count, most) = (grouped(count), grouped(self.room.most()));
        format!("none of {count} values is kept: at most {most} are kept for all logs of a run, or for a file")
    }

    fn why_empty(&self) -> String {
        if self.skipped > 0 {
            return format!("of {} steps, none is left after the first {} are skipped", self.skipped, self.skipped);
        }
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
pub(crate) fn spelled(value: f64) -> &'static str {
    match value {
        value if value.is_nan() => "nan",
        value if value > 0.0 => "inf",
        _ => "-inf",
    }
}

#[cfg(test)]
mod tests;
