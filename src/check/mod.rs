//! Semantic rules about a resolved benchmark, one file each; [`RULES`] is the ordered list.
//!
//! A rule reads the model and reports; it changes nothing and never looks at another benchmark.

mod image;

use crate::diag::Diagnostics;
use crate::model::Benchmark;

/// A rule.
pub type Rule = fn(&Benchmark, &mut Diagnostics);

/// Every rule, in the order in which they run.
pub static RULES: &[Rule] = &[image::pinned];

/// Runs every rule on `benchmark`.
pub fn check(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for rule in RULES {
        rule(benchmark, diagnostics);
    }
}
