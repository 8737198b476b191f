//! Expected texts for people. `SNAPSHOTS=overwrite cargo test` writes the actual text where `str! {…}` is in the source.
//! Braces keep rustfmt from moving a long text to a line of its own, where snapbox does not find it.
//!
//! A snapshot holds wording alone. Codes, counts, keys and statuses are compared as values, which no command rewrites.
#![expect(clippy::disallowed_methods, reason = "the switch is a variable, and what is expected may be a file")]

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::Path;

use snapbox::IntoData as _;
use snapbox::assert::{Assert, DEFAULT_ACTION_ENV};
pub use snapbox::data::Inline as Snapshot;
pub use snapbox::str;

/// Compares a text with its snapshot, to the letter: there are no wildcards.
#[track_caller]
pub fn assert_text(actual: impl Display, expected: Snapshot) {
    Assert::new().action_env(DEFAULT_ACTION_ENV).eq(actual.to_string(), expected.raw());
}

/// Compares texts with their snapshots; how many there are is no wording.
#[track_caller]
pub fn assert_texts<T: Display>(actual: &[T], expected: &[Snapshot]) {
    let shown: Vec<String> = actual.iter().map(T::to_string).collect();
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
    for (text, snapshot) in shown.iter().zip(expected) {
        assert_text(text, snapshot.clone());
    }
}

/// Whether expected texts are to be overwritten instead of compared.
pub fn overwrites() -> bool {
    std::env::var(DEFAULT_ACTION_ENV).is_ok_and(|mode| mode == "overwrite")
}

/// Compares a committed file with what the program makes of it today.
#[track_caller]
pub fn assert_file(path: &Path, made: &str) {
    // Others read the file meanwhile: it is written only where it differs.
    if !fs::read_to_string(path).is_ok_and(|text| text == made) {
        assert!(overwrites(), "{} is out of date: this test with `SNAPSHOTS=overwrite` writes it", path.display());
        fs::write(path, made).unwrap();
    }
}

/// Compares the line of a text that is most like its snapshot: what a page or a program says among other things.
#[track_caller]
pub fn assert_line(text: impl Display, expected: Snapshot) {
    let (text, wanted) = (text.to_string(), expected.data.trim());
    let line = most_alike(&text, wanted).unwrap_or_else(|| panic!("no line is like `{wanted}` in:\n{text}"));
    assert_text(line, expected);
}

/// The line that has most of the words of `wanted`, the first of several; none if no line has a third of them.
fn most_alike<'t>(text: &'t str, wanted: &str) -> Option<&'t str> {
    let words: BTreeSet<&str> = wanted.split_whitespace().collect();
    let likeness = |line: &str| {
        let common = line.split_whitespace().collect::<BTreeSet<_>>().intersection(&words).count();
        // Of lines with the same words in common the one that holds them together.
        (line == wanted, line.contains(wanted), common)
    };
    let alike = text.lines().map(|line| (likeness(line), line)).rev().max_by_key(|(likeness, _)| *likeness);
    alike.filter(|((_, holds, common), _)| *holds || common * 3 >= words.len()).map(|(_, line)| line)
}

/// A text with names instead of parts that differ from run to run: folders, commits, times.
pub fn named(text: impl Display, parts: &[(&str, &str)]) -> String {
    parts.iter().fold(text.to_string(), |text, (part, name)| text.replace(part, name))
}

/// Compares findings: their codes as they are, their messages with snapshots.
#[track_caller]
pub fn assert_findings<C: AsRef<str>, M: Display>(found: &[(C, M)], expected: &[(&str, Snapshot)]) {
    let (codes, messages): (Vec<&str>, Vec<String>) =
        found.iter().map(|(code, message)| (code.as_ref(), message.to_string())).unzip();
    let (expected_codes, snapshots): (Vec<&str>, Vec<Snapshot>) = expected.iter().cloned().unzip();
    assert_eq!(codes, expected_codes, "{messages:#?}");
    assert_texts(&messages, &snapshots);
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "2 results recorded\nthe result is kept in `team/a`\nthe result is kept\n";

    #[test]
    fn the_line_that_is_equal_comes_first_then_the_one_with_most_words() {
        for (wanted, line) in [
            ("the result is kept", Some("the result is kept")),
            ("is kept in", Some("the result is kept in `team/a`")),
            ("the results are kept in `team/a`", Some("the result is kept in `team/a`")),
            ("2 results stored", Some("2 results recorded")),
            ("there is no such file or folder", None),
            ("nothing of it", None),
        ] {
            assert_eq!(most_alike(TEXT, wanted), line, "{wanted}");
        }
    }

    #[test]
    fn an_empty_snapshot_takes_the_first_line() {
        assert_eq!(most_alike(TEXT, ""), Some("2 results recorded"));
    }
}
