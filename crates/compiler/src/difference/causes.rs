//! Which changes start which benchmarks, found by trial.

mod candidates;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rayon::prelude::*;

use super::fields::{Of, put};
use super::trial::{Edits, cases_beside, executed, run};
use super::written::exact;
use super::{Cause, Certainty, Change, Difference, Key, OfBenchmark, Removed, Sides, State};
use crate::compile::Compiled;
use crate::lower::PROJECT_FILE;
use crate::manifest::Executed;
use candidates::{Candidates, Id, Kind};

/// The selected benchmarks of a side.
type Benchmarks<'c> = BTreeMap<Key, &'c Compiled>;

/// Returns what differs between the benchmarks of two sides.
pub(super) fn difference<'c>(sides: &Sides<'c>, base: &Benchmarks<'c>, head: &Benchmarks<'c>) -> Difference {
    let mut difference = Difference { removed: removed(sides, base, head), ..Difference::default() };
    let mut candidates = Candidates::new(sides);
    let mut changed = BTreeMap::new();
    for (key, now) in head {
        let Some(before) = base.get(key) else {
            let of =
                OfBenchmark { state: new(sides, key, now, &difference.removed), causes: Vec::new(), idle: Vec::new() };
            difference.benchmarks.insert(key.clone(), of);
            continue;
        };
        let ids = candidates.of(key, before, now);
        let is_same = before.identity.digest == now.identity.digest;
        let is_where_it_was = before.benchmark.suite == now.benchmark.suite;
        let mut of = OfBenchmark { state: State::Unchanged, causes: Vec::new(), idle: Vec::new() };
        if is_same && is_where_it_was {
            of.idle = ids.iter().filter(|id| candidates.is_own(**id)).map(|id| candidates.change(*id)).collect();
        } else {
            of.state = State::Changed;
            of.causes.extend((!is_where_it_was).then(|| moved(before, now)));
            if !is_same {
                let (before, now) = (Known::of(before), Known::of(now));
                changed.insert(key.clone(), Changed { before, now, ids, is_where_it_was });
            }
        }
        difference.benchmarks.insert(key.clone(), of);
    }
    let found = Trials { sides, candidates: &candidates, changed: &changed }.found();
    let mut causing: BTreeSet<Id> = BTreeSet::new();
    for (key, of_key) in found {
        let Some(of) = difference.benchmarks.get_mut(&key) else { continue };
        for (id, outcome) in of_key {
            match outcome {
                Outcome::Idle if candidates.is_own(id) => of.idle.push(candidates.change(id)),
                Outcome::Starts(cases, certainty) => {
                    causing.insert(id);
                    of.causes.push(Cause { change: candidates.change(id), cases, certainty });
                }
                Outcome::Idle | Outcome::Unknown => {}
            }
        }
        of.causes.sort();
    }
    difference.idle =
        candidates.shared().into_iter().filter(|id| !causing.contains(id)).map(|id| candidates.change(id)).collect();
    difference
}

/// A benchmark that executes something else, and what may be why.
struct Changed<'c> {
    before: Known<'c>,
    now: Known<'c>,
    ids: Vec<Id>,
    /// Whether the same suite runs it, or none as before.
    is_where_it_was: bool,
}

/// A benchmark of one side.
struct Known<'c> {
    compiled: &'c Compiled,
    executed: OnceLock<Executed>,
}

impl<'c> Known<'c> {
    fn of(compiled: &'c Compiled) -> Self {
        Self { compiled, executed: OnceLock::new() }
    }

    fn executed(&self) -> &Executed {
        self.executed.get_or_init(|| executed(self.compiled))
    }

    fn path(&self) -> &'c str {
        &self.compiled.benchmark.path
    }
}

/// The role of a candidate for a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It starts nothing.
    Idle,
    /// It starts the benchmark, because of this many cases out of a total.
    Starts(Option<(usize, usize)>, Certainty),
    /// The specs do not compile without it, or with it alone.
    Unknown,
}

type Found = BTreeMap<Key, BTreeMap<Id, Outcome>>;

/// A candidate, and the benchmarks for which it is tried.
type Wanted<'k> = (Id, BTreeSet<&'k Key>);

struct Trials<'t, 'c> {
    sides: &'t Sides<'c>,
    candidates: &'t Candidates<'t, 'c>,
    changed: &'t BTreeMap<Key, Changed<'c>>,
}

/// Which way a change is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is undone in what is checked out.
    Undone,
    /// It alone is done in the base.
    Alone,
}

