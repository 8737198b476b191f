//! What a compilation reuses from the previous one: a spec is evaluated again unless everything that it read is unchanged.
//!
//! Its own text, fragments, suites that name it, manifests, carried files, and, where a rule asks for them, the names of all others. A change
//! of the project file has a new memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::load::{Loaded, Text};
use super::{Fragments, Manifests, Outcome, ReadFile, Suites, Unreadable};
use kubebench_format::schema::DocumentKind;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{Source, SourceId, SourceMap};
use kubebench_syntax::yaml;

type File = Arc<Result<Vec<u8>, Unreadable>>;
type Files = BTreeMap<String, File>;

/// What the last compilation made.
#[derive(Default)]
pub(super) struct Memory {
    texts: BTreeMap<SourceId, (Arc<Source>, Text)>,
    specs: BTreeMap<SourceId, Spec>,
    manifests: Manifests,
    files: Files,
    owners: Arc<BTreeSet<String>>,
    owners_are_new: bool,
    /// The suites that name each benchmark.
    suites: BTreeMap<String, Vec<SourceId>>,
    evaluated: Vec<String>,
}

/// A spec as it was evaluated, and what it read.
struct Spec {
    own: Arc<Source>,
    fragments: Vec<(String, SourceId, Arc<Source>)>,
    suites: Vec<Arc<Source>>,
    manifests: Vec<Arc<yaml::Manifest>>,
    files: Files,
    asked_for_owners: bool,
    loaded: Loaded,
    outcome: Outcome,
}

/// The result of a spec.
pub(super) enum Evaluated {
    /// The previous result.
    Known(SourceId, Outcome),
    /// The new result.
    Again { spec: Loaded, outcome: Outcome, files: Files, asked_for_owners: bool },
}

impl Memory {
    /// Returns the manifests of the last compilation.
    pub(super) fn manifests(&self) -> &Manifests {
        &self.manifests
    }

    /// Returns the paths of the specs that the last compilation evaluated.
    pub(super) fn evaluated(&self) -> &[String] {
        &self.evaluated
    }

    /// Returns what the text numbered `id` was read as, if it is the same.
    pub(super) fn text(&self, id: SourceId, sources: &SourceMap) -> Option<Text> {
        let (source, text) = self.texts.get(&id)?;
        is_same(source, id, sources).then(|| text.clone())
    }

    pub(super) fn keep_texts(&mut self, texts: &[Text], sources: &SourceMap) {
        let mut before = std::mem::take(&mut self.texts);
        for text in texts {
            let id = text.0.id;
            let kept = before.remove(&id).filter(|(source, _)| is_same(source, id, sources));
            let kept = kept.or_else(|| Some((Arc::clone(sources.shared(id)?), text.clone())));
            self.texts.extend(kept.map(|kept| (id, kept)));
        }
    }

    /// Returns a spec as it was put over its fragments and validated, if it and they are the same.
    pub(super) fn validated(&self, id: SourceId, fragments: &Fragments, sources: &SourceMap) -> Option<Loaded> {
        let known = self.specs.get(&id)?;
        let is_usable = |(name, id, source): &(String, SourceId, Arc<Source>)| {
            fragments.is_usable(name, *id) && is_same(source, *id, sources)
        };
        let is_known = is_same(&known.own, id, sources) && known.fragments.iter().all(is_usable);
        is_known.then(|| known.loaded.clone())
    }

    /// Finds out which files changed, and whether the names of benchmarks and suites did.
    pub(super) fn look_again(&mut self, read: &ReadFile, owners: &Arc<BTreeSet<String>>, suites: &Suites) {
        self.owners_are_new = *self.owners != **owners;
        self.owners = Arc::clone(owners);
        let paths: BTreeSet<&String> = self.specs.values().flat_map(|spec| spec.files.keys()).collect();
        let mut files = Files::new();
        for path in paths {
            let now = read(path);
            let file = self.files.get(path).filter(|known| ***known == now).cloned();
            files.insert(path.clone(), file.unwrap_or_else(|| Arc::new(now)));
        }
        self.files = files;
        self.suites = suites.memberships();
    }

