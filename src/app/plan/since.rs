//! The specs of another commit, to compare with.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::app::project::CompiledProject;
use crate::app::start::VERSION;
use kubebench_compiler::compile::{Compilation, Compiled, Input, Workspace};
use kubebench_compiler::lower::{PROJECT_FILE, Unreadable};
use kubebench_compiler::model::carried::MAX_BYTES;
use kubebench_git as git;
use kubebench_host::fs::is_spec;
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
    /// Compiles the specs and the project file of commit `revision`.
    pub fn read(project: &CompiledProject, revision: &str) -> Result<Self> {
        let Compilation { benchmarks, faulty, diagnostics, sources, .. } = compile_at(&project.root, revision)?;
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
                let is_reason = |fault: &&_| is_error_in(path, fault, &sources);
                let reason = diagnostics.iter().find(is_reason)?;
                Some(Fault { path: path.clone(), code: reason.code.id, message: reason.message.clone() })
            })
            .collect();
        Ok(Self { revision: revision.to_owned(), digests, not_compared })
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
        self.not_compared.iter().map(|Fault { path, code, message }| {
            let what = if path == PROJECT_FILE { "everything" } else { "what it held" };
            let revision = &self.revision;
            format!("note: `{path}` of `{revision}` does not compile ({code}: {message}), so {what} counts as new")
        })
    }
}

fn is_error_in(path: &str, fault: &Diagnostic, sources: &SourceMap) -> bool {
    fault.severity == Severity::Error && fault.path(sources) == path
}

/// Compiles the specs and project file of another commit.
fn compile_at(root: &Path, revision: &str) -> Result<Compilation> {
    let input = |file: git::CommittedFile| Input { path: file.path, bytes: file.bytes };
    let project = git::files_at(root, revision, |path| path == PROJECT_FILE)?.into_iter().next().map(input);
    let place = (root.to_owned(), revision.to_owned());
    let workspace = Workspace::open(project, VERSION).carrying(move |path| carried_at(&place.0, &place.1, path));
    let folders = workspace.spec_dirs();
    let wanted = |path: &str| is_spec(path) && folders.iter().any(|folder| is_visible_below(path, folder));
    let specs = git::files_at(root, revision, wanted)?.into_iter().map(input).collect();
    Ok(workspace.compile(specs))
}

/// Returns the file that a spec of another commit carried.
fn carried_at(root: &Path, revision: &str, path: &str) -> Result<Vec<u8>, Unreadable> {
    match git::file_at(root, revision, path) {
        Ok(Some(bytes)) if bytes.len() > MAX_BYTES => Err(Unreadable::TooLarge),
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(Unreadable::Absent { beside: Vec::new() }),
        Err(error) => Err(Unreadable::Failed(format!("{error:#}"))),
    }
}

/// Tells whether reading `folder` from disk would find `path`: names that begin with a dot are left out.
fn is_visible_below(path: &str, folder: &str) -> bool {
    let below = Path::new(path).strip_prefix(folder);
    below.is_ok_and(|below| !below.iter().any(|name| name.as_encoded_bytes().starts_with(b".")))
}
