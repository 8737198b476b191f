//! Scalars: spelled as they are, with only the indentation of their further lines changed.

use std::ops::Range;

use super::STEP;
use super::page::{BLANKS, Page};
use crate::invariant::Invariant as _;

impl Page<'_> {
    /// Writes a plain or quoted scalar; YAML gives the indentation of its further lines no meaning.
    pub(super) fn scalar(&mut self, span: Range<usize>, indent: usize) {
        let text = self.source.get(span.clone()).expected("a scalar between characters");
        let quoted = text.starts_with(['"', '\'']);
        for (number, line) in text.split('\n').enumerate() {
            let line = if quoted { line } else { line.trim_end_matches(BLANKS) };
            if number == 0 {
                self.out.push_str(line);
                continue;
            }
            let line = line.trim_start_matches(BLANKS);
            self.out.push('\n');
            if !line.is_empty() {
                self.indent(indent);
                self.out.push_str(line);
            }
        }
        self.at = span.end;
    }

    /// Writes the literal (`|`) or folded (`>`) scalar at `start` whose value is `value`, its lines at `indent`.
    ///
    /// An indentation indicator stays, and its lines then start as far right as it says.
    pub(super) fn block_scalar(&mut self, start: usize, value: &str, indent: usize) -> Option<()> {
        let rest = self.source.get(start..)?;
        let header =
            rest.get(..rest.find(|c: char| !matches!(c, '|' | '>' | '+' | '-' | '0'..='9')).unwrap_or(rest.len()))?;
        let header_end = rest.find('\n').unwrap_or(rest.len());
        let indent = match header.chars().find_map(|c| c.to_digit(10)) {
            Some(digit) => (indent + usize::try_from(digit).ok()?).checked_sub(STEP)?,
            None => indent,
        };
        self.out.push_str(header);
        self.at = start + header.len();
        self.comments_before(start + header_end, indent);
        let lines = self.source.get(start + header_end..)?.strip_prefix('\n').unwrap_or_default();
        let Some(depth) = depth(lines, value) else {
            self.empty_lines(start + header_end, lines, value);
            return Some(());
        };
        if depth == 0 {
            return None;
        }
        let mut end = start + header_end;
        for line in content(lines, depth, header.contains('+')) {
            let text = line.strip_suffix('\n').unwrap_or(line);
            self.out.push('\n');
            if !is_empty_line(text, depth) {
                self.indent(indent);
                self.out.push_str(text.get(depth..)?);
            }
            end += line.len();
        }
        self.at = end;
        Some(())
    }

    /// A block scalar that consists of line breaks.
    fn empty_lines(&mut self, header_end: usize, lines: &str, value: &str) {
        let kept = lines.split_inclusive('\n').take(value.len()).map(str::len);
        if !value.is_empty() {
            self.at = header_end + kept.sum::<usize>();
        }
        self.out.extend(std::iter::repeat_n('\n', value.len()));
    }
}

/// Returns how many spaces of each line are indentation, judged by the first line that shows something;
/// none when all lines are empty.
fn depth(lines: &str, value: &str) -> Option<usize> {
    let leading = |text: &str| {
        let shown = text.find(|c| c != ' ' && c != '\n')?;
        let line = text.get(..shown)?;
        Some(line.len() - line.rfind('\n').map_or(0, |line_break| line_break + 1))
    };
    if let (Some(written), Some(meant)) = (leading(lines), leading(value)) {
        return written.checked_sub(meant);
    }
    let mut pairs = lines.split('\n').zip(value.split('\n'));
    pairs.find(|(_, meant)| !meant.is_empty()).and_then(|(written, meant)| written.len().checked_sub(meant.len()))
}

/// Returns the lines that belong to the scalar; of the empty ones at its end only those that count.
fn content(lines: &str, depth: usize, keep: bool) -> Vec<&str> {
    let mut content: Vec<&str> = lines
        .split_inclusive('\n')
        .take_while(|line| {
            let text = line.strip_suffix('\n').unwrap_or(line);
            is_empty_line(text, depth) || text.len() - text.trim_start_matches(' ').len() >= depth
        })
        .collect();
    let counts =
        |line: &str| !is_empty_line(line.strip_suffix('\n').unwrap_or(line), depth) || keep && line.ends_with('\n');
    while content.pop_if(|line| !counts(line)).is_some() {}
    content
}

fn is_empty_line(text: &str, depth: usize) -> bool {
    text.len() <= depth && text.bytes().all(|byte| byte == b' ')
}
