//! How large the regular expressions of a spec may be together: those of `log` and of `keyValue`.
//!
//! It is checked before any expression of a spec or its rules is compiled, with the same result everywhere.

use std::fmt;

use super::pattern::pattern_of_key;
use kubebench_format::schema::pattern::{LARGEST, SMALLER, size};
use kubebench_format::spec::v1::metric as wire;
use kubebench_syntax::text::grouped;

/// The regular expressions of a spec are too large together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The metric that has the largest, by its place in the spec.
    pub metric: usize,
    /// How large that is.
    size: u64,
    /// How large all are.
    total: u64,
    /// How many there are.
    count: u64,
}

impl TooLarge {
    /// Says how large the largest is.
    pub fn largest(&self) -> String {
        format!("this is the largest of {}, with about {} instructions", grouped(self.count), grouped(self.size))
    }

    /// Says what to write instead.
    pub fn help(&self) -> &'static str {
        SMALLER
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (total, most) = (grouped(self.total), grouped(LARGEST));
        write!(
            f,
            "the patterns of the metrics are too large together: they compile to about {total} instructions, of {most} at most"
        )
    }
}

/// Checks that the regular expressions of `metrics` are small enough to be compiled.
///
/// # Errors
/// How large they are.
pub fn check<'m>(metrics: impl IntoIterator<Item = &'m wire::Metric>) -> Result<(), TooLarge> {
    let mut found: Option<TooLarge> = None;
    for (metric, wire) in metrics.into_iter().enumerate() {
        let Some(size) = size_in(&wire.from) else { continue };
        let found = found.get_or_insert(TooLarge { metric, size, total: 0, count: 0 });
        found.total = found.total.saturating_add(size);
        found.count += 1;
        if size > found.size {
            (found.metric, found.size) = (metric, size);
        }
    }
    match found {
        Some(found) if found.total > LARGEST => Err(found),
        Some(_) | None => Ok(()),
    }
}

/// Returns the size of the expression of `source`. One that is malformed has none, and compiling it says why.
fn size_in(source: &wire::Source) -> Option<u64> {
    match (&source.log, &source.key_value) {
        (Some(log), _) => size(&log.pattern).ok(),
        (None, Some(key)) => size(&pattern_of_key(&key.key.0)).ok(),
        (None, None) => None,
    }
}
