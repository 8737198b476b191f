//! The specs of another commit, to compare with.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::app::base::Base;
use crate::app::project::CompiledProject;
use kubebench_compiler::compile::Compilation;
use kubebench_compiler::difference::{Difference, OfBenchmark, key};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_compiler::model::{Benchmark, Target};
use kubebench_syntax::diag::{Diagnostic, Severity};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::text::SourceMap;

/// What another commit says about the benchmarks.
pub struct Since {
    revision: String,
    /// What differs from it.
    pub difference: Difference,
    /// The files of that commit that say nothing, because something is wrong with them.
    pub not_compared: Vec<Fault>,
    /// Targets that are gone, each with the one that seems to be it under another name.
    renamed: Vec<(String, String)>,
}

/// A file of the other commit that does not compile, and the first reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The file.
    pub path: String,
    /// The code of its first error.
    pub code: &'static str,
    /// What that says.
    pub message: String,
}

impl Since {
    /// Takes what the base of a change says.
    pub(super) fn of(project: &CompiledProject, base: &Base) -> Self {
        let selection = &project.selection;
        let difference = project.sides(base).difference(|compiled| selection.has(compiled));
        Self {
            revision: base.revision.clone(),
            difference,
            not_compared: Fault::of(project, base),
            renamed: renamed(project, base),
        }
    }

    /// Returns what differs about a benchmark.
    pub(super) fn about(&self, benchmark: &Benchmark) -> Option<&OfBenchmark> {
        self.difference.benchmarks.get(&key(benchmark))
    }

    /// Returns why the other commit does not say what a benchmark was, which is compiled from `files` and others.
    pub(super) fn fault(&self, benchmark: &Benchmark, files: &[String]) -> Option<&Fault> {
        let of = |path: &str| self.not_compared.iter().find(|fault| fault.path == path);
        of(PROJECT_FILE).or_else(|| of(&benchmark.path)).or_else(|| files.iter().find_map(|path| of(path)))
    }

    /// Says which files could not be compared, and what that does to the answer.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let renamed = self.renamed.iter().map(|(old, new)| {
            format!(
                "note: the target `{old}` is gone and `{new}` is new, so a new history begins; write `formerly: [{old}]` \
                 for `{new}` in {PROJECT_FILE} to keep the old one"
            )
        });
        self.not_compared.iter().map(|fault| fault.note(&self.revision)).chain(renamed)
    }
}

impl Fault {
    /// Returns the reason as it follows a sentence: `specs/a.yaml: KB0203: …`.
    pub fn reason(&self) -> String {
        format!("{}: {}: {}", self.path, self.code, self.message)
    }

    /// Returns the files of the base of a change that do not compile.
    pub fn of(project: &CompiledProject, base: &Base) -> Vec<Self> {
        let Compilation { faulty, diagnostics, sources, .. } = &base.compilation;
        let asked = faulty.iter().filter(|path| *path == PROJECT_FILE || project.selection.has_path(path));
        let of = |path: &String| {
            let reason = diagnostics.iter().find(|fault| is_error_in(path, fault, sources))?;
            Some(Self { path: path.clone(), code: reason.code.id, message: reason.message.clone() })
        };
        asked.filter_map(of).collect()
    }

    /// Says that a file of `revision` could not be compared, and what that does to the answer.
    pub fn note(&self, revision: &str) -> String {
        let Self { path, code, message } = self;
        let what = if path == PROJECT_FILE { "everything" } else { "what it held" };
        format!("note: `{path}` of `{revision}` does not compile ({code}: {message}), so {what} counts as new")
    }
}

/// Returns the targets that only the base has, each with a new one in the same place or with one of its benchmarks as it was.
fn renamed(project: &CompiledProject, base: &Base) -> Vec<(String, String)> {
    let targets = |compilation: &Compilation| -> Vec<Arc<Target>> {
        compilation.project.iter().flat_map(|project| project.targets.iter().cloned()).collect()
    };
    let (before, now) = (targets(&base.compilation), targets(&project.compilation));
    let only = |one: &[Arc<Target>], other: &[Arc<Target>]| -> Vec<Arc<Target>> {
        one.iter().filter(|target| !other.iter().any(|other| other.name == target.name)).cloned().collect()
    };
    let (gone, new) = (only(&before, &now), only(&now, &before));
    let runs = |compilation: &Compilation, target: &Target| -> BTreeSet<(String, Digest)> {
        let of = compilation.benchmarks.iter().filter(|compiled| compiled.benchmark.target.name == target.name);
        of.map(|compiled| (compiled.benchmark.name.clone(), compiled.identity.digest)).collect()
    };
    let successor = |old: &Arc<Target>| {
        let is_place = |new: &&Arc<Target>| new.cluster == old.cluster && new.namespace == old.namespace;
        let had = runs(&base.compilation, old);
        let has_runs = |new: &&Arc<Target>| !runs(&project.compilation, new).is_disjoint(&had);
        let new = new.iter().find(is_place).or_else(|| new.iter().find(has_runs))?;
        Some((old.name.clone(), new.name.clone()))
    };
    gone.iter().filter_map(successor).collect()
}

fn is_error_in(path: &str, fault: &Diagnostic, sources: &SourceMap) -> bool {
    fault.severity == Severity::Error && fault.path(sources) == path
}
