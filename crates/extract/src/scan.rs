//! Reads one log once, as it comes, for everything that is wanted of it.
//!
//! Bytes come in pieces of any size. They are cut into runs of whole lines, freed of terminal codes, and handed to every
//! matcher; what is kept is values, so that a log of ten gigabytes takes no more memory than one of ten lines.

use std::borrow::Cow;

use super::json_document;
use super::line;
use super::lines::{Lines, Part, Place, refuse_utf_16};
use super::partial::{self, Partial};
use super::pattern::{Groups, Hit, Pattern};
use super::room::Room;
use super::series::{Reading, Series, Window};
use super::tool::{LineParser, Report, Tool};
use kubebench_format::spec::v1::metric::Reports;
use kubebench_syntax::invariant::Invariant as _;

/// A line that is longer is cut.
const MAX_LINE: usize = 4 << 20;
/// So far before its end a blank is looked for, so that no number is cut.
const NEAR_CUT: usize = 64 << 10;
/// How much is read in one go: as much as the processor's caches hold.
const BLOCK: usize = 256 << 10;
/// A shorter text does not show how dense a log is.
const TELLING: usize = 4 << 10;
/// A document that is larger is not read.
const MAX_DOCUMENT: usize = 32 << 20;

/// The mark that some programs put at the beginning of UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads one log.
pub struct LogScan {
    /// What came after the last line end.
    rest: Vec<u8>,
    /// Behind what every matcher has seen.
    place: Place,
    bytes: u64,
    is_utf_16: bool,
    partial: Partial,
    /// Memory for text without terminal codes.
    clean: Vec<u8>,
    matchers: Vec<Matcher>,
    tools: Vec<ToolScan>,
    room: Room,
}

/// Looks for one pattern.
pub(crate) struct Matcher {
    pattern: Pattern,
    groups: Groups,
    is_raw: bool,
    series: Series,
    matched: u64,
    /// Whether so many lines of the last block matched that looking for candidates costs more than it saves.
    is_dense: bool,
}

/// Reads the output of one tool.
struct ToolScan {
    tool: &'static Tool,
    needles: Option<regex::Regex>,
    parser: Option<Box<dyn LineParser>>,
    /// The document so far; none once it is known that this log consists of lines.
    document: Option<Vec<u8>>,
    /// How many bytes at its beginning are blanks.
    blank: usize,
    report: Report,
}

/// What a pattern found in one log.
#[derive(Clone, Debug)]
pub struct PatternOutcome {
    /// The values.
    pub series: Series,
    /// How many lines matched.
    pub matched: u64,
}

/// What a tool's parser found in one log.
#[derive(Debug)]
pub struct ToolOutcome {
    /// What the output says.
    pub report: Report,
    /// The document, where the tool wrote one.
    pub native: Option<String>,
}

