//! What differs in the files that a benchmark is compiled from: each may be why it runs again.

use std::collections::{BTreeMap, BTreeSet};

use super::super::fields::{FieldChange, Step, at_most, changes};
use super::super::places::Places;
use super::super::{Change, Key, Side, Sides};
use crate::compile::{Compilation, Compiled};
use crate::lower::PROJECT_FILE;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::yaml::Node;

/// The maximum number of fields of one document that are tried one by one; of more, the deepest are taken together.
const MOST: usize = 12;

/// The field of the project with values that specs may look up, by name.
const PARAMETERS: &str = "parameters";

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A spec as one with the fragments that it extends.
    Spec,
    Suite,
    Project,
    /// A file that a spec carries, or a manifest that it names.
    File,
}

/// A file of both sides.
pub(super) struct Document {
    pub(super) kind: Kind,
    pub(super) base_path: String,
    pub(super) head_path: String,
    pub(super) base: Option<Node>,
    pub(super) head: Option<Node>,
    /// What differs; empty for a whole file.
    pub(super) changes: Vec<FieldChange>,
    /// The file in which each of them is written.
    files: Vec<String>,
}

/// A change: the document, and which of its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    document: usize,
    pub(super) field: usize,
}

/// The changes of all files that benchmarks are compiled from.
pub(super) struct Candidates<'t, 'c> {
    sides: &'t Sides<'c>,
    documents: Vec<Document>,
    /// By path at the base and now.
    known: BTreeMap<(String, String), usize>,
    project: usize,
}

/// Returns which of the files that a benchmark is compiled from are not as they were at the base.
pub(super) fn differing_files(Sides { base, head, .. }: &Sides<'_>, now: &Compiled) -> Vec<String> {
    let benchmark = &now.benchmark;
    let names = |(_, specs): &(&String, &BTreeSet<String>)| specs.contains(&benchmark.path);
    let named = head.compilation.named_by.iter().filter(names).map(|(path, _)| path.as_str());
    let suites = head.compilation.suites.iter().filter(|compiled| compiled.suite.place_of(benchmark).is_some());
    let suites = suites.map(|compiled| compiled.suite.path.as_str());
    let all: BTreeSet<&str> = [PROJECT_FILE, &benchmark.path].into_iter().chain(suites).chain(named).collect();
    let differs = |path: &&str| match (head.texts.get(path), base.texts.get(path)) {
        (None, None) => {
            let carried = benchmark.files.iter().find(|(_, file)| file.path == *path);
            carried.is_some_and(|(_, file)| (base.read)(path).ok().as_deref() != Some(&*file.bytes))
        }
        (now, before) => now != before,
    };
    all.into_iter().filter(differs).map(str::to_owned).collect()
}

impl<'t, 'c> Candidates<'t, 'c> {
    pub(super) fn new(sides: &'t Sides<'c>) -> Self {
        let mut candidates = Self { sides, documents: Vec::new(), known: BTreeMap::new(), project: 0 };
        candidates.project = candidates.open(Kind::Project, PROJECT_FILE, PROJECT_FILE);
        for suite in sides.base.compilation.suites.iter().chain(&sides.head.compilation.suites) {
            candidates.open(Kind::Suite, &suite.suite.path, &suite.suite.path);
        }
        candidates
    }

    /// Returns what differs in the files of one benchmark.
    pub(super) fn of(&mut self, (target, _): &Key, before: &'c Compiled, now: &'c Compiled) -> Vec<Id> {
        let spec = self.open_spec(before, now);
        let mut ids = self.all(spec);
        let of_target = |change: &FieldChange| match change.path.as_slice() {
            [Step::Key(spec), Step::Key(targets), Step::Key(name), ..] => {
                spec != "spec" || targets != "targets" || name == target
            }
            _ => true,
        };
        let texts = self.texts(before, now);
        let is_read = |change: &FieldChange| match change.path.as_slice() {
            [Step::Key(spec), Step::Key(parameters), Step::Key(name), ..]
                if spec == "spec" && parameters == PARAMETERS =>
            {
                texts.iter().any(|text| text.contains(name.as_str()))
            }
            _ => true,
        };
        let project = self.all(self.project).into_iter();
        let concerns = |id: &Id| self.field(*id).is_none_or(|change| of_target(change) && is_read(change));
        ids.extend(project.filter(concerns));
        if before.benchmark.suite.is_some() && before.benchmark.suite == now.benchmark.suite {
            let suites = self.sides.head.compilation.suites.iter();
            let own = suites.filter(|compiled| compiled.suite.place_of(&now.benchmark).is_some());
            for path in own.map(|compiled| compiled.suite.path.clone()).collect::<Vec<_>>() {
                let suite = self.open(Kind::Suite, &path, &path);
                ids.extend(self.all(suite));
            }
        }
        for path in self.files(before, now) {
            let file = self.open(Kind::File, &path, &path);
            ids.extend(self.all(file));
        }
        ids
    }

