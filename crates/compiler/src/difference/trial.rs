//! A side compiled again with some of its files taken from the other side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Key, Side, key};
use crate::compile::{Compiled, Trial};
use crate::manifest::{self, Executed};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::digest::Digest;

/// Counts the cases that execute something else than `other`, of how many; nothing where all execute the same, because what differs
/// concerns the benchmark as a whole.
pub(super) fn cases_beside(own: &Executed, other: &Executed) -> Option<(usize, usize)> {
    let differs = |(id, digest): &(&String, &Digest)| other.cases.get(*id) != Some(*digest);
    let count = own.cases.iter().filter(differs).count();
    (count > 0).then_some((count, own.cases.len()))
}

/// Returns what a benchmark of a side executes.
pub(super) fn executed(compiled: &Compiled) -> Executed {
    manifest::executed(&compiled.benchmark, &mut Diagnostics::default()).0
}

/// What is replaced in a trial.
#[derive(Clone, Default)]
pub(super) struct Edits<'c> {
    /// Texts of the project file, specs and suites by path; nothing for a file that is not there.
    pub(super) texts: BTreeMap<String, Option<String>>,
    /// Files that the specs carry or name, which are read from the other side.
    pub(super) files: BTreeSet<String>,
    /// The other side.
    pub(super) other: Option<Side<'c>>,
}

/// Returns what the benchmarks of `specs` would execute; those of specs that do not compile are not there.
pub(super) fn run(
    side: &Side<'_>,
    Edits { texts, files, other }: Edits<'_>,
    specs: &BTreeSet<&str>,
    version: &str,
) -> BTreeMap<Key, Executed> {
    let (own, other) = (Arc::clone(&side.read), other.map(|other| other.read));
    let read = move |path: &str| match &other {
        Some(other) if files.contains(path) => other(path),
        _ => own(path),
    };
    let executed = side.compilation.executed(Trial { texts, read: Arc::new(read) }, specs, version);
    // Of two specs with one name the first counts.
    executed.into_iter().rev().map(|(benchmark, executed)| (key(&benchmark), executed)).collect()
}
