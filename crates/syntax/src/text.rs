//! Source texts, byte spans into them, the line and column of a byte, and words of a shell.
//!
//! Every later stage describes places as [`Span`]s; only renderers turn them into lines and columns.

use crate::invariant::Invariant as _;
use std::ops::Range;
use std::sync::Arc;

/// Quotes a word so that a shell reads it as one word.
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | ':');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The number of a source inside its [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A byte range inside one source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The source that the range belongs to.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span of `range` in `source`; offsets beyond 4 GiB saturate (sources are at most 4 MiB).
    pub fn new(source: SourceId, range: Range<usize>) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { source, start: narrow(range.start), end: narrow(range.end) }
    }

    /// Returns the span as a range of `usize`, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One input file: its path as shown to people, and its text with `\n` line ends and without a leading byte order mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Path relative to the project root, with `/` separators.
    pub path: String,
    /// The text that all spans refer to.
    pub text: String,
    /// Offset of the first byte that is not UTF-8, if any; `text` then holds replacement characters from there on.
    pub invalid_utf8: Option<usize>,
    line_starts: Vec<u32>,
}

/// A place as people count it: both numbers start at 1, columns count Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in Unicode scalar values.
    pub column: usize,
}

impl Source {
    /// Decodes `bytes`: drops a leading byte order mark and turns `\r\n` into `\n`, so that one text on two systems has one meaning.
    pub fn new(path: impl Into<String>, bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let invalid_utf8 = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to());
        let decoded = String::from_utf8_lossy(bytes);
        let invalid_utf8 = invalid_utf8.map(|at| {
            at - bytes.iter().take(at).zip(bytes.iter().skip(1)).filter(|pair| *pair == (&b'\r', &b'\n')).count()
        });
        let text = if decoded.contains("\r\n") { decoded.replace("\r\n", "\n") } else { decoded.into_owned() };
        let mut line_starts = vec![0];
        line_starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n')
                .map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)),
        );
        Self { path: path.into(), text, invalid_utf8, line_starts }
    }

    /// Returns the position of byte `offset`, clamped to the text.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start as usize <= offset).max(1);
        let start = self.line_starts.get(line - 1).map_or(0, |start| *start as usize);
        let column = self.text.get(start..offset).map_or(1, |before| before.chars().count() + 1);
        Position { line, column }
    }

    /// Returns the text of `span`, which is of this source.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).expected("a span between characters of its source")
    }

    /// Returns the place of a line of a scalar, from 1, without its indentation; none if it is not a literal block (`|`).
    pub fn line_of_block(&self, span: Span, line: usize) -> Option<Span> {
        let before = self.text.get(..span.range().start)?.trim_end();
        let indicator = before.trim_end_matches(|c: char| matches!(c, '+' | '-') || c.is_ascii_digit());
        indicator.ends_with(" |").then_some(())?;
        let lines = self.text.get(before.len()..span.range().end)?.split_inclusive('\n');
        let mut start = before.len();
        for (number, text) in lines.enumerate() {
            if number == line {
                let at = start + text.len() - text.trim_start().len();
                return (!text.trim().is_empty()).then(|| Span::new(span.source, at..at + text.trim().len()));
            }
            start += text.len();
        }
        None
    }
}

/// All sources of one compilation, in a fixed order.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Arc<Source>>,
}

impl From<Source> for SourceMap {
    fn from(source: Source) -> Self {
        Self { sources: vec![Arc::new(source)] }
    }
}

impl SourceMap {
    /// Adds a source and returns its number.
    pub fn add(&mut self, source: Source) -> SourceId {
        let id = SourceId(u32::try_from(self.sources.len()).expected("a number for each source"));
        self.sources.push(Arc::new(source));
        id
    }

    /// Replaces the source numbered `id` with another text; spans of the old text lose their meaning.
    pub fn replace(&mut self, id: SourceId, source: Source) {
        *self.sources.get_mut(id.0 as usize).expected("a source of this number") = Arc::new(source);
    }

    /// Returns the source numbered `id` to keep: as long as it is kept, it is the same text as another one of this map only if both are one.
    pub fn shared(&self, id: SourceId) -> Option<&Arc<Source>> {
        self.sources.get(id.0 as usize)
    }

    /// Returns the source numbered `id`, if it is one of this map's.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.shared(id).map(Arc::as_ref)
    }

    /// Returns the text of `span`, whose source is one of this map's.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.source).expected("a span of one of the sources").slice(span)
    }

    /// Returns the source at `path`.
    pub fn at(&self, path: &str) -> Option<(SourceId, &Source)> {
        self.iter().find(|(_, source)| source.path == path)
    }

    /// Iterates over all sources with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        (0..).map(SourceId).zip(self.sources.iter().map(Arc::as_ref))
    }
}

/// Returns true for a character that makes a reader see a line in another order than it has.
pub fn reorders(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns text without what a terminal would obey: control characters, and marks that turn the direction of what follows.
pub fn plain(text: &str) -> String {
    text.chars().map(|letter| if is_order(letter) { '\u{fffd}' } else { letter }).collect()
}

/// Returns the same for a text of several lines, keeping line ends and tabs.
pub fn plain_lines(text: &str) -> String {
    let is_layout = |letter| matches!(letter, '\n' | '\t');
    text.chars().map(|letter| if is_order(letter) && !is_layout(letter) { '\u{fffd}' } else { letter }).collect()
}

fn is_order(letter: char) -> bool {
    letter.is_control() || reorders(letter)
}

/// The most that a column of a table is padded to.
pub const WIDEST: usize = 200;

/// Returns rows as lines with aligned columns, without trailing blanks.
pub fn columns<R: AsRef<[String]>>(rows: &[R]) -> Vec<String> {
    let count = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default().min(WIDEST)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &R| {
        let cells = row.as_ref().iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Returns the first names of a list, at most `most`, and how many others there are: `a, b and 3 more`.
pub fn first_of<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let (first, rest) = names.split_at(names.len().min(most));
    let first = first.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if rest.is_empty() { first } else { format!("{first} and {} more", rest.len()) }
}

/// Writes `1203` as `1,203`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let lead = digits.len() % 3;
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && index % 3 == lead {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