impl Trials<'_, '_> {
    fn found(&self) -> Found {
        self.changed.par_iter().for_each(|(_, changed)| {
            changed.now.executed();
        });
        let mut found = Found::new();
        for (key, Changed { before, now, ids, is_where_it_was }) in self.changed {
            let of = found.entry(key.clone()).or_default();
            match ids.as_slice() {
                // Where only one thing differs, it is the cause.
                [only] if *is_where_it_was => {
                    let cases = cases_beside(now.executed(), before.executed());
                    of.insert(*only, Outcome::Starts(cases, Certainty::Tried));
                }
                ids => of.extend(ids.iter().map(|id| (*id, Outcome::Unknown))),
            }
        }
        let is_open = |outcome: &Outcome| *outcome == Outcome::Unknown;
        self.try_each(&mut found, Way::Undone, |_, outcome| is_open(outcome));
        // Of two changes that do the same neither is missed when it is undone.
        let unexplained = self.unexplained(&found);
        self.try_each(&mut found, Way::Alone, |key, outcome| is_open(outcome) || unexplained.contains(key));
        self.try_together(&mut found);
        let unexplained = self.unexplained(&found);
        for (key, of) in &mut found {
            let is_possible = |outcome: &&mut Outcome| is_open(outcome) || unexplained.contains(key);
            of.values_mut()
                .filter(is_possible)
                .for_each(|outcome| *outcome = Outcome::Starts(None, Certainty::Possible));
        }
        found
    }

    /// Returns the benchmarks without a known cause.
    fn unexplained(&self, found: &Found) -> BTreeSet<Key> {
        let is_where_it_was = |key: &Key| self.changed.get(key).is_some_and(|changed| changed.is_where_it_was);
        let is_known = |of: &BTreeMap<Id, Outcome>| of.values().any(|outcome| matches!(outcome, Outcome::Starts(..)));
        let open = found.iter().filter(|(key, of)| is_where_it_was(key) && !is_known(of));
        open.map(|(key, _)| key.clone()).collect()
    }

    /// Tries candidates one by one, those of different specs at once.
    fn try_each(&self, found: &mut Found, way: Way, is_wanted: impl Fn(&Key, &Outcome) -> bool) {
        let mut wanted: BTreeMap<Id, BTreeSet<&Key>> = BTreeMap::new();
        for key in self.changed.keys() {
            for (id, _) in found.get(key).into_iter().flatten().filter(|(_, outcome)| is_wanted(key, outcome)) {
                wanted.entry(*id).or_default().insert(key);
            }
        }
        let mut batches: BTreeMap<(usize, usize), Vec<Wanted<'_>>> = BTreeMap::new();
        let mut alone = 1..;
        for (id, keys) in wanted {
            let batch = if self.candidates.is_own(id) { (0, id.field) } else { (alone.next().unwrap_or_default(), 0) };
            batches.entry(batch).or_default().push((id, keys));
        }
        for batch in batches.into_values() {
            let ids: Vec<Id> = batch.iter().map(|(id, _)| *id).collect();
            let keys: BTreeSet<&Key> = batch.iter().flat_map(|(_, keys)| keys.iter().copied()).collect();
            let executed = self.run(way, &ids, &keys);
            for (id, keys) in batch {
                for key in keys {
                    let outcome = self.outcome(way, key, &executed);
                    let Some(of) = found.get_mut(key).and_then(|of| of.get_mut(&id)) else { continue };
                    let is_known = way == Way::Alone && *of == Outcome::Idle && outcome == Outcome::Unknown;
                    if !is_known {
                        *of = outcome;
                    }
                }
            }
        }
    }

    /// Undoes together all changes without which specs do not compile, such as a kind and the fields of another one.
    fn try_together(&self, found: &mut Found) {
        for (key, of) in found {
            let open: Vec<Id> =
                of.iter().filter(|(_, outcome)| **outcome == Outcome::Unknown).map(|(id, _)| *id).collect();
            if open.len() < 2 {
                continue;
            }
            let executed = self.run(Way::Undone, &open, &BTreeSet::from([key]));
            let outcome = self.outcome(Way::Undone, key, &executed);
            of.extend(open.into_iter().map(|id| (id, outcome)));
        }
    }

