//! Reads one log once, as it comes, for everything that is wanted of it.
//!
//! Bytes come in pieces of any size. They are cut into runs of whole lines, freed of terminal codes, and handed to every
//! matcher; what is kept is values, so that a log of ten gigabytes takes no more memory than one of ten lines.

use std::borrow::Cow;

use regex::CaptureLocations;

use super::line::{self, Line};
use super::pattern::{Hit, Pattern};
use super::series::{Series, Window};
use super::tool::{self, LineParser, Report, Tool};

/// A line that is longer is cut.
const MAX_LINE: usize = 16 << 20;
/// A document that is larger is not read.
const MAX_DOCUMENT: usize = 32 << 20;

/// Reads one log.
pub struct LogScan {
    /// What came after the last line end.
    rest: Vec<u8>,
    /// Line ends seen.
    lines: u64,
    bytes: u64,
    matchers: Vec<Matcher>,
    tools: Vec<ToolScan>,
}

/// Looks for one pattern.
pub struct Matcher {
    pattern: Pattern,
    locations: CaptureLocations,
    is_raw: bool,
    series: Series,
    matched: u64,
    no_number: Option<(u64, String)>,
    /// Whether the last run of lines matched so often that looking for candidates costs more than it saves.
    is_dense: bool,
}

/// Reads the output of one tool.
struct ToolScan {
    tool: &'static Tool,
    needles: Option<regex::Regex>,
    parser: Option<Box<dyn LineParser>>,
    /// The document so far; none once it is known that this log holds lines.
    document: Option<Vec<u8>>,
    report: Report,
}

/// What a pattern found in one log.
#[derive(Clone, Debug)]
pub struct PatternOutcome {
    /// The values.
    pub series: Series,
    /// How many lines matched.
    pub matched: u64,
    /// The first match that held no number: its line, and the reason.
    pub no_number: Option<(u64, String)>,
}

/// What a tool's parser found in one log.
#[derive(Debug)]
pub struct ToolOutcome {
    /// What the output says.
    pub report: Report,
    /// The document, where the tool wrote one.
    pub native: Option<String>,
}

/// What one log gave, in the order in which it was asked for.
#[derive(Debug)]
pub struct Scanned {
    /// How many lines the log has.
    pub lines: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Of every pattern.
    pub patterns: Vec<PatternOutcome>,
    /// Of every tool.
    pub tools: Vec<ToolOutcome>,
}

impl Default for LogScan {
    fn default() -> Self {
        Self::new()
    }
}

impl LogScan {
    /// Makes a scan that looks for nothing yet.
    pub fn new() -> Self {
        Self { rest: Vec::new(), lines: 0, bytes: 0, matchers: Vec::new(), tools: Vec::new() }
    }

    /// Looks for `pattern` in lines without launcher prefixes.
    pub fn look_for(&mut self, pattern: &Pattern, window: Window) {
        self.add(pattern, window, false);
    }

    /// Looks for `pattern` in lines as they were printed.
    pub fn look_for_raw(&mut self, pattern: &Pattern, window: Window) {
        self.add(pattern, window, true);
    }

    fn add(&mut self, pattern: &Pattern, window: Window, is_raw: bool) {
        self.matchers.push(Matcher {
            locations: pattern.locations(),
            pattern: pattern.clone(),
            is_raw,
            series: Series::new(window),
            matched: 0,
            no_number: None,
            is_dense: false,
        });
    }

    /// Reads the log as output of `tool`.
    pub fn read_as(&mut self, tool: &'static Tool, window: Window) {
        let needles =
            tool.lines.map(|lines| lines.needles.iter().map(|needle| regex::escape(needle)).collect::<Vec<_>>());
        let needles = needles.filter(|needles| !needles.is_empty());
        self.tools.push(ToolScan {
            tool,
            needles: needles.and_then(|needles| regex::Regex::new(&needles.join("|")).ok()),
            parser: tool.lines.map(|lines| (lines.parser)()),
            document: tool.document.map(|_| Vec::new()),
            report: Report::new(window),
        });
    }

    /// Returns the last value of the pattern that was asked for as number `index`: for people who wait.
    pub fn last_value(&self, index: usize) -> Option<f64> {
        self.matchers.get(index)?.series.values().last().copied()
    }

