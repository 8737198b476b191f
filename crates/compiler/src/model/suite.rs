//! A suite on one target: benchmarks that one Workflow runs one after another.

use std::sync::Arc;

use super::suppressions::Suppressions;
use super::{Benchmark, Claim, Schedule, Target};
use kubebench_syntax::text::Span;

/// A suite on one target.
#[derive(Debug)]
pub struct Suite {
    pub name: String,
    /// Where the name is written.
    pub name_span: Span,
    /// The spec's path.
    pub path: String,
    /// Where it runs.
    pub target: Arc<Target>,
    /// Raised to run all again.
    pub run: u32,
    /// When it runs, unless once.
    pub schedule: Option<Schedule>,
    /// The volume for the results of all its benchmarks.
    pub claim: Claim,
    /// Its benchmarks on this target, in order.
    pub members: Vec<Member>,
    /// The lints that its document does without.
    pub suppressions: Suppressions,
}

/// A benchmark of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name of the benchmark.
    pub benchmark: String,
    /// Earlier benchmarks that must succeed before it is run.
    pub needs: Vec<String>,
}

impl Suite {
    /// Returns the position of a benchmark in the suite, if it is one of its members.
    pub fn place_of(&self, benchmark: &Benchmark) -> Option<usize> {
        let is_here = self.target.name == benchmark.target.name;
        self.members.iter().position(|member| is_here && member.benchmark == benchmark.name)
    }
}
