//! The few characters of a source that a snippet shows: whole lines where they are short, the part around a mark where
//! they are not, and a visible sign for every character that a terminal would obey.
//!
//! The snippet renderer reads its text from end to end, so its cost is that of the excerpt and not of the file.

use std::ops::Range;

use super::super::printable::is_hidden;
use crate::invariant::Invariant as _;
use crate::text::Source;

/// The longest line shown whole, in characters.
const LINE: usize = 120;
/// What stays before a mark when the line's beginning is cut off, in characters.
const BEFORE: usize = 40;
/// The most lines from the first mark to the last.
const LINES: usize = 40;
/// The most bytes from the first mark to the last.
const BYTES: usize = 8_192;
/// A mark over more lines than this is drawn on its first line only.
const TALL: usize = 6;

/// Lines of a source, with marks.
pub(super) struct Excerpt {
    /// The lines, without hidden characters.
    pub(super) text: String,
    /// The number of the first line in its source.
    pub(super) first_line: usize,
    /// The number of the line that the last mark ends on: the widest number that the renderer makes room for.
    pub(super) last_line: usize,
    /// The marks as ranges of `text`, in the order they were given.
    pub(super) marks: Vec<Range<usize>>,
}

impl Excerpt {
    /// Returns the lines of `source` that hold `marks`; a later mark on a long line may fall into what is cut off.
    pub(super) fn of(source: &Source, marks: &[Range<usize>]) -> Self {
        let text = source.text.as_str();
        let marks: Vec<_> = marks.iter().map(|mark| low(text, mark)).collect();
        let first = line_start(text, marks.iter().map(|mark| mark.start).min().unwrap_or(0));
        let last = line_end(text, marks.iter().map(|mark| mark.end).max().unwrap_or(0));

        let mut copy = Copy::default();
        let mut start = first;
        loop {
            let end = line_end(text, start).min(last);
            let focus = marks.iter().flat_map(|mark| [mark.start, mark.end]).find(|at| (start..=end).contains(at));
            copy.line(text, start..end, focus.unwrap_or(start));
            if end >= last {
                break;
            }
            copy.line_break(end);
            start = end + 1;
        }
        if copy.text.ends_with('\n') {
            copy.line_break(last);
        }
        let marks: Vec<_> = marks.iter().map(|mark| copy.find(mark.start)..copy.find(mark.end)).collect();
        let first_line = source.position(first).line;
        let marked = copy
            .text
            .get(..marks.iter().map(|mark| mark.end).max().expected("marks within the copied lines"))
            .unwrap_or_default();
        Self { first_line, last_line: first_line + marked.lines().count().saturating_sub(1), marks, text: copy.text }
    }
}

/// Returns true when both ranges can be marked in one excerpt and a reader would see both.
pub(super) fn fit_together(source: &Source, one: &Range<usize>, other: &Range<usize>) -> bool {
    let text = source.text.as_str();
    let (one, other) = (low(text, one), low(text, other));
    let hull = one.start.min(other.start)..one.end.max(other.end);
    if hull.len() > BYTES {
        return false;
    }
    let between = text.get(hull.clone()).expected("marks between characters");
    let whole = |at: usize| {
        let line = text.get(line_start(text, at)..line_end(text, at)).expected("lines of the text");
        line.chars().nth(LINE).is_none()
    };
    between.matches('\n').count() <= LINES && [one.start, one.end, other.start, other.end].into_iter().all(whole)
}

/// Returns `mark`, or only its first line when it is tall.
fn low(text: &str, mark: &Range<usize>) -> Range<usize> {
    let marked = text.get(mark.clone()).expected("marks between characters");
    match marked.match_indices('\n').nth(TALL - 1) {
        Some(_) => mark.start..line_end(text, mark.start),
        None => mark.clone(),
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |line_break| line_break + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |length| at + length)
}

/// The text of an excerpt in the making.
#[derive(Default)]
struct Copy {
    text: String,
    /// Offsets in the source with their offsets here, ascending.
    offsets: Vec<(usize, usize)>,
}

impl Copy {
    fn line(&mut self, text: &str, line: Range<usize>, focus: usize) {
        let whole = text.get(line.clone()).expected("lines of the text");
        let start = if whole.chars().nth(LINE).is_none() { line.start } else { cut(text, line.start..focus) };
        if start > line.start {
            self.text.push('…');
        }
        let shown = text.get(start..line.end).expected("a cut between characters");
        for (at, character) in shown.char_indices().take(LINE) {
            self.offsets.push((start + at, self.text.len()));
            self.text.push(visible(character));
        }
        if shown.chars().nth(LINE).is_some() {
            self.text.push('…');
        }
    }

    fn line_break(&mut self, at: usize) {
        self.offsets.push((at, self.text.len()));
        self.text.push('\n');
    }

    /// Returns the position of the first copied character at or after `offset`.
    fn find(&self, offset: usize) -> usize {
        let next = self.offsets.partition_point(|(source, _)| *source < offset);
        self.offsets.get(next).map_or(self.text.len(), |(_, here)| *here)
    }
}

/// Returns where to begin a line that is too long, so that its mark is in sight.
fn cut(text: &str, before: Range<usize>) -> usize {
    let prefix = text.get(before.clone()).expected("a mark on its line");
    if prefix.chars().nth(LINE / 2).is_none() {
        return before.start;
    }
    prefix.char_indices().rev().nth(BEFORE - 1).map_or(before.start, |(at, _)| before.start + at)
}

fn visible(character: char) -> char {
    match character {
        '\t' => '\t', // the renderer knows its width
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)).expected("a picture of each control character"),
        '\x7f' => '␡',
        hidden if is_hidden(hidden) => '\u{fffd}',
        other => other,
    }
}