/// The results of one log, in the order of the requests.
#[derive(Debug)]
pub struct Scanned {
    /// How many lines the log has.
    pub lines: u64,
    /// Whether the last line is incomplete.
    pub ends_open: bool,
    /// How many bytes.
    pub bytes: u64,
    /// Whether it is UTF-16, which is not read.
    pub is_utf_16: bool,
    pub patterns: Vec<PatternOutcome>,
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
        Self::within(&Room::default())
    }

    /// Makes one whose values share `room` with those of other logs.
    pub fn within(room: &Room) -> Self {
        Self {
            rest: Vec::new(),
            place: Place::default(),
            bytes: 0,
            is_utf_16: false,
            partial: Partial::default(),
            clean: Vec::new(),
            matchers: Vec::new(),
            tools: Vec::new(),
            room: room.clone(),
        }
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
            groups: pattern.groups(),
            pattern: pattern.clone(),
            is_raw,
            series: Series::new(window).within(&self.room),
            matched: 0,
            is_dense: false,
        });
    }

    /// Reads the log as output of `tool`.
    pub fn read_as(&mut self, tool: &'static Tool, window: Window, reports: Reports) {
        let needles =
            tool.lines.map(|lines| lines.needles.iter().map(|needle| regex::escape(needle)).collect::<Vec<_>>());
        let needles = needles.filter(|needles| !needles.is_empty());
        self.tools.push(ToolScan {
            tool,
            needles: needles.and_then(|needles| regex::Regex::new(&needles.join("|")).ok()),
            parser: tool.lines.map(|lines| (lines.parser)()),
            document: tool.document.map(|_| Vec::new()),
            blank: 0,
            report: Report::new(window, reports, &self.room),
        });
    }

    /// Returns the last value of the pattern number `index`, to show progress.
    pub(crate) fn last_value(&self, index: usize) -> Option<f64> {
        self.matchers.get(index)?.series.last()
    }

    /// Returns the room that its values share with those of other logs.
    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.bytes == 0 {
            self.is_utf_16 = refuse_utf_16(bytes).is_err();
        }
        self.bytes += bytes.len() as u64;
        for scan in &mut self.tools {
            scan.collect(bytes);
        }
        bytes.chunks(BLOCK).for_each(|block| self.feed_block(block));
    }

    fn feed_block(&mut self, mut block: &[u8]) {
        if !self.partial.has_begun() {
            self.rest.extend_from_slice(block);
            if self.rest.len() >= partial::LONGEST_PREFIX {
                let begin = without_mark(std::mem::take(&mut self.rest));
                self.partial.begin(&begin);
                self.feed_block(&begin);
            }
            return;
        }
        if !self.rest.is_empty() {
            let end = self.line_end(block, memchr::memchr2, memchr::memchr);
            let (head, tail) = block.split_at(end.unwrap_or(block.len()));
            self.rest.extend_from_slice(head);
            self.cut_long_line();
            if end.is_none() {
                return;
            }
            let line = std::mem::take(&mut self.rest);
            self.run(&line);
            self.rest = line;
            self.rest.clear();
            block = tail;
        }
        let end = self.line_end(block, memchr::memrchr2, memchr::memrchr).unwrap_or(0);
        let (lines, rest) = block.split_at(end);
        self.run(lines);
        self.rest.extend_from_slice(rest);
    }

    /// Returns where the first or last line ends in `block`. A carriage return is an end too: a progress bar may continue for
    /// hours without a line feed.
    fn line_end(
        &self,
        block: &[u8],
        either: fn(u8, u8, &[u8]) -> Option<usize>,
        one: fn(u8, &[u8]) -> Option<usize>,
    ) -> Option<usize> {
        let at = if self.partial.is_container() { one(b'\n', block) } else { either(b'\n', b'\r', block) };
        at.map(|at| at + 1)
    }

    /// Ends the log.
    pub fn finish(mut self) -> Scanned {
        let mut rest = std::mem::take(&mut self.rest);
        if !self.partial.has_begun() {
            rest = without_mark(rest);
            self.partial.begin(&rest);
        }
        self.run(&rest);
        let lines = self.place.lines + u64::from(self.place.is_begun);
        let ends_open = self.place.is_begun && !rest.ends_with(b"\r");
        for begun in self.partial.finish() {
            self.place = Place { lines: lines.saturating_sub(1), ..Place::default() };
            self.look(&begun);
        }
        let patterns = self.matchers.into_iter().map(Matcher::outcome);
        Scanned {
            lines,
            ends_open,
            bytes: self.bytes,
            is_utf_16: self.is_utf_16,
            patterns: patterns.collect(),
            tools: self.tools.into_iter().map(ToolScan::finish).collect(),
        }
    }

    /// Passes on what is too long to be kept, split in the same places whatever pieces it arrived in.
    fn cut_long_line(&mut self) {
        while self.rest.len() > MAX_LINE {
            let mut line = std::mem::take(&mut self.rest);
            let end = cut(line.get(..MAX_LINE).expected("a line that is too long"));
            self.run(line.get(..end).expected("a cut within the line"));
            line.drain(..end);
            self.rest = line;
        }
    }

    /// Processes whole lines, or a part of one that is too long.
    fn run(&mut self, lines: &[u8]) {
        if lines.is_empty() {
            return;
        }
        let joined = self.partial.join(lines, MAX_LINE);
        self.look(&joined);
        // A line of terminal codes is one too.
        self.place.is_begun = !lines.ends_with(b"\n");
    }

    /// Hands text to every matcher.
    fn look(&mut self, lines: &[u8]) {
        let mut clean = std::mem::take(&mut self.clean);
        clean.clear();
        let bytes = if line::strip_into(lines, &mut clean) { clean.as_slice() } else { lines };
        // The lossy conversion works byte by byte.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        for matcher in &mut self.matchers {
            matcher.run(&text, self.place);
        }
        for scan in &mut self.tools {
            scan.run(&text, self.place);
        }
        self.place = self.place.behind(&text);
        self.clean = clean;
    }
}

/// Returns a text without the mark of its byte order.
fn without_mark(mut text: Vec<u8>) -> Vec<u8> {
    if text.starts_with(MARK) {
        text.drain(..MARK.len());
    }
    text
}