    /// Returns what the benchmarks of `keys` execute where `ids` are tried.
    fn run(&self, way: Way, ids: &[Id], keys: &BTreeSet<&Key>) -> BTreeMap<Key, Executed> {
        let (side, other, of) = match way {
            Way::Undone => (&self.sides.head, &self.sides.base, Of::Head),
            Way::Alone => (&self.sides.base, &self.sides.head, Of::Base),
        };
        let mut edits = Edits { other: Some(other.clone()), ..Edits::default() };
        let mut documents = BTreeMap::new();
        // What comes later in a list is changed first, so that what is before it stays where it is.
        for id in ids.iter().rev() {
            let document = self.candidates.document(*id);
            let path = match way {
                Way::Undone => document.head_path.clone(),
                Way::Alone => document.base_path.clone(),
            };
            if document.kind == Kind::File {
                edits.files.insert(path);
                continue;
            }
            let [own, others] = match way {
                Way::Undone => [&document.head, &document.base],
                Way::Alone => [&document.base, &document.head],
            };
            match (own, others, document.changes.get(id.field)) {
                (Some(own), Some(_), Some(field)) => {
                    let value = if way == Way::Undone { &field.old } else { &field.new };
                    put(documents.entry(path).or_insert_with(|| own.clone()), &field.path, value.as_ref(), of);
                }
                (_, others, _) => {
                    edits.texts.insert(path, others.as_ref().map(exact));
                }
            }
        }
        edits.texts.extend(documents.into_iter().map(|(path, document)| (path, Some(exact(&document)))));
        let path = |key: &&Key| {
            let Changed { before, now, .. } = self.changed.get(*key)?;
            Some(if way == Way::Undone { now.path() } else { before.path() })
        };
        run(side, edits, &keys.iter().filter_map(path).collect(), self.sides.version)
    }

    fn outcome(&self, way: Way, key: &Key, executed: &BTreeMap<Key, Executed>) -> Outcome {
        let (Some(tried), Some(Changed { before, now, .. })) = (executed.get(key), self.changed.get(key)) else {
            return Outcome::Unknown;
        };
        let own = if way == Way::Undone { now.executed() } else { before.executed() };
        if own.digest == tried.digest {
            Outcome::Idle
        } else {
            Outcome::Starts(cases_beside(own, tried), Certainty::Tried)
        }
    }
}

/// Says that another suite, or none, runs a benchmark: its results are on another volume.
fn moved(before: &Compiled, now: &Compiled) -> Cause {
    let value = |compiled: &Compiled| compiled.benchmark.suite.clone().map(super::Value::of);
    let (file, path) = (now.benchmark.path.clone(), "suite".to_owned());
    let change = Change { file, path, old: value(before), new: value(now), fields: 1 };
    Cause { change, cases: None, certainty: Certainty::Tried }
}

/// Returns the benchmarks that are gone. One was renamed if its file has another name now, or if one new file says the same as its file did.
fn removed(sides: &Sides<'_>, base: &Benchmarks<'_>, head: &Benchmarks<'_>) -> Vec<Removed> {
    let all_of_head: BTreeSet<Key> =
        sides.head.compilation.benchmarks.iter().map(|compiled| super::key(&compiled.benchmark)).collect();
    let gone: Vec<(&Key, &Compiled)> =
        base.iter().filter(|(key, _)| !all_of_head.contains(*key)).map(|(key, old)| (key, *old)).collect();
    if gone.is_empty() {
        return Vec::new();
    }
    let new: Vec<(&Key, &str)> = head
        .iter()
        .filter(|(key, _)| !base.contains_key(*key))
        .map(|(key, now)| (key, now.benchmark.path.as_str()))
        .collect();
    // A file is read once, however many targets it names.
    let says: BTreeMap<&str, Option<String>> = new
        .iter()
        .map(|(_, path)| *path)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|path| (path, sides.head.without_metadata(path)))
        .collect();
    let named = |(key, old): (&Key, &Compiled)| {
        let path = &old.benchmark.path;
        let here = || new.iter().filter(|(other, _)| other.0 == key.0);
        let by_text = || {
            let said = sides.base.without_metadata(path);
            let mut same = here().filter(|(_, path)| said.is_some() && says.get(path) == Some(&said));
            same.next().filter(|_| same.next().is_none())
        };
        let renamed = here().find(|(_, own)| own == path).or_else(by_text);
        Removed { key: key.clone(), renamed: renamed.map(|((_, name), _)| name.clone()) }
    };
    gone.into_iter().map(named).collect()
}

/// Returns what a benchmark is that the base does not have, as far as that is known.
fn new(sides: &Sides<'_>, key: &Key, now: &Compiled, removed: &[Removed]) -> State {
    let base = sides.base.compilation;
    if base.project.is_none() || base.faulty.contains(PROJECT_FILE) || base.faulty.contains(&now.benchmark.path) {
        return State::Unknown { files: candidates::differing_files(sides, now) };
    }
    let renamed = removed.iter().find(|old| old.key.0 == key.0 && old.renamed.as_ref() == Some(&key.1));
    State::New { formerly: renamed.map(|old| old.key.1.clone()) }
}
