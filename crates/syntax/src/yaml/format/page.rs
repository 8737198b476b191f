//! The page that is written: a cursor into the source, the comments still to come, and the text so far.

use std::ops::Range;

use super::comment::Speller;
use crate::invariant::Invariant as _;

/// The white space of YAML; other Unicode spaces are content.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];

/// Source and result side by side.
///
/// `at` never moves past a comment that has not been written.
pub(super) struct Page<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
    pub(super) out: String,
    comments: &'s [Range<usize>],
    speller: Speller,
}

impl<'s> Page<'s> {
    pub(super) fn new(source: &'s str, comments: &'s [Range<usize>]) -> Self {
        let out = String::with_capacity(source.len() + source.len() / 8);
        Self { source, at: 0, out, comments, speller: Speller::default() }
    }

    /// Returns the text, ended by a line break.
    pub(super) fn finish(mut self) -> String {
        self.comments_before(usize::MAX, 0);
        self.out.push('\n');
        self.out
    }

    /// Returns the next character from `from` on that is neither white space nor part of a comment.
    pub(super) fn significant(&self, from: usize) -> Option<(usize, char)> {
        let mut at = from;
        let skipped = self.comments.partition_point(|comment| comment.start < from);
        for comment in self.comments.get(skipped..).expected("a partition point") {
            let found = self.visible(at..comment.start);
            if found.is_some() {
                return found;
            }
            at = comment.end;
        }
        self.visible(at..self.source.len())
    }

    fn visible(&self, range: Range<usize>) -> Option<(usize, char)> {
        let text = self.source.get(range.clone())?;
        let (offset, found) = text.char_indices().find(|(_, c)| !c.is_ascii_whitespace())?;
        Some((range.start + offset, found))
    }

    /// Returns the source from the cursor up to `end`.
    pub(super) fn gap(&self, end: usize) -> &'s str {
        self.source.get(self.at..end).expected("what is not written yet")
    }

    /// Returns how many bytes precede `at` on its line.
    pub(super) fn column(&self, at: usize) -> usize {
        let before = self.source.get(..at).expected("an offset between characters");
        before.len() - before.rfind('\n').map_or(0, |line_break| line_break + 1)
    }

    /// Returns true when a comment that is still to be written starts before `end`.
    pub(super) fn comment_waits_before(&self, end: usize) -> bool {
        self.comments.first().is_some_and(|comment| comment.start < end)
    }

    /// Writes the comments before `end`: those on the line of the last token stay there, others get lines of their own.
    ///
    /// Returns true if there was one, which ends the line.
    pub(super) fn comments_before(&mut self, end: usize, indent: usize) -> bool {
        let mut wrote = false;
        while self.comment_waits_before(end) {
            self.comment(indent);
            wrote = true;
        }
        wrote
    }

    /// Ends a block: writes the comments that belong to it because they start at `column` or farther right.
    pub(super) fn closing_comments(&mut self, indent: usize, column: usize) {
        while let Some(comment) = self.comments.first() {
            let gap = self.gap(comment.start);
            let beside = !gap.contains('\n');
            if !is_blank(gap) || !beside && self.column(comment.start) < column {
                break;
            }
            self.comment(indent);
        }
    }

    fn comment(&mut self, indent: usize) {
        let Some((comment, rest)) = self.comments.split_first() else { return };
        if self.gap(comment.start).contains('\n') || self.out.is_empty() {
            if self.line_is_empty_before(comment.start) {
                self.speller.reset();
            }
            self.line_break(comment.start, indent);
        } else {
            self.speller.reset();
            self.out.push_str("  ");
        }
        let text = self.source.get(comment.clone()).expected("comments between characters");
        self.out.push_str(&self.speller.spell(text));
        self.at = comment.end;
        self.comments = rest;
    }

    /// Starts the line of the token at `start`, after the comments before it.
    pub(super) fn start_line(&mut self, start: usize, indent: usize) {
        self.comments_before(start, indent);
        self.line_break(start, indent);
        self.speller.reset();
    }

    /// Breaks the line, and keeps one empty line where the source has some before `start`.
    pub(super) fn line_break(&mut self, start: usize, indent: usize) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.line_is_empty_before(start) {
                self.out.push('\n');
            }
        }
        self.indent(indent);
    }

    pub(super) fn indent(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// A document start marker counts as an empty line: it separates the comments above it.
    fn line_is_empty_before(&self, start: usize) -> bool {
        let gap = self.gap(start);
        let mut lines = gap.split('\n').skip(1).peekable();
        let mut empty = gap.trim_start_matches('\n').starts_with("---");
        while let Some(line) = lines.next() {
            empty |= lines.peek().is_some() && (is_blank(line) || line.starts_with("---"));
        }
        empty
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}