    /// Returns what `spec` gave the last time, if nothing that it read is different.
    pub(super) fn outcome(&self, spec: &Loaded, manifests: &Manifests, sources: &SourceMap) -> Option<Evaluated> {
        let known = self.specs.get(&spec.id)?;
        let is_file = |(path, file): (&String, &File)| self.files.get(path).is_some_and(|now| is_equal(now, file));
        let reads_the_same = is_same(&known.own, spec.id, sources)
            && spec.fragments == known.loaded.fragments
            && known.fragments.iter().all(|(_, id, source)| is_same(source, *id, sources))
            && spec.document.is_some() == known.loaded.document.is_some()
            && all_same(&self.suites_of(spec, sources), &known.suites)
            && manifests.at(&spec.manifests).is_some_and(|now| all_same(&now, &known.manifests))
            && known.files.iter().all(is_file)
            && !(known.asked_for_owners && self.owners_are_new);
        reads_the_same.then(|| Evaluated::Known(spec.id, known.outcome.clone()))
    }

    /// Keeps what was evaluated, and returns it in its order.
    pub(super) fn keep(
        &mut self,
        all: Vec<Evaluated>,
        manifests: &Manifests,
        fragments: &Fragments,
        sources: &SourceMap,
    ) -> Vec<Outcome> {
        let mut before = std::mem::take(&mut self.specs);
        self.evaluated.clear();
        let mut outcomes = Vec::new();
        for evaluated in all {
            match evaluated {
                Evaluated::Known(id, outcome) => {
                    self.specs.extend(before.remove(&id).map(|spec| (id, spec)));
                    outcomes.push(outcome);
                }
                Evaluated::Again { spec, outcome, files, asked_for_owners } => {
                    self.evaluated.push(outcome.path.clone());
                    let manifests = manifests.at(&spec.manifests);
                    if let Some(manifests) = manifests.filter(|_| depends_on_what_is_there(&spec)) {
                        let kept = Spec {
                            own: shared(spec.id, sources),
                            fragments: parts(&spec, fragments, sources),
                            suites: self.suites_of(&spec, sources),
                            manifests,
                            files,
                            asked_for_owners,
                            loaded: spec,
                            outcome: outcome.clone(),
                        };
                        self.specs.insert(kept.loaded.id, kept);
                    }
                    outcomes.push(outcome);
                }
            }
        }
        self.manifests = manifests.clone();
        outcomes
    }

    /// Returns the texts of the suites that name the benchmark.
    fn suites_of(&self, spec: &Loaded, sources: &SourceMap) -> Vec<Arc<Source>> {
        let ids = spec.name().and_then(|name| self.suites.get(&name));
        ids.into_iter().flatten().map(|id| shared(*id, sources)).collect()
    }
}

/// Returns false for a suite, which is made from all benchmarks, and for a spec of which some fragments may be missing.
fn depends_on_what_is_there(spec: &Loaded) -> bool {
    match &spec.document {
        Some((kind, _)) => *kind == DocumentKind::Benchmark,
        None => !spec.extends,
    }
}

/// Returns the fragments of a spec, with their names and texts.
fn parts(spec: &Loaded, fragments: &Fragments, sources: &SourceMap) -> Vec<(String, SourceId, Arc<Source>)> {
    let part = |id: &SourceId| {
        let name = fragments.name_of(*id).expected("a name of each fragment that is part of a valid spec");
        (name.to_owned(), *id, shared(*id, sources))
    };
    spec.fragments.iter().map(part).collect()
}

fn shared(id: SourceId, sources: &SourceMap) -> Arc<Source> {
    Arc::clone(sources.shared(id).expected("a text of each document"))
}

fn is_same(source: &Arc<Source>, id: SourceId, sources: &SourceMap) -> bool {
    sources.shared(id).is_some_and(|now| Arc::ptr_eq(now, source))
}

fn all_same<T>(one: &[Arc<T>], other: &[Arc<T>]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
}

fn is_equal(one: &File, other: &File) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

/// The files that a spec reads.
#[derive(Default)]
pub(super) struct Recorder {
    seen: Arc<Mutex<Files>>,
}

impl Recorder {
    /// Returns `read`, recorded.
    pub(super) fn around(&self, read: &Arc<ReadFile>) -> Box<ReadFile> {
        let (seen, read) = (Arc::clone(&self.seen), Arc::clone(read));
        Box::new(move |path| {
            let file = read(path);
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.insert(path.to_owned(), Arc::new(file.clone()));
            file
        })
    }

    pub(super) fn into_files(self) -> Files {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
