//! The specs of another commit, to compare with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::app::base::Base;
use crate::app::project::CompiledProject;
use kubebench_compiler::compile::{Compilation, Compiled};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_compiler::model::Target;
use kubebench_syntax::diag::{Diagnostic, Severity};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::text::SourceMap;

/// The target and the name of a benchmark.
pub type Key = (String, String);

/// Returns what a benchmark is known by across commits; its file may move.
pub(super) fn key(compiled: &Compiled) -> Key {
    (compiled.benchmark.target.name.clone(), compiled.benchmark.name.clone())
}

/// What another commit says about the benchmarks.
pub struct Since {
    revision: String,
    digests: BTreeMap<Key, Old>,
    /// The files of that commit that say nothing, because something is wrong with them.
    pub not_compared: Vec<Fault>,
    /// Targets that are gone, each with the one that seems to be it under another name.
    renamed: Vec<(String, String)>,
}

/// What a benchmark was.
struct Old {
    digest: Digest,
    /// The suite that ran it, whose volume has its results.
    suite: Option<String>,
    selected: bool,
}

/// A file of the other commit that does not compile, and the first reason.
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
        let Compilation { benchmarks, faulty, diagnostics, sources, .. } = &base.compilation;
        let selection = &project.selection;
        let digests = benchmarks
            .iter()
            .map(|compiled| {
                let suite = compiled.benchmark.suite.clone();
                let old = Old { digest: compiled.identity.digest, suite, selected: selection.has(compiled) };
                (key(compiled), old)
            })
            .collect();
        let not_compared = faulty
            .iter()
            .filter(|path| *path == PROJECT_FILE || selection.has_path(path))
            .filter_map(|path| {
                let is_reason = |fault: &&_| is_error_in(path, fault, sources);
                let reason = diagnostics.iter().find(is_reason)?;
                Some(Fault { path: path.clone(), code: reason.code.id, message: reason.message.clone() })
            })
            .collect();
        let renamed = renamed(project, base);
        Self { revision: base.revision.clone(), digests, not_compared, renamed }
    }

    /// Returns whether a benchmark that was there has what it executed, where its results are; nothing for a new one.
    pub fn is_unchanged(&self, compiled: &Compiled) -> Option<bool> {
        let old = self.digests.get(&key(compiled))?;
        Some(old.digest == compiled.identity.digest && old.suite == compiled.benchmark.suite)
    }

    /// Returns the benchmarks that were there and are asked for.
    pub fn selected(&self) -> impl Iterator<Item = &Key> {
        self.digests.iter().filter(|(_, old)| old.selected).map(|(key, _)| key)
    }

    /// Says which files could not be compared, and what that does to the answer.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let renamed = self.renamed.iter().map(|(old, new)| {
            format!(
                "note: the target `{old}` is gone and `{new}` is new, so a new history begins; write `formerly: [{old}]` \
                 for `{new}` in {PROJECT_FILE} to keep the old one"
            )
        });
        let faults = self.not_compared.iter().map(|Fault { path, code, message }| {
            let what = if path == PROJECT_FILE { "everything" } else { "what it held" };
            let revision = &self.revision;
            format!("note: `{path}` of `{revision}` does not compile ({code}: {message}), so {what} counts as new")
        });
        faults.chain(renamed)
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
