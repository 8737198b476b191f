//! What differs between two compilations of one project, and which of it starts benchmarks.
//!
//! A cause is found by trial: a change is undone in what is checked out, and the benchmark is compiled again. If its run digest is
//! another one then, the change is a cause. No table says which fields count, so none can be wrong.

mod causes;
mod fields;
mod lists;
mod places;
mod resolved;
mod shown;
mod trial;
mod written;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::compile::{Compilation, Compiled};
pub use crate::lower::ReadFile;
use crate::model::Benchmark;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{self, Node, Value as YamlValue};

pub use resolved::{CaseChange, Fields, OfSpec, What};
pub use shown::Value;

/// The target and the name of a benchmark, by which it is known across commits.
pub type Key = (String, String);

/// Returns what a benchmark is known by.
pub fn key(benchmark: &Benchmark) -> Key {
    (benchmark.target.name.clone(), benchmark.name.clone())
}

/// A compilation, and what reads the files that its specs carry.
#[derive(Clone)]
pub struct Side<'c> {
    pub compilation: &'c Compilation,
    read: Arc<ReadFile>,
    /// The texts of project file, specs, suites and manifests, by path.
    texts: BTreeMap<&'c str, &'c str>,
}

impl<'c> Side<'c> {
    /// Takes a compilation and what reads other files of its project.
    pub fn new(compilation: &'c Compilation, read: Arc<ReadFile>) -> Self {
        let texts = compilation.sources.iter().map(|(_, source)| (source.path.as_str(), source.text.as_str()));
        Self { compilation, read, texts: texts.collect() }
    }

    /// Returns the document at `path`, if there is one that can be read.
    fn document(&self, path: &str) -> Option<Node> {
        let source = Source::new(path, self.texts.get(path)?.as_bytes());
        yaml::read(SourceId::default(), &source).root
    }

    /// Returns what the document at `path` says, whatever its benchmark is called.
    fn without_metadata(&self, path: &str) -> Option<String> {
        let mut document = self.document(path)?;
        if let YamlValue::Map(entries) = &mut document.value {
            entries.retain(|entry| entry.key != "metadata");
        }
        Some(written::exact(&document))
    }
}

/// Two compilations of one project by one version of this program.
#[derive(Clone)]
pub struct Sides<'c> {
    /// The side before the change.
    pub base: Side<'c>,
    /// What is checked out.
    pub head: Side<'c>,
    /// The version of this program.
    pub version: &'c str,
}

/// Something that differs: a field of a document, or a whole file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The file, relative to the project.
    pub file: String,
    /// The field in it, such as `spec.workload.job.image`; empty for the whole file.
    pub path: String,
    /// The old value, without secrets; none if there was none.
    pub old: Option<Value>,
    /// The new value.
    pub new: Option<Value>,
    /// How many fields below `path` differ.
    pub fields: usize,
}

/// How certain a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Without this change the run digest differs.
    Tried,
    /// Specs without this change do not compile, so it could not be tried.
    Possible,
}

impl Certainty {
    /// Returns what follows a cause that could not be tried.
    pub fn doubt(self) -> &'static str {
        match self {
            Self::Tried => "",
            Self::Possible => " (possible cause: without this change the spec does not compile)",
        }
    }
}

/// A change that starts a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    pub change: Change,
    /// In how many cases of how many something else is executed; nothing where the change concerns none of them alone.
    pub cases: Option<(usize, usize)>,
    pub certainty: Certainty,
}

/// What a change does about a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It was not there; `formerly` is the name that the same spec had on this target.
    New { formerly: Option<String> },
    /// It executes something else.
    Changed,
    /// It executes the same.
    Unchanged,
    /// The base does not compile, so it does not say what it was; these of the files that the benchmark is compiled from differ.
    Unknown { files: Vec<String> },
}

/// What differs about a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfBenchmark {
    pub state: State,
    /// What starts it: nothing unless it changed.
    pub causes: Vec<Cause>,
    /// What changed in its spec and starts nothing.
    pub idle: Vec<Change>,
}

/// A benchmark of the base that is not there any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    pub key: Key,
    /// The current name of the same spec, if it was renamed.
    pub renamed: Option<String>,
}

/// What differs between two compilations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Each benchmark of what is checked out.
    pub benchmarks: BTreeMap<Key, OfBenchmark>,
    pub removed: Vec<Removed>,
    /// What changed in the project file and in suites, and starts no benchmark.
    pub idle: Vec<Change>,
}

impl<'c> Sides<'c> {
    /// Returns what differs about the benchmarks that are `selected`.
    pub fn difference(&self, selected: impl Fn(&Compiled) -> bool) -> Difference {
        let of = |compilation: &'c Compilation, counts: &dyn Fn(&Compiled) -> bool| -> BTreeMap<Key, &'c Compiled> {
            let own = compilation.benchmarks.iter().filter(|compiled| counts(compiled));
            own.map(|compiled| (key(&compiled.benchmark), compiled)).collect()
        };
        // What a benchmark was is known regardless of its labels.
        let (base, head) = (of(self.base.compilation, &|_| true), of(self.head.compilation, &selected));
        let mut difference = causes::difference(self, &base, &head);
        difference.removed.retain(|old| base.get(&old.key).is_some_and(|old| selected(old)));
        difference
    }
}

#[cfg(test)]
mod tests;
