//! What differs in specs as they are resolved for each case, and in the manifests of their jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{FieldChange, changes};
use super::places::Places;
use super::{Change, Key, Sides, key};
use crate::compile::{Compilation, Compiled};
use crate::lower::{PROJECT_FILE, ResolvedSpec};
use crate::manifest::{files, standalone};
use crate::model::Case;
use kubebench_contract::Run;
use kubebench_syntax::yaml::Node;

/// What of a benchmark is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Its spec, with values instead of expressions, and defaults.
    Resolved,
    /// The manifests of its jobs, as `render` prints them.
    Rendered,
}

/// A change, in how many cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseChange {
    pub change: Change,
    /// In how many cases; nothing for what all cases share.
    pub cases: Option<usize>,
}

/// What differs about a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfSpec {
    pub key: Key,
    /// How many cases both sides have.
    pub cases: usize,
    pub changes: Vec<CaseChange>,
    /// The names of the cases that the base does not have.
    pub added: Vec<String>,
    /// Those that are not there any more.
    pub removed: Vec<String>,
}

/// Documents by name.
type Named = BTreeMap<String, Node>;

/// The documents of one side: those that all cases share, and those of each case.
struct Documents {
    shared: Named,
    cases: BTreeMap<String, Named>,
}

/// What differs between two sides, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The benchmarks that both sides have and that differ.
    pub benchmarks: Vec<OfSpec>,
    pub added: Vec<Key>,
    pub removed: Vec<Key>,
    /// What differs in the project file and in suites.
    pub shared: Vec<Change>,
}

impl Sides<'_> {
    /// Returns what differs in the `selected` benchmarks.
    pub fn fields(&self, what: What, selected: impl Fn(&Compiled) -> bool) -> Fields {
        let (base, head) = (self.base.compilation, self.head.compilation);
        let all = |compilation: &'_ Compilation| -> BTreeMap<Key, usize> {
            let benchmarks = compilation.benchmarks.iter().zip(0..);
            benchmarks.map(|(compiled, index)| (key(&compiled.benchmark), index)).collect()
        };
        let (before, now) = (all(base), all(head));
        let mut fields = Fields { shared: self.shared(what), ..Fields::default() };
        for compiled in head.benchmarks.iter().filter(|compiled| selected(compiled)) {
            let key = key(&compiled.benchmark);
            let Some(old) = before.get(&key).and_then(|index| base.benchmarks.get(*index)) else {
                fields.added.push(key);
                continue;
            };
            let documents = match what {
                What::Resolved => resolved(base, old).zip(resolved(head, compiled)),
                What::Rendered => Some((rendered(old, compiled), rendered(compiled, compiled))),
            };
            let places = Places { sides: self, before: old, now: compiled };
            let file = |name: &str, field: &FieldChange| match what {
                What::Resolved => {
                    Some(places.of(field)).filter(|file| *file != compiled.benchmark.path).unwrap_or_default()
                }
                What::Rendered => name.to_owned(),
            };
            let found = documents.map(|(before, now)| of_spec([old, compiled], [&before, &now], &file));
            fields.benchmarks.extend(
                found.filter(|found| !(found.changes.is_empty() && found.added.is_empty() && found.removed.is_empty())),
            );
        }
        let gone =
            base.benchmarks.iter().filter(|compiled| selected(compiled)).map(|compiled| key(&compiled.benchmark));
        fields.removed = gone.filter(|key| !now.contains_key(key)).collect();
        fields
    }

    /// Returns what differs in the project file and in suites that both sides have.
    fn shared(&self, what: What) -> Vec<Change> {
        let suites = self.head.compilation.suites.iter().map(|compiled| compiled.suite.path.as_str());
        let paths: BTreeSet<&str> = std::iter::once(PROJECT_FILE).chain(suites).collect();
        let paths = paths
            .into_iter()
            .filter(|path| what == What::Resolved && self.base.texts.get(path) != self.head.texts.get(path));
        let both = paths.filter_map(|path| Some((path, self.base.document(path)?, self.head.document(path)?)));
        both.flat_map(|(path, old, new)| {
            changes(&old, &new).iter().map(|change| Change::of_field(path, change)).collect::<Vec<_>>()
        })
        .collect()
    }
}

/// Returns the file, or the document, in which a change of the named document is shown.
type FileOf<'f> = dyn Fn(&str, &FieldChange) -> String + 'f;

