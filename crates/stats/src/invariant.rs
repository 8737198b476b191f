//! Invariants of this crate, which builds on no other: what `kubebench_syntax::invariant` is elsewhere.

/// A value that must be there.
pub(crate) trait Invariant<T> {
    /// Returns the value, or stops the program with `what` and the place of the call.
    #[track_caller]
    fn expected(self, what: &str) -> T;
}

impl<T> Invariant<T> for Option<T> {
    #[inline]
    #[expect(clippy::panic, reason = "the one place that states what a broken invariant is")]
    fn expected(self, what: &str) -> T {
        match self {
            Some(value) => value,
            None => panic!("expected {what}"),
        }
    }
}