    /// Returns the texts that can look up a parameter of the project for a benchmark.
    fn texts(&self, before: &Compiled, now: &Compiled) -> Vec<&'c str> {
        let Sides { base, head, .. } = self.sides;
        let of = |side: &'t Side<'c>, compiled: &Compiled| -> Vec<&'c str> {
            let Compilation { named_by, suites, .. } = side.compilation;
            let spec = &compiled.benchmark.path;
            let named = named_by.iter().filter(|(_, specs)| specs.contains(spec)).map(|(path, _)| path.as_str());
            let suites = suites.iter().map(|compiled| compiled.suite.path.as_str());
            let paths = named.chain(suites).chain([spec.as_str()]);
            paths.filter_map(|path| side.texts.get(path).copied()).collect()
        };
        [of(base, before), of(head, now)].concat()
    }

    /// Returns whether a change is in the spec of a benchmark, and so concerns no other.
    pub(super) fn is_own(&self, id: Id) -> bool {
        self.document(id).kind == Kind::Spec
    }

    /// Returns the changes of what benchmarks share: the project file, and suites that both sides have.
    pub(super) fn shared(&self) -> Vec<Id> {
        let is_shared = |document: &Document| match document.kind {
            Kind::Project => true,
            Kind::Suite => document.base.is_some() && document.head.is_some(),
            Kind::Spec | Kind::File => false,
        };
        let shared = self.documents.iter().enumerate().filter(|(_, document)| is_shared(document));
        shared.flat_map(|(document, _)| self.all(document)).collect()
    }

    pub(super) fn document(&self, id: Id) -> &Document {
        self.documents.get(id.document).expected("the document of a change")
    }

    /// Returns a change as people read it.
    pub(super) fn change(&self, id: Id) -> Change {
        let Document { kind, head_path, base, head, files, .. } = self.document(id);
        let is_there = if *kind == Kind::File { [true, true] } else { [base.is_some(), head.is_some()] };
        let file = files.get(id.field).unwrap_or(head_path);
        self.field(id).map_or_else(|| Change::of_file(head_path, is_there), |field| Change::of_field(file, field))
    }

    fn field(&self, id: Id) -> Option<&FieldChange> {
        self.document(id).changes.get(id.field)
    }

    fn all(&self, document: usize) -> Vec<Id> {
        let Some(Document { kind, base, head, changes, .. }) = self.documents.get(document) else { return Vec::new() };
        let is_whole = *kind == Kind::File || base.is_some() != head.is_some();
        let count = if is_whole { 1 } else { changes.len() };
        (0..count).map(|field| Id { document, field }).collect()
    }

    fn open(&mut self, kind: Kind, base_path: &str, head_path: &str) -> usize {
        let paths = (base_path.to_owned(), head_path.to_owned());
        if let Some(known) = self.known.get(&paths) {
            return *known;
        }
        let Sides { base, head, .. } = self.sides;
        let (before, now) = (base.texts.get(base_path), head.texts.get(head_path));
        let mut document = Document {
            kind,
            base_path: paths.0.clone(),
            head_path: paths.1.clone(),
            base: None,
            head: None,
            changes: Vec::new(),
            files: Vec::new(),
        };
        if kind != Kind::File && before != now {
            document.base = base.document(base_path);
            document.head = head.document(head_path);
            if let (Some(old), Some(new)) = (&document.base, &document.head) {
                document.changes = at_most(MOST, changes(old, new), old, new);
            }
        }
        self.add(paths, document)
    }

    /// Returns a spec as one with its fragments: what only moves between them is not a change.
    fn open_spec(&mut self, before: &'c Compiled, now: &'c Compiled) -> usize {
        let paths = (before.benchmark.path.clone(), now.benchmark.path.clone());
        if let Some(known) = self.known.get(&paths) {
            return *known;
        }
        let both = before.spec.as_deref().zip(now.spec.as_deref());
        let changes = both.map(|(old, new)| at_most(MOST, changes(old, new), old, new)).unwrap_or_default();
        let (base, head) = both.filter(|_| !changes.is_empty()).map(|(old, new)| (old.clone(), new.clone())).unzip();
        let places = Places { sides: self.sides, before, now };
        let files = changes.iter().map(|change| places.of(change)).collect();
        let (base_path, head_path) = paths.clone();
        self.add(paths, Document { kind: Kind::Spec, base_path, head_path, base, head, changes, files })
    }

    fn add(&mut self, paths: (String, String), document: Document) -> usize {
        self.documents.push(document);
        let index = self.documents.len() - 1;
        self.known.insert(paths, index);
        index
    }

    /// Returns the paths of files that a benchmark carries or names, and whose bytes differ.
    fn files(&self, before: &'c Compiled, now: &'c Compiled) -> Vec<String> {
        let carried = |compiled: &'c Compiled| -> BTreeMap<&str, &[u8]> {
            compiled.benchmark.files.iter().map(|(_, file)| (file.path.as_str(), &*file.bytes)).collect()
        };
        let (old, new) = (carried(before), carried(now));
        let files = new.iter().filter(|(path, bytes)| old.get(*path).is_some_and(|old| old != *bytes));
        let Sides { base, head, .. } = self.sides;
        let names = |path: &&String| {
            let of = head.compilation.named_by.get(*path);
            of.is_some_and(|specs| specs.contains(&now.benchmark.path))
        };
        let is_fragment = |path: &str| head.compilation.fragments.iter().any(|(_, known)| known == path);
        let named = head.compilation.named_by.keys().filter(names).map(String::as_str);
        let manifests = named.filter(|path| !is_fragment(path));
        let differs = |path: &&str| {
            let texts = (base.texts.get(path), head.texts.get(path));
            matches!(texts, (Some(old), Some(new)) if old != new)
        };
        files.map(|(path, _)| *path).chain(manifests.filter(differs)).map(str::to_owned).collect()
    }
}
