//! Places, resolved against their sources: the path, lines and columns that every format but the snippets prints.

use crate::invariant::Invariant as _;

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::diag::{Diagnostic, Place};
use crate::text::{Position, Source, SourceMap, Span};

/// A resolved place.
#[derive(Clone, Debug)]
pub(super) struct Location<'a> {
    /// The path relative to the project root; empty when the source is unknown.
    pub(super) path: &'a str,
    /// The part of the file that is meant, or nothing for the whole file.
    pub(super) region: Option<Region<'a>>,
    /// The line, in a file whose text is not known here.
    line: Option<usize>,
}

impl<'a> Location<'a> {
    pub(super) fn of(place: &'a Place, sources: &'a SourceMap) -> Self {
        match place {
            Place::Span(span) => {
                let region = Region::shown(*span, sources);
                Self { path: region.as_ref().map_or("", |region| &region.source.path), region, line: None }
            }
            Place::File(path) => Self { path, region: None, line: None },
            Place::Line(path, line) => Self { path, region: None, line: Some(*line) },
        }
    }

    /// Returns where a reviewer should look: for a finding about a whole file, the source line that explains it.
    pub(super) fn for_review(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Self {
        let explains =
            diagnostic.related.iter().map(|related| &related.place).find(|place| matches!(place, Place::Span(_)));
        let whole_file = matches!(diagnostic.place, Place::File(_));
        Self::of(explains.filter(|_| whole_file).unwrap_or(&diagnostic.place), sources)
    }

    pub(super) fn start(&self) -> Option<Position> {
        self.region.as_ref().map(Region::start).or_else(|| self.start_of_line())
    }

    pub(super) fn end(&self) -> Option<Position> {
        self.region.as_ref().map(Region::end).or_else(|| self.start_of_line())
    }

    fn start_of_line(&self) -> Option<Position> {
        self.line.map(|line| Position { line, column: 1 })
    }
}

/// Bytes of a known source, inside its text and on character borders.
#[derive(Clone, Debug)]
pub(super) struct Region<'a> {
    pub(super) source: &'a Source,
    pub(super) range: Range<usize>,
}

impl<'a> Region<'a> {
    /// Returns the region of `span`, without the line breaks it ends with: those would point at the line after.
    pub(super) fn shown(span: Span, sources: &'a SourceMap) -> Option<Self> {
        let mut region = Self::exact(span, sources)?;
        let text = region.source.text.get(region.range.clone()).expected("a region between characters");
        region.range.end = region.range.start + text.trim_end_matches('\n').len();
        Some(region)
    }

    /// Returns the region of `span` to the byte, for edits.
    pub(super) fn exact(span: Span, sources: &'a SourceMap) -> Option<Self> {
        let source = sources.get(span.source)?;
        let range = span.range();
        let start = character_border(&source.text, range.start);
        let end = character_border(&source.text, range.end).max(start);
        Some(Self { source, range: start..end })
    }

    pub(super) fn start(&self) -> Position {
        self.source.position(self.range.start)
    }

    pub(super) fn end(&self) -> Position {
        self.source.position(self.range.end)
    }
}

fn character_border(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset).rev().find(|at| text.is_char_boundary(*at)).expected("the start of a text, which is a border")
}
