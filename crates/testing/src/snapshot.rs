//! Expected texts for people. `SNAPSHOTS=overwrite cargo test` writes the actual text where `str! {…}` is in the source.
//! Braces keep rustfmt from moving a long text to a line of its own, where snapbox does not find it.
//!
//! A snapshot holds wording alone. Codes, counts, keys and statuses are compared as values, which no command rewrites.

use std::fmt::Display;

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

/// Compares findings: their codes as they are, their messages with snapshots.
#[track_caller]
pub fn assert_findings<C: AsRef<str>, M: Display>(found: &[(C, M)], expected: &[(&str, Snapshot)]) {
    let (codes, messages): (Vec<&str>, Vec<String>) =
        found.iter().map(|(code, message)| (code.as_ref(), message.to_string())).unzip();
    let (expected_codes, snapshots): (Vec<&str>, Vec<Snapshot>) = expected.iter().cloned().unzip();
    assert_eq!(codes, expected_codes, "{messages:#?}");
    assert_texts(&messages, &snapshots);
}