    /// Takes in the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        for scan in &mut self.tools {
            scan.collect(bytes);
        }
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            self.rest.extend_from_slice(bytes);
            if self.rest.len() >= MAX_LINE {
                self.flush_long_line();
            }
            return;
        };
        let (lines, rest) = bytes.split_at(end + 1);
        if self.rest.is_empty() {
            self.run(lines);
        } else {
            let mut joined = std::mem::take(&mut self.rest);
            joined.extend_from_slice(lines);
            self.run(&joined);
            joined.clear();
            self.rest = joined;
        }
        self.rest.extend_from_slice(rest);
    }

    /// Ends the log.
    pub fn finish(mut self) -> Scanned {
        if !self.rest.is_empty() {
            let rest = std::mem::take(&mut self.rest);
            self.run(&rest);
            self.lines += 1;
        }
        let patterns = self.matchers.into_iter().map(|matcher| PatternOutcome {
            series: matcher.series,
            matched: matcher.matched,
            no_number: matcher.no_number,
        });
        Scanned {
            lines: self.lines,
            bytes: self.bytes,
            patterns: patterns.collect(),
            tools: self.tools.into_iter().map(ToolScan::finish).collect(),
        }
    }

    /// Takes what a progress bar rewrote without ever ending its line, or cuts a line that is too long.
    fn flush_long_line(&mut self) {
        let end = self.rest.iter().rposition(|byte| *byte == b'\r').map_or(self.rest.len(), |at| at + 1);
        let keep = self.rest.split_off(end);
        let lines = std::mem::replace(&mut self.rest, keep);
        self.run(&lines);
    }

    /// Hands whole lines to every matcher.
    fn run(&mut self, lines: &[u8]) {
        let clean = line::without_terminal_codes(lines);
        let text = String::from_utf8_lossy(&clean);
        for matcher in &mut self.matchers {
            matcher.run(&text, self.lines + 1);
        }
        for scan in &mut self.tools {
            scan.run(&text, self.lines + 1);
        }
        self.lines += memchr::memchr_iter(b'\n', clean.as_ref()).count() as u64;
    }
}

impl Matcher {
    fn run(&mut self, text: &str, first_line: u64) {
        let mut cursor = Cursor { text, at: 0, number: first_line };
        let (mut looked, mut matched) = (0_u32, 0_u32);
        while cursor.at < text.len() {
            let from = if self.is_dense { Some(cursor.at) } else { self.pattern.next_candidate(text, cursor.at) };
            let Some((number, part)) = from.and_then(|from| cursor.line_at(from)) else { break };
            looked += 1;
            matched += u32::from(self.look_at(number, part));
        }
        self.is_dense = matched > 8 && matched * 2 > looked;
    }

    fn look_at(&mut self, number: u64, part: &str) -> bool {
        let line = if self.is_raw { Line { number, text: part, rank: None } } else { Line::new(number, part) };
        match self.pattern.matches(line.text, &mut self.locations) {
            Some(Hit::Value(value)) => {
                self.matched += 1;
                self.series.push(value.sample(&line));
                true
            }
            Some(Hit::NoNumber(reason)) => {
                self.matched += 1;
                self.no_number.get_or_insert((number, reason));
                true
            }
            None => false,
        }
    }
}

/// Walks over lines, counting them only as far as somebody looks.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    number: u64,
}

impl<'a> Cursor<'a> {
    /// Returns the line around `offset` and its number, and moves behind it.
    fn line_at(&mut self, offset: usize) -> Option<(u64, &'a str)> {
        let bytes = self.text.as_bytes();
        let skipped = bytes.get(self.at..offset)?;
        let start = memchr::memrchr2(b'\n', b'\r', skipped).map_or(self.at, |at| self.at + at + 1);
        self.number += memchr::memchr_iter(b'\n', bytes.get(self.at..start)?).count() as u64;
        let end = memchr::memchr2(b'\n', b'\r', bytes.get(offset..)?).map_or(bytes.len(), |at| offset + at);
        let found = (self.number, self.text.get(start..end)?);
        self.number += u64::from(bytes.get(end) == Some(&b'\n'));
        self.at = end + 1;
        Some(found)
    }
}

impl ToolScan {
    /// Keeps the bytes of what may be a document.
    fn collect(&mut self, bytes: &[u8]) {
        let Some(document) = &mut self.document else { return };
        let was_open = document.trim_ascii_start().len() < 3;
        if document.len() <= MAX_DOCUMENT {
            document.extend_from_slice(bytes);
        }
        // With both forms known, the first visible bytes decide; no line has ended before them.
        if was_open && self.parser.is_some() {
            let begun = document.trim_ascii_start();
            if !(begun.is_empty() || tool::starts_a_document(begun) || begun == b"[") {
                self.document = None;
            }
        }
    }

    fn run(&mut self, text: &str, first_line: u64) {
        if self.document.is_some() {
            return;
        }
        let Some(parser) = &mut self.parser else { return };
        let mut cursor = Cursor { text, at: 0, number: first_line };
        while cursor.at < text.len() {
            let from = match &self.needles {
                Some(needles) => needles.find_at(text, cursor.at).map(|found| found.start()),
                None => Some(cursor.at),
            };
            let Some((number, part)) = from.and_then(|from| cursor.line_at(from)) else { break };
            if !part.is_empty() {
                parser.line(&Line::new(number, part), &mut self.report);
            }
        }
    }

    fn finish(mut self) -> ToolOutcome {
        let Some(document) = self.document.take() else {
            if let Some(parser) = &mut self.parser {
                parser.finish(&mut self.report);
            }
            return ToolOutcome { report: self.report, native: None };
        };
        if document.len() > MAX_DOCUMENT {
            self.report.invalid(format!("the output of {} is larger than {} MiB", self.tool.name, MAX_DOCUMENT >> 20));
            return ToolOutcome { report: self.report, native: None };
        }
        let clean = line::without_terminal_codes(&document);
        let text: Cow<'_, str> = String::from_utf8_lossy(&clean);
        if let Some(read) = self.tool.document {
            read(tool::document_in(&text), &mut self.report);
        }
        let native = (!self.report.withholds_document()).then(|| text.into_owned());
        ToolOutcome { report: self.report, native }
    }
}

#[cfg(test)]
mod tests;
