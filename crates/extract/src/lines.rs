//! Walks over the lines of a piece of a log, counting them only as far as somebody looks.

use super::line::{Line, without_prefix};
use kubebench_syntax::invariant::Invariant as _;

/// Where in a log a piece of it begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Line ends before it.
    pub(super) lines: u64,
    /// Whether its first line began in an earlier piece.
    pub(super) is_begun: bool,
    /// The rank that the prefix of that line named.
    pub(super) rank: Option<u32>,
}

impl Place {
    /// Returns the place behind `text`, which begins here.
    pub(super) fn behind(self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let lines = self.lines + memchr::memchr_iter(b'\n', bytes).count() as u64;
        let begun = match memchr::memrchr(b'\n', bytes) {
            Some(end) => text.get(end + 1..).expected("what follows a line"),
            None if self.is_begun => return self,
            None => text,
        };
        Self { lines, is_begun: !begun.is_empty(), rank: without_prefix(begun).0 }
    }
}

/// Walks over lines, and over the parts of lines that carriage returns rewrote.
pub(super) struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: u64,
    /// Where the line of `at` starts; none when that is before the text.
    start: Option<usize>,
    place: Place,
}

/// A line, or the part of it between two carriage returns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    number: u64,
    /// As printed, without terminal codes.
    pub(super) text: &'a str,
    /// The rank of the line, where a carriage return or a cut separates this part from its prefix.
    rank: Option<u32>,
    is_whole: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str, place: Place) -> Self {
        Self { text, at: 0, number: place.lines + 1, start: (!place.is_begun).then_some(0), place }
    }

    /// Returns where the next part begins; none at the end.
    pub(super) fn next(&self) -> Option<usize> {
        (self.at < self.text.len()).then_some(self.at)
    }

    /// Returns the part around `offset`, and moves behind it.
    pub(super) fn part_at(&mut self, offset: usize) -> Option<Part<'a>> {
        let bytes = self.text.as_bytes();
        let mut from = self.at;
        let skipped = bytes.get(self.at..offset)?;
        if let Some(end) = memchr::memrchr2(b'\n', b'\r', skipped) {
            from += end + 1;
            let skipped = bytes.get(self.at..from)?;
            if let Some(end) = memchr::memrchr(b'\n', skipped) {
                self.start = Some(self.at + end + 1);
                self.number += memchr::memchr_iter(b'\n', skipped).count() as u64;
            }
        }
        let end = memchr::memchr2(b'\n', b'\r', bytes.get(offset..)?).map_or(bytes.len(), |at| offset + at);
        let rank = match self.start {
            Some(start) if start == from => None,
            Some(start) => without_prefix(self.text.get(start..)?).0,
            None => self.place.rank,
        };
        let is_whole = end < bytes.len();
        let part = Part { number: self.number, text: self.text.get(from..end)?, rank, is_whole };
        self.at = end + 1;
        if bytes.get(end) == Some(&b'\n') {
            self.number += 1;
            self.start = Some(self.at);
        }
        Some(part)
    }
}

impl<'a> Part<'a> {
    /// Returns the part without launcher prefixes.
    pub(super) fn line(self) -> Line<'a> {
        let (rank, text) = without_prefix(self.text);
        Line { number: self.number, text, rank: rank.or(self.rank), is_whole: self.is_whole }
    }

    /// Returns the part as it was printed.
    pub(super) fn raw(self) -> Line<'a> {
        Line { number: self.number, text: self.text, rank: None, is_whole: self.is_whole }
    }
}
/// Refuses a text with the byte order mark of UTF-16, as PowerShell writes it.
pub(crate) fn refuse_utf_16(text: &[u8]) -> Result<(), String> {
    let is_utf_16 = text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff]);
    if is_utf_16 { Err("the text is UTF-16: write it as UTF-8".to_owned()) } else { Ok(()) }
}
