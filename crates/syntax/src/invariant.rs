//! Invariants: what the code relies on, and no input, machine or user can change.
//!
//! A broken invariant is a bug in Kubebench. It stops the program at its place, instead of continuing with an unintended
//! default: `kubebench` reports it as an internal fault, and code that holds results of runs makes it a result.
//! What a user can get wrong is a finding, and what a machine can is an error; CONTRIBUTING.md has the three side by side.

use std::fmt::Display;

/// A value that must be there.
///
/// ```
/// use kubebench_syntax::invariant::Invariant as _;
///
/// let text = "cpu=4";
/// let equals = text.find('=').unwrap_or(text.len());
/// assert_eq!(text.get(..equals).expected("the place of a character within its text"), "cpu");
/// ```
///
/// ```should_panic
/// use kubebench_syntax::invariant::Invariant as _;
///
/// "4".parse::<u32>().ok().filter(|count| *count < 4).expected("a count below 4");
/// ```
pub trait Invariant {
    /// The value inside.
    type Value;

    /// Returns the value.
    ///
    /// # Panics
    /// With `what` and the place of the call, if there is no value.
    #[track_caller]
    fn expected(self, what: &str) -> Self::Value;
}

impl<T> Invariant for Option<T> {
    type Value = T;

    #[inline]
    fn expected(self, what: &str) -> T {
        match self {
            Some(value) => value,
            None => broken(what),
        }
    }
}

impl<T, E: Display> Invariant for Result<T, E> {
    type Value = T;

    #[inline]
    fn expected(self, what: &str) -> T {
        match self {
            Ok(value) => value,
            Err(error) => broken(&format!("{what}: {error}")),
        }
    }
}

/// Stops the program in a state that must be impossible.
#[track_caller]
#[cold]
#[inline(never)]
#[expect(clippy::panic, reason = "the one place that states what a broken invariant is")]
pub fn broken(what: &str) -> ! {
    panic!("expected {what}")
}

#[cfg(test)]
mod tests;
