//! Unified diffs from the tree on disk to the wanted one: what `compile --diff` prints, and `git apply` takes.

use std::borrow::Cow;
use std::fmt::Write as _;

use similar::TextDiff;

use super::plan::{Change, Plan, State};
use kubebench_syntax::diag::render::is_hidden;
use kubebench_syntax::path::join;
use kubebench_syntax::redact::without_tokens;
use kubebench_syntax::words::counted;

/// How a diff is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As a patch, byte for byte.
    #[default]
    Plain,
    /// For eyes on a terminal: with control characters made visible.
    Visible,
    /// The same with ANSI colors.
    Ansi,
}

const RESET: &str = "\x1b[0m";
const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";

impl Plan<'_> {
    /// Returns the difference between the disk and the wanted tree; edited files count, foreign files do not.
    pub fn diff(&self, output_dir: &str, style: Style) -> String {
        let mut text = String::new();
        for change in &self.changes {
            text.push_str(&of_change(change, output_dir, style));
        }
        text
    }
}

fn of_change(change: &Change<'_>, output_dir: &str, style: Style) -> String {
    let path = join(output_dir, change.path);
    let (a, b) = (format!("a/{path}"), format!("b/{path}"));
    let new = change.new.unwrap_or_default();
    let old = String::from_utf8_lossy(change.old.unwrap_or_default());
    match change.state {
        State::Missing => unified("", new, "/dev/null", &b, style),
        State::Stale | State::Edited { .. } => unified(&old, new, &a, &b, style),
        State::Orphan | State::EditedOrphan => unified(&old, "", &a, "/dev/null", style),
        State::LineEndings => paint(&format!("Files {a} and {b} differ only in line ends\n"), style),
        State::Foreign | State::ForeignElsewhere { .. } | State::NotRegular { .. } | State::Unreadable { .. } => {
            String::new()
        }
    }
}

/// As many lines of a difference are in a finding, each of at most as many characters.
const SHORT: (usize, usize) = (10, 160);

/// Returns the first lines that differ between the disk and the wanted tree, for a finding.
pub(super) fn short(change: &Change<'_>) -> String {
    let old = String::from_utf8_lossy(change.old.unwrap_or_default());
    let (lines, width) = SHORT;
    let whole = unified(&old, change.new.unwrap_or_default(), "", "", Style::Plain);
    let is_changed = |line: &&str| line.starts_with(['+', '-']);
    let mut changed: Vec<String> = whole.lines().skip(2).filter(is_changed).map(|line| cut(line, width)).collect();
    let more = changed.len().saturating_sub(lines);
    changed.truncate(lines);
    if more > 0 {
        changed.push(format!("and {}; `kubebench compile --diff` shows all", counted(more, "more line")));
    }
    changed.join("\n")
}

/// Returns a line without what is a secret by its form, as CI systems keep findings, and no longer than `width`.
fn cut(line: &str, width: usize) -> String {
    let line = without_tokens(line);
    if line.chars().count() <= width {
        return line.into_owned();
    }
    line.chars().take(width).chain(['…']).collect()
}

/// Returns the unified diff from `old` to `new` with three lines of context; nothing when they are equal.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str, style: Style) -> String {
    // The crate's own splitting takes a lone carriage return for a line end, which no `patch` does.
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old_lines, &new_lines);
    paint(&diff.unified_diff().header(old_name, new_name).to_string(), style)
}

fn paint(diff: &str, style: Style) -> String {
    if style == Style::Plain {
        return diff.to_owned();
    }
    let mut painted = String::with_capacity(diff.len() * 5 / 4);
    let mut in_hunk = false;
    for line in diff.split_inclusive('\n') {
        let line = line.strip_suffix('\n').unwrap_or(line);
        in_hunk |= line.starts_with("@@");
        let color = match line.bytes().next() {
            Some(b'@') => CYAN,
            Some(b'+') if in_hunk => GREEN,
            Some(b'-') if in_hunk => RED,
            Some(b'+' | b'-' | b'F') if !in_hunk => BOLD,
            _ => "",
        };
        let color = if style == Style::Ansi { color } else { "" };
        let end = if color.is_empty() { "" } else { RESET };
        // Writing to a string cannot fail.
        let _ = writeln!(painted, "{color}{}{end}", visible(line));
    }
    painted
}

/// Spells control characters as `cat -v` does, and others that a reader cannot see by their numbers, so that a file steers neither the
/// terminal nor who reads it.
fn visible(line: &str) -> Cow<'_, str> {
    let steers = |character: char| is_hidden(character) && character != '\t';
    if !line.chars().any(steers) {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len() + 8);
    for character in line.chars() {
        match u8::try_from(character) {
            Ok(code) if steers(character) && code < 0x80 => text.extend(['^', char::from(code ^ 0x40)]),
            _ if steers(character) => text.extend(character.escape_unicode()),
            _ => text.push(character),
        }
    }
    Cow::Owned(text)
}