fn of_spec([before, now]: [&Compiled; 2], [old, new]: [&Documents; 2], file: &FileOf<'_>) -> OfSpec {
    let only = |own: &Compiled, other: &Compiled| -> Vec<String> {
        let is_there = |case: &Case| other.benchmark.cases.iter().any(|other| other.id == case.id);
        own.benchmark.cases.iter().filter(|case| !is_there(case)).map(|case| case.name.clone()).collect()
    };
    let name = &now.benchmark.name;
    let mut found: Vec<CaseChange> = between(name, [&old.shared, &new.shared], file)
        .into_iter()
        .map(|change| CaseChange { change, cases: None })
        .collect();
    let both: Vec<(&Named, &Named)> =
        new.cases.iter().filter_map(|(case, new)| Some((old.cases.get(case)?, new))).collect();
    let mut of_cases: Vec<CaseChange> = Vec::new();
    let mut places: BTreeMap<Change, usize> = BTreeMap::new();
    for change in both.iter().flat_map(|(old, new)| between(name, [old, new], file)) {
        let place = *places.entry(change.clone()).or_insert_with(|| {
            of_cases.push(CaseChange { change, cases: Some(0) });
            of_cases.len() - 1
        });
        if let Some(CaseChange { cases: Some(count), .. }) = of_cases.get_mut(place) {
            *count += 1;
        }
    }
    found.extend(of_cases);
    OfSpec {
        key: key(&now.benchmark),
        cases: both.len(),
        changes: found,
        added: only(now, before),
        removed: only(before, now),
    }
}

/// Returns what differs between documents of the same names, which are of `benchmark`.
fn between(benchmark: &str, [old, new]: [&Named; 2], file: &FileOf<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    for (name, document) in new {
        match old.get(name) {
            Some(old) => {
                let changes = changes(old, document).into_iter().filter(|change| !is_made_name(change, benchmark));
                found.extend(changes.map(|change| Change::of_field(&file(name, &change), &change)));
            }
            None => found.push(whole(name, None, Some(document))),
        }
    }
    let gone = old.iter().filter(|(name, _)| !new.contains_key(*name));
    found.extend(gone.map(|(name, document)| whole(name, Some(document), None)));
    found
}

/// Returns whether the two values are names that Kubebench makes, and differ in a digest of what else differs.
fn is_made_name(change: &FieldChange, benchmark: &str) -> bool {
    let of = |node: &Option<Node>| {
        let (before, after) = without_digest(node.as_ref()?.as_text()?, benchmark)?;
        Some((before.to_owned(), after.to_owned()))
    };
    of(&change.old).is_some_and(|old| of(&change.new) == Some(old))
}

/// Returns what is before and after the digest in a name of an object, or in an address that begins with one: `NAME-a0760779`,
/// `NAME-files-a0760779`.
fn without_digest<'t>(text: &'t str, benchmark: &str) -> Option<(&'t str, &'t str)> {
    const DIGITS: usize = 8;
    let name = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = name.strip_prefix(benchmark)?.strip_prefix('-')?;
    let rest = rest.strip_prefix("files-").unwrap_or(rest);
    let (digest, after) = rest.split_at_checked(DIGITS)?;
    let is_whole = !after.starts_with(|letter: char| letter.is_alphanumeric());
    let is_digest = is_whole && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then_some(text.split_at(text.len() - rest.len())).map(|(before, _)| (before, after))
}

fn whole(name: &str, old: Option<&Node>, new: Option<&Node>) -> Change {
    let [old, new] = [old, new].map(Option::<&Node>::cloned);
    Change::of_field(name, &FieldChange { path: Vec::new(), old, new, fields: 1, before: Vec::new() })
}

fn resolved(compilation: &Compilation, compiled: &Compiled) -> Option<Documents> {
    let ResolvedSpec { shared, cases } = compilation.resolved(compiled)?;
    let one = |document: Node| BTreeMap::from([(String::new(), document)]);
    Some(Documents { shared: one(shared), cases: cases.into_iter().map(|(id, case)| (id, one(case))).collect() })
}

/// Returns the objects of the jobs of a benchmark, under the names that those of `named` have: they contain the run digest.
fn rendered(compiled: &Compiled, named: &Compiled) -> Documents {
    let Compiled { benchmark, .. } = compiled;
    let cases = benchmark.cases.iter().map(|case| {
        let first = |run: &&Run| run.case == case.id && !run.warmup;
        let job = named.identity.runs.iter().find(first).map_or("", |run| run.job.as_str());
        let mut documents = BTreeMap::new();
        for object in standalone(benchmark, case, job, &named.identity.digest) {
            let kind = object.get("kind").and_then(serde_json::Value::as_str).unwrap_or("object");
            let mut name = kind.to_owned();
            let mut number = 2;
            while documents.contains_key(&name) {
                name = format!("{kind} {number}");
                number += 1;
            }
            documents.insert(name, Node::from(&object));
        }
        (case.id.clone(), documents)
    });
    let shared = files(benchmark).map(|object| ("ConfigMap of files".to_owned(), Node::from(&object)));
    Documents { cases: cases.collect(), shared: shared.into_iter().collect() }
}
