//! What a tool's output says: its metrics, how many of its requests failed, and why the run does not count.
//!
//! An output may contain several reports of the tool: a script ran it several times, or the run was restarted. Of them the last
//! counts, or the first, or each. No value of one report completes another.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{Document, ONE, ToolMetric, find};
use crate::json_document::{self, Documents};
use crate::room::Room;
use crate::series::{Reading, Series, Window};
use kubebench_format::spec::v1::metric::{Caution, Reports};
use kubebench_syntax::invariant::Invariant as _;

/// More reasons of one output say no more.
const MAX_REASONS: usize = 100;
/// So much is kept of what precedes a document.
const MAX_BEFORE: usize = 64 << 10;
/// More reports of one output are left out.
const MAX_REPORTS: usize = 1000;
/// The label that distinguishes reports with the same settings: their order, from 1.
const ORDER: &str = "report";

/// A metric found in a tool's output.
#[derive(Clone, Debug)]
pub struct Found {
    /// The name of the series.
    pub name: String,
    /// The unit as the tool declares it.
    pub unit: String,
    /// Its entry in the table of the tool.
    pub metric: &'static ToolMetric,
    /// What distinguishes it from others of its name: a rate, a job, a parameter.
    pub labels: BTreeMap<String, String>,
    /// The values.
    pub series: Series,
    /// Whether a value was left out because its line did not end, and may have cut it.
    is_cut: bool,
}

/// How many of what a tool attempted failed: requests, or runs of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requests {
    /// What they are called: `requests`, `runs`.
    pub what: &'static str,
    /// Those that did not end well: failed, cancelled, or incomplete.
    pub failed: f64,
    /// All of them.
    pub attempted: f64,
}

/// What a tool reports about its own run that makes its numbers less trustworthy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cautioned {
    /// Which of the known cautions it is.
    pub caution: Caution,
    /// What the tool says.
    pub said: String,
}

/// One report.
#[derive(Clone, Debug, Default)]
struct Part {
    /// What may distinguish it from other reports in the output: the requested settings.
    settings: BTreeMap<String, String>,
    found: Vec<Found>,
    places: BTreeMap<String, BTreeMap<BTreeMap<String, String>, usize>>,
    invalid: Vec<String>,
    requests: Vec<Requests>,
    cautions: Vec<Cautioned>,
    /// What its results are of, where a report has several.
    subjects: BTreeSet<String>,
}

impl Part {
    /// Returns where in `found` the series of that name and these labels is.
    fn place(&self, name: &str, labels: &BTreeMap<String, String>) -> Option<usize> {
        self.places.get(name)?.get(labels).copied()
    }
}

/// What a tool's output says.
#[derive(Clone, Debug, Default)]
pub struct Report {
    window: Window,
    reports: Reports,
    room: Room,
    /// How many reports of the tool began, and the rank that printed them.
    begun: usize,
    rank: Option<u32>,
    /// Whether the current output is of a report that does not count.
    skips: bool,
    current: Part,
    /// The reports before it, where each counts.
    earlier: Vec<Part>,
    withholds_document: bool,
    /// The last line of the log, if it did not end and looks like one of the tool's.
    open_line: Option<u64>,
    /// Whether it contains a value, or possibly half of one.
    open_line_is_read: bool,
    /// The line at which the document begins, and what precedes it.
    first_line: usize,
    before: String,
}

impl Requests {
    /// Says it: `6 of 12 requests failed`.
    pub fn said(&self) -> String {
        format!("{} of {} {} failed", self.failed, self.attempted, self.what)
    }

    /// Returns the share that failed.
    pub fn share(&self) -> f64 {
        self.failed / self.attempted
    }
}

impl Report {
    /// Makes an empty report whose series count the values inside `window` and share `room`.
    pub(crate) fn new(window: Window, reports: Reports, room: &Room) -> Self {
        Self { window, reports, room: room.clone(), first_line: 1, ..Self::default() }
    }