/// Returns where a line is cut: after a blank or another end of a number, or between two letters if there is none.
fn cut(line: &[u8]) -> usize {
    let from = line.len().saturating_sub(NEAR_CUT);
    let near = line.get(from..).expected("the end of this line");
    let behind = |ends: &[u8]| near.iter().rposition(|byte| ends.contains(byte)).map(|at| from + at + 1);
    let letter = || line.iter().rposition(|byte| !(0x80..0xc0).contains(byte)).filter(|at| *at > 0);
    behind(b" \t").or_else(|| behind(b"\"'|{}()")).or_else(letter).unwrap_or(line.len())
}

impl Matcher {
    fn run(&mut self, text: &str, place: Place) {
        let mut lines = Lines::new(text, place);
        let mut matched = 0;
        while let Some(at) = lines.next() {
            let at = if self.is_dense { Some(at) } else { self.pattern.candidate(text, at) };
            let Some(part) = at.and_then(|at| lines.part_at(at)) else { break };
            if self.look_at(part) {
                matched += part.text.len() + 1;
            }
        }
        if text.len() >= TELLING {
            self.is_dense = matched > text.len() / 2;
        }
    }

    fn outcome(mut self) -> PatternOutcome {
        self.series.read_by(self.groups.quantities());
        PatternOutcome { series: self.series, matched: self.matched }
    }

    fn look_at(&mut self, part: Part<'_>) -> bool {
        let line = if self.is_raw { part.raw() } else { part.line() };
        let Some(hit) = self.pattern.matches(line.text, &mut self.groups) else { return false };
        self.matched += 1;
        match hit {
            Hit::Value(value) => self.series.push(value.sample(&line)),
            Hit::NoNumber(reason) => self.series.read(Reading::of(line.place(None), Err(reason))),
        }
        true
    }
}

impl ToolScan {
    /// Keeps the bytes of what may be a document.
    fn collect(&mut self, bytes: &[u8]) {
        let Some(document) = &mut self.document else { return };
        let was_open = self.parser.is_some() && begin(document, self.blank).len() < 3;
        if document.len() <= MAX_DOCUMENT {
            document.extend_from_slice(bytes);
        }
        if document.starts_with(MARK) {
            document.drain(..MARK.len());
        }
        while document.get(self.blank).is_some_and(u8::is_ascii_whitespace) {
            self.blank += 1;
        }
        // With both forms known, the first visible bytes decide; no line has ended before them.
        if was_open {
            let begun = begin(document, self.blank);
            if !(begun.is_empty() || json_document::starts_a_document(&begun) || begun == b"[") {
                self.document = None;
            }
        }
    }

    fn run(&mut self, text: &str, place: Place) {
        if self.document.is_some() {
            return;
        }
        let Some(parser) = &mut self.parser else { return };
        let mut lines = Lines::new(text, place);
        while let Some(at) = lines.next() {
            let at = match &self.needles {
                Some(needles) => needles.find_at(text, at).map(|found| found.start()),
                None => Some(at),
            };
            let Some(part) = at.and_then(|at| lines.part_at(at)) else { break };
            if !part.text.is_empty() {
                let line = part.line();
                if !line.is_whole && self.needles.is_some() {
                    self.report.ends_open(line.number);
                }
                parser.line(&line, &mut self.report);
            }
        }
    }

    fn finish(mut self) -> ToolOutcome {
        let Some(document) = self.document.take() else {
            if let Some(parser) = &mut self.parser {
                parser.finish(&mut self.report);
            }
            self.report.finish();
            return ToolOutcome { report: self.report, native: None };
        };
        if document.len() > MAX_DOCUMENT {
            self.report.invalid(format!("the output of {} is larger than {} MiB", self.tool.name, MAX_DOCUMENT >> 20));
            return ToolOutcome { report: self.report, native: None };
        }
        let clean = line::without_terminal_codes(&document);
        let text: Cow<'_, str> = String::from_utf8_lossy(&clean);
        if let Some(read) = self.tool.document {
            let document = json_document::document_in(&text);
            let before = text.get(..text.len() - document.len()).expected("what precedes the document");
            self.report.begins_behind(before);
            self.report.read(read, document);
            self.report.finish();
        }
        let native = (!self.report.withholds_document()).then(|| text.into_owned());
        ToolOutcome { report: self.report, native }
    }
}

/// Returns the first visible bytes of `text`, not counting the first `blank`.
fn begin(text: &[u8], blank: usize) -> Vec<u8> {
    let text = text.get(blank..).expected("what follows the blanks");
    line::without_terminal_codes(text.get(..TELLING).unwrap_or(text)).trim_ascii_start().to_vec()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
