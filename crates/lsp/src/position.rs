//! Lines and columns as a client counts them, and bytes.

use std::ops::Range;

use lsp_types::{Position, PositionEncodingKind, Range as LspRange};

/// What columns count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of two bytes, which every client can.
    Utf16,
}

impl Encoding {
    /// Returns the encoding to use with a client that offers these.
    pub(crate) fn among(offered: &[PositionEncodingKind]) -> Self {
        if offered.contains(&PositionEncodingKind::UTF8) { Self::Utf8 } else { Self::Utf16 }
    }

    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn width(self, letter: char) -> usize {
        match self {
            Self::Utf8 => letter.len_utf8(),
            Self::Utf16 => letter.len_utf16(),
        }
    }
}

/// Where the lines of a text begin. A line ends with `\n`, or with a single `\r`.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
    encoding: Encoding,
}

impl Lines {
    pub(crate) fn of(text: &str, encoding: Encoding) -> Self {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        let ends = |at: &usize| match bytes.get(*at) {
            Some(b'\n') => true,
            Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        starts.extend((0..bytes.len()).filter(ends).map(|at| at + 1));
        Self { starts, encoding }
    }

    /// Returns the byte of `text` at a position, or the nearest one if there is no such position.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        let Some(start) = self.starts.get(line).copied() else { return text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let line = text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']);
        let mut left = usize::try_from(position.character).unwrap_or(usize::MAX);
        for (at, letter) in line.char_indices() {
            let width = self.encoding.width(letter);
            if left < width {
                return start + at;
            }
            left -= width;
        }
        start + line.len()
    }

    /// Returns the position of a byte of `text`.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = text.get(start..offset).unwrap_or_default();
        let column: usize = before.chars().map(|letter| self.encoding.width(letter)).sum();
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: narrow(line), character: narrow(column) }
    }

    pub(crate) fn range(&self, text: &str, range: Range<usize>) -> LspRange {
        LspRange { start: self.position(text, range.start), end: self.position(text, range.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_was_agreed() {
        let text = "a\u{e9}\u{1f600}b\nx\ry";
        for (encoding, column) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4)] {
            let lines = Lines::of(text, encoding);
            let b = text.find('b').unwrap();
            assert_eq!(lines.position(text, b), Position { line: 0, character: column });
            assert_eq!(lines.offset(text, Position { line: 0, character: column }), b);
            assert_eq!(lines.position(text, text.len()), Position { line: 2, character: 1 });
        }
    }

    #[test]
    fn a_position_that_is_not_there_is_the_nearest_one() {
        let text = "a\u{1f600}\nb";
        let lines = Lines::of(text, Encoding::Utf16);
        assert_eq!(lines.offset(text, Position { line: 0, character: 2 }), 1, "within a character");
        assert_eq!(lines.offset(text, Position { line: 0, character: 99 }), 5);
        assert_eq!(lines.offset(text, Position { line: 9, character: 0 }), text.len());
    }
}
