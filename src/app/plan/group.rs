//! Benchmarks that run for the same causes, which are said once for all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, Row};
use kubebench_compiler::difference::{Cause, Certainty, Change, State};

/// Why a benchmark runs, as it is for others too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// There is nothing to compare with.
    Asked,
    New,
    /// The same spec had this name.
    Renamed(String),
    /// The base does not say what it was: the files that differ, and what keeps it from saying.
    Unknown(Vec<String>, Option<Fault>),
    /// It executes something else.
    Changed(Vec<Shared>),
}

/// A cause of all benchmarks of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shared {
    /// What changed; the file is empty where it is the spec of each benchmark.
    pub change: Change,
    pub certainty: Certainty,
    /// In how many cases of how many, of all benchmarks together; nothing for what concerns benchmarks as a whole.
    pub cases: Option<(usize, usize)>,
}

/// Benchmarks that run for the same causes.
pub struct Group<'p> {
    pub words: &'static str,
    pub why: Why,
    pub rows: Vec<&'p Row<'p>>,
}

/// Returns how many benchmarks there are, on how many targets.
pub fn size(rows: &[&Row<'_>]) -> (usize, usize) {
    (names(rows).len(), targets(rows).len())
}

/// Returns the names of benchmarks, each once, in their order.
pub fn names<'p>(rows: &[&'p Row<'_>]) -> Vec<&'p str> {
    let mut known = BTreeSet::new();
    rows.iter().map(|row| row.compiled.benchmark.name.as_str()).filter(|name| known.insert(*name)).collect()
}

/// Returns the names of targets, each once, in their order.
pub(super) fn targets<'p>(rows: &[&'p Row<'_>]) -> Vec<&'p str> {
    let mut known = BTreeSet::new();
    rows.iter().map(|row| row.compiled.benchmark.target.name.as_str()).filter(|name| known.insert(*name)).collect()
}

/// Returns the groups, each where its first benchmark is.
pub fn groups<'p>(rows: &[&'p Row<'p>]) -> Vec<Group<'p>> {
    let mut groups: Vec<Group<'p>> = Vec::new();
    let mut known: BTreeMap<(&'static str, Why), usize> = BTreeMap::new();
    for row in rows {
        let (why, cases) = why(row);
        let words = row.words();
        let place = *known.entry((words, why.clone())).or_insert_with(|| {
            groups.push(Group { words, why, rows: Vec::new() });
            groups.len() - 1
        });
        let Some(group) = groups.get_mut(place) else { continue };
        group.rows.push(row);
        if let Why::Changed(causes) = &mut group.why {
            for (cause, of) in causes.iter_mut().zip(cases) {
                cause.cases = of.map(|(count, all)| {
                    let (known_count, known_all) = cause.cases.unwrap_or_default();
                    (known_count + count, known_all + all)
                });
            }
        }
    }
    groups
}

/// Returns why a benchmark runs, and in how many of its cases for each cause.
fn why(row: &Row<'_>) -> (Why, Vec<Option<(usize, usize)>>) {
    let Some(change) = &row.change else { return (Why::Asked, Vec::new()) };
    let why = match &change.state {
        State::New { formerly: Some(name) } => Why::Renamed(name.clone()),
        State::New { formerly: None } => Why::New,
        State::Unknown { files } => Why::Unknown(files.clone(), row.fault.clone()),
        State::Changed | State::Unchanged => {
            let spec = &row.compiled.benchmark.path;
            let shared = |Cause { change, cases, certainty }: &Cause| {
                let file = if change.file == *spec { String::new() } else { change.file.clone() };
                let change = Change { file, ..change.clone() };
                // Nothing is counted yet.
                (Shared { change, certainty: *certainty, cases: cases.map(|_| (0, 0)) }, *cases)
            };
            let mut causes: Vec<_> = change.causes.iter().map(shared).collect();
            // What specs are called has no say in which groups there are.
            causes.sort();
            let (shared, cases) = causes.into_iter().unzip();
            return (Why::Changed(shared), cases);
        }
    };
    (why, Vec::new())
}
