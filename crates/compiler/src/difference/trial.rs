//! A side compiled again with some of its files taken from the other side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Key, Side, key};
use crate::compile::{Compiled, Input, Workspace};
use crate::lower::PROJECT_FILE;
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
    manifest::executed(&compiled.benchmark, &mut Diagnostics::default())
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
    edits: &Edits<'_>,
    specs: &BTreeSet<&str>,
    version: &str,
) -> BTreeMap<Key, Executed> {
    let text = |path: &str| match edits.texts.get(path) {
        Some(edited) => edited.clone(),
        None => side.texts.get(path).map(|text| (*text).to_owned()),
    };
    let input = |path: &str| Some(Input { path: path.to_owned(), bytes: text(path)?.into_bytes() });
    let suites = side.compilation.suites.iter().map(|compiled| compiled.suite.path.as_str());
    let fragments = side.compilation.fragments.iter().map(|(_, path)| path);
    let edited = edits.texts.keys().map(String::as_str);
    let mut paths: BTreeSet<&str> = specs.iter().copied().chain(suites).chain(fragments).chain(edited).collect();
    paths.remove(PROJECT_FILE);
    let inputs = paths.into_iter().filter_map(input).collect();
    let own = Arc::clone(&side.read);
    let (other, files) = (edits.other.as_ref().map(|other| Arc::clone(&other.read)), edits.files.clone());
    let read = move |path: &str| match &other {
        Some(other) if files.contains(path) => other(path),
        _ => own(path),
    };
    let executed = Workspace::open(input(PROJECT_FILE), version).carrying(read).executed(inputs, specs);
    // Of two specs with one name the first counts.
    executed.into_iter().rev().map(|(benchmark, executed)| (key(&benchmark), executed)).collect()
}