    /// Begins a report of the tool in its output, by `rank`. The requested `settings` may distinguish it from others.
    ///
    /// Each rank of a launcher prints a report of its own: those of the lowest count.
    pub(crate) fn begin(&mut self, rank: Option<u32>, settings: BTreeMap<String, String>) {
        let [new, own] = [rank, self.rank].map(Option::unwrap_or_default);
        if self.begun > 0 && new > own {
            return;
        }
        if self.begun > 0 && new < own {
            let fresh = Self::new(self.window, self.reports, &self.room);
            let Self { withholds_document, open_line, open_line_is_read, .. } = *self;
            *self = Self { withholds_document, open_line, open_line_is_read, ..fresh };
        }
        self.rank = rank;
        self.begun += 1;
        self.skips = match self.reports {
            Reports::First => self.begun > 1,
            Reports::Last => false,
            Reports::Each => self.begun > MAX_REPORTS,
        };
        if self.skips {
            return;
        }
        let before = std::mem::replace(&mut self.current, Part { settings, ..Part::default() });
        if self.reports == Reports::Each && self.begun > 1 {
            self.earlier.push(before);
        }
    }

    /// Records a requested setting of the report that has begun.
    pub(crate) fn setting(&mut self, name: &str, value: &str) {
        if !self.skips {
            self.current.settings.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Returns true when what `rank` prints is of the report that counts.
    fn takes(&self, rank: Option<u32>) -> bool {
        !self.skips && (self.begun == 0 || rank.unwrap_or_default() <= self.rank.unwrap_or_default())
    }

    /// Says what precedes the document.
    pub(crate) fn begins_behind(&mut self, before: &str) {
        self.first_line = before.matches('\n').count() + 1;
        before.get(..before.floor_char_boundary(MAX_BEFORE)).unwrap_or(before).clone_into(&mut self.before);
    }

    /// Returns what precedes the document: warnings of the tool.
    pub(crate) fn before(&self) -> &str {
        &self.before
    }

    /// Adds a value of `metric`.
    pub(crate) fn push(&mut self, metric: &'static ToolMetric, value: impl Into<Reading>) {
        self.push_labeled(metric, &BTreeMap::new(), value);
    }

    /// Adds a value of `metric`, of which there are several, distinguished by `labels`.
    pub(crate) fn push_labeled(
        &mut self,
        metric: &'static ToolMetric,
        labels: &BTreeMap<String, String>,
        value: impl Into<Reading>,
    ) {
        self.push_named(metric, metric.name, labels, value);
    }

    /// Adds a value of `metric`, of whose name the output provides a part.
    pub(crate) fn push_named(
        &mut self,
        metric: &'static ToolMetric,
        name: &str,
        labels: &BTreeMap<String, String>,
        value: impl Into<Reading>,
    ) {
        self.push_in(metric, name, "1", labels, value);
    }

    /// Takes in a value of the first of `metrics` whose form `name` has; the output says that it is in `unit`, unless the metric
    /// has one of its own.
    pub(crate) fn push_found(
        &mut self,
        metrics: &'static [ToolMetric],
        name: &str,
        unit: &str,
        labels: &BTreeMap<String, String>,
        value: impl Into<Reading>,
    ) {
        let known = self.current.place(name, labels).and_then(|index| self.current.found.get(index));
        let known = known.map(|found| found.metric).filter(|known| metrics.iter().any(|one| std::ptr::eq(one, *known)));
        match known.or_else(|| find(metrics, name)) {
            Some(metric) => self.push_in(metric, name, unit, labels, value),
            None => self.invalid(format!("`{name}` is not a metric that is known of this tool")),
        }
    }

    /// Adds a value of `metric` that is called `name`, in the unit of the output unless the metric has one of its own.
    pub(crate) fn push_in(
        &mut self,
        metric: &'static ToolMetric,
        name: &str,
        unit: &str,
        labels: &BTreeMap<String, String>,
        value: impl Into<Reading>,
    ) {
        let value = value.into();
        if !self.takes(value.rank()) {
            return;
        }
        self.open_line_is_read |= self.open_line.is_some() && value.line() == self.open_line;
        if value.is_cut() {
            let known = self.current.place(name, labels).and_then(|index| self.current.found.get_mut(index));
            if let Some(known) = known {
                known.is_cut = true;
            }
            return;
        }
        let unit = metric.unit.unwrap_or(unit);
        // A window is about a series; what a tool reports once has none.
        let window = if metric.headlines == ONE { Window::All } else { self.window };
        let known = self.current.place(name, labels);
        let Part { found, places, .. } = &mut self.current;
        let index = known.unwrap_or_else(|| {
            found.push(Found {
                name: name.to_owned(),
                unit: unit.to_owned(),
                metric,
                labels: labels.clone(),
                series: Series::new(window).within(&self.room),
                is_cut: false,
            });
            let index = found.len() - 1;
            places.entry(name.to_owned()).or_default().insert(labels.clone(), index);
            index
        });
        let found = found.get_mut(index).expected("the index that was found or made above");
        found.series.read(if found.unit == unit { value } else { value.converted(unit, &found.unit) });
    }

    /// Adds how many of the attempted requests failed.
    pub(crate) fn requests(&mut self, failed: f64, attempted: f64) {
        self.attempts("requests", failed, attempted);
    }

    /// Adds how many of the tool's attempts failed.
    pub(crate) fn attempts(&mut self, what: &'static str, failed: f64, attempted: f64) {
        if !self.skips && attempted > 0.0 {
            self.current.requests.push(Requests { what, failed, attempted });
        }
    }

    /// Returns the number of a count of completed or failed requests; one that cannot be read makes the run invalid.
    pub(crate) fn count(&mut self, what: &str, reading: &Reading) -> Option<f64> {
        if let Some(fault) = reading.fault() {
            let place = reading.line().map_or_else(String::new, |line| format!("line {line}: "));
            self.invalid(format!("{place}{what}: {fault}, so it is unknown how many requests failed"));
        }
        reading.value()
    }

    /// Adds what the tool reports about its own run that makes its numbers less trustworthy; each caution once.
    pub(crate) fn caution(&mut self, caution: Caution, said: impl Into<String>) {
        let known = &mut self.current.cautions;
        if !self.skips && !known.iter().any(|one| one.caution == caution) {
            known.push(Cautioned { caution, said: said.into() });
        }
    }

    /// Says that the run does not count, by the tool's own verdict or because its output lacks something required.
    pub(crate) fn invalid(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        let known = &mut self.current.invalid;
        if !self.skips && known.len() < MAX_REASONS && !known.contains(&reason) {
            known.push(reason);
        }
    }

    /// Begins a result of the report that is of `subject`, such as a command. Of two of the same nothing says which one counts.
    pub(crate) fn begin_result(&mut self, subject: &str) {
        if !self.skips && !self.current.subjects.insert(subject.to_owned()) {
            self.invalid(format!("two results are about {subject}, and nothing distinguishes them"));
        }
    }

    /// Reads the JSON documents in `text`; a text that is truncated, or not JSON, does not count.
    pub(super) fn documents(&mut self, text: &str) -> Documents {
        let found = json_document::documents_from(text, self.first_line);
        if let Some(flaw) = &found.flaw {
            self.invalid(flaw.as_str());
        }
        found
    }

    /// Reads the JSON document in `text`; of several the last that is what the tool writes.
    pub(super) fn document(&mut self, text: &str, is_it: impl Fn(&Json) -> bool) -> Json {
        self.documents(text).last(is_it)
    }

    /// Returns the line at which the document begins.
    pub(super) fn first_line(&self) -> usize {
        self.first_line
    }

    /// Reads the document in `text`.
    pub(crate) fn read(&mut self, document: Document, text: &str) {
        match document {
            Document::Text(read) => read(text, self),
            Document::Json { is_it, read } => {
                let found = json_document::documents_from(text, self.first_line);
                let mut ours: Vec<&Json> = found.values.iter().filter(|value| is_it(value)).collect();
                if ours.is_empty() {
                    ours.extend(found.values.last());
                }
                let last = ours.pop().unwrap_or(&Json::Null);
                for document in ours {
                    self.begin(None, BTreeMap::new());
                    read(document, self);
                }
                self.begin(None, BTreeMap::new());
                if let Some(flaw) = &found.flaw {
                    self.invalid(flaw.as_str());
                }
                read(last, self);
            }
        }
    }

    /// Says that the document must not be kept with the metrics: it may contain secrets.
    pub(crate) fn withhold_document(&mut self) {
        self.withholds_document = true;
    }

    /// Returns true when the document must not be kept.
    pub(crate) fn withholds_document(&self) -> bool {
        self.withholds_document
    }

    /// Combines the reports after the output has ended. Where each counts, the requested settings distinguish them, as labels;
    /// reports with the same settings also have a number, in their order.
    pub(crate) fn finish(&mut self) {
        if self.earlier.is_empty() {
            return;
        }
        let mut parts = std::mem::take(&mut self.earlier);
        parts.push(std::mem::take(&mut self.current));
        let mut counts: BTreeMap<BTreeMap<String, String>, usize> = BTreeMap::new();
        for part in &parts {
            *counts.entry(part.settings.clone()).or_default() += 1;
        }
        let mut numbers: BTreeMap<BTreeMap<String, String>, usize> = BTreeMap::new();
        for part in parts {
            let mut labels = part.settings.clone();
            if counts.get(&labels).is_some_and(|count| *count > 1) {
                let number = numbers.entry(labels.clone()).or_default();
                *number += 1;
                labels.insert(ORDER.to_owned(), number.to_string());
            }
            for found in part.found {
                let mut all = labels.clone();
                all.extend(found.labels.clone());
                self.current.found.push(Found { labels: all, ..found });
            }
            part.invalid.into_iter().for_each(|reason| self.invalid(reason));
            self.current.requests.extend(part.requests);
            part.cautions.into_iter().for_each(|one| self.caution(one.caution, one.said));
        }
    }

    /// Drops values if there are too many, after all logs of the run were read.
    pub(crate) fn settle(&mut self) {
        self.current.found.iter_mut().for_each(|found| found.series.settle());
    }

    /// Returns what was found, in the order of its first value.
    pub fn found(&self) -> &[Found] {
        &self.current.found
    }

    /// Returns why the run does not count, as far as the tool says so.
    pub fn reasons(&self) -> &[String] {
        &self.current.invalid
    }

    /// Returns how many of its requests failed, of each report and each part of one that says so.
    pub fn failures(&self) -> &[Requests] {
        &self.current.requests
    }

    /// Returns what the tool says of its own run that makes its numbers less trustworthy.
    pub fn cautions(&self) -> &[Cautioned] {
        &self.current.cautions
    }

    /// Records that the log ends in `line`, which did not end.
    pub(crate) fn ends_open(&mut self, line: u64) {
        self.open_line = Some(line);
    }

    /// Says that a value of `found` may be missing: the log ends in the middle of a line.
    pub fn cut_note(&self, found: &Found) -> Option<String> {
        let line = self.open_line?;
        let is_series = found.metric.headlines != ONE;
        (found.is_cut || is_series && !self.open_line_is_read)
            .then(|| format!("the log ends in line {line}, which may be truncated: its value is left out"))
    }

    /// Says that there are more reports than the one that counts.
    pub(crate) fn note(&self) -> Option<String> {
        let counts = match self.reports {
            Reports::Last => "the last counts",
            Reports::First => "the first counts",
            Reports::Each if self.begun > MAX_REPORTS => "the first 1000 count",
            Reports::Each => return None,
        };
        (self.begun > 1).then(|| format!("{} reports: {counts}, as `report` says", self.begun))
    }
}
