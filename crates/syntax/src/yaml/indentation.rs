//! Errors of a scanner whose cause is the indentation of a line: that of the error, or the one above.

use serde_yaml::granit_parser::ErrorKind;

use crate::diag::{Diagnostic, Place, code};
use crate::text::{Source, SourceId, Span};

/// A line that is neither empty nor a comment.
#[derive(Clone, Copy)]
struct Line<'a> {
    start: usize,
    indent: usize,
    text: &'a str,
}

/// Returns the finding for an error of `kind` at `offset` whose cause is indentation.
pub(super) fn explain(id: SourceId, source: &Source, kind: &ErrorKind, offset: usize) -> Option<Diagnostic> {
    let lines = lines(&source.text);
    let at = lines.partition_point(|line| line.start <= offset).checked_sub(1)?;
    let near = lines.get(at.saturating_sub(1)..lines.len().min(at + 2))?;
    if let Some((at, letter)) = near.iter().find_map(|line| other_space(line)) {
        let span = Span::new(id, at..at + letter.len_utf8());
        let message =
            format!("U+{:04X} (a space that YAML does not count) is not allowed in indentation", u32::from(letter));
        return Some(Diagnostic::at(&code::KB0111, span, message).help("write a plain space").fix(span, " "));
    }
    if !is_about_lines(kind) {
        return None;
    }
    let (line, above) = (lines.get(at)?, lines.get(at.checked_sub(1)?)?);
    if line.indent == above.indent || !(line.is_entry() && above.is_entry()) {
        return None;
    }
    let below = lines.get(at + 1).map(|below| below.indent);
    let is_step = |line: &Line<'_>| line.indent.is_multiple_of(2);
    let (odd, other) = match (is_step(line), is_step(above)) {
        (true, false) => (above, line),
        (true, true) if below == Some(line.indent) && line.indent < above.indent => (above, line),
        _ => (line, above),
    };
    // Deeper than a line that has its value already, or between two levels.
    let wanted = if other.opens() { other.indent + 2 } else { nearest(&lines, at, odd, other) };
    let span = |line: &Line<'_>| Span::new(id, line.start + line.indent..line.start + line.indent + line.text.len());
    let message =
        format!("this line is indented by {}, and the one next to it by {}", spaces(odd.indent), other.indent);
    let fault = Diagnostic::at(&code::KB0104, span(odd), message);
    let fault = fault.related(Place::Span(span(other)), "next to it");
    let next = lines.iter().find(|line| line.start > odd.start);
    // What is below a line would have to move with it.
    let fault = if next.is_none_or(|next| next.indent <= odd.indent) {
        fault.likely_fix(Span::new(id, odd.start..odd.start + odd.indent), " ".repeat(wanted))
    } else {
        fault
    };
    Some(if wanted == other.indent {
        fault.help(format!("use {} here, or {} on the other line", spaces(wanted), odd.indent))
    } else {
        fault.help(format!("use {} here", spaces(wanted)))
    })
}

/// Returns the indentation nearest to that of `odd` among the levels that are open above it.
fn nearest(lines: &[Line<'_>], at: usize, odd: &Line<'_>, other: &Line<'_>) -> usize {
    let mut levels = vec![other.indent];
    for line in lines.iter().take(at).rev().filter(|line| line.start != odd.start) {
        if levels.last().is_some_and(|last| line.indent < *last) {
            levels.push(line.indent);
        }
    }
    levels.into_iter().min_by_key(|level| (level.abs_diff(odd.indent), usize::MAX - level)).unwrap_or(other.indent)
}

fn spaces(count: usize) -> String {
    if count == 1 { "1 space".to_owned() } else { format!("{count} spaces") }
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for whole in text.split_inclusive('\n') {
        let indent = whole.len() - whole.trim_start_matches(' ').len();
        let inside = whole.trim_start_matches(' ').trim_end();
        if !inside.is_empty() && !inside.starts_with('#') {
            lines.push(Line { start, indent, text: inside });
        }
        start += whole.len();
    }
    lines
}

/// Returns a character in the indentation of a line that looks like a space and is not one, with its place.
fn other_space(line: &Line<'_>) -> Option<(usize, char)> {
    let first = line.text.chars().next()?;
    let is_other =
        matches!(first, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}');
    is_other.then_some((line.start + line.indent, first))
}

impl Line<'_> {
    /// Whether it is a key, or an element of a list.
    fn is_entry(&self) -> bool {
        self.text.starts_with("- ") || self.text.ends_with(':') || self.text.contains(": ")
    }

    /// Whether its value is on the lines below.
    fn opens(&self) -> bool {
        self.text.ends_with(':')
    }
}

fn is_about_lines(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::InvalidIndentation
            | ErrorKind::SimpleKeyExpected
            | ErrorKind::InvalidSimpleKey
    )
}
