//! A project as it was where a change began: at the newest commit that both another branch and what is checked out have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use crate::app::start::{Start, VERSION};
use kubebench_compiler::compile::{Compilation, Input, Workspace};
use kubebench_compiler::difference::Side;
use kubebench_compiler::lower::{PROJECT_FILE, Unreadable};
use kubebench_compiler::model::carried::MAX_BYTES;
use kubebench_git::{self as git, Compared};
use kubebench_host::fs::{find_root, is_spec};

/// A project where a change began.
pub struct Base {
    root: PathBuf,
    git: git::Base,
    /// The other branch, as people call it.
    pub revision: String,
    /// What its specs compiled to.
    pub compilation: Compilation,
    /// Where the project is new, the folders of projects that are gone: it may be one of them.
    pub gone: Vec<String>,
}

impl Base {
    /// Finds where the project around `start` began to differ from `revision`, and compiles it as it was there.
    pub fn around(start: &Start, revision: &str) -> Result<Self> {
        Self::read(&find_root(&start.folder()?), revision)
    }

    /// Finds where the project at `root` began to differ from `revision`, and compiles it as it was there.
    pub fn read(root: &Path, revision: &str) -> Result<Self> {
        let git = git::Base::of(root, revision)?;
        let compilation = compile_at(root, &git.commit())?;
        let is_new = compilation.sources.iter().next().is_none();
        let gone = if is_new { git.folders_that_lost(PROJECT_FILE)? } else { Vec::new() };
        Ok(Self { root: root.to_owned(), git, revision: revision.to_owned(), compilation, gone })
    }

    /// Returns the full name of the commit.
    pub fn commit(&self) -> String {
        self.git.commit()
    }

    /// Returns it as one side of a change.
    pub fn side(&self) -> Side<'_> {
        Side::new(&self.compilation, Arc::new(reader(&self.root, &self.commit())))
    }

    /// Compares what a folder of the project had with what is there.
    pub fn compare(&self, folder: &str) -> Result<Compared> {
        self.git.compare(folder)
    }

    /// Returns the files of a folder of the project as they were, by path.
    pub fn files(&self, folder: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let is_below = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let files = git::files_at(&self.root, &self.git.commit(), is_below)?;
        Ok(files.into_iter().map(|git::CommittedFile { path, bytes }| (path, bytes)).collect())
    }

    /// Returns a file of the project as it was.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>> {
        git::file_at(&self.root, &self.git.commit(), path)
    }
}

/// Compiles the specs and project file of another commit.
fn compile_at(root: &Path, revision: &str) -> Result<Compilation> {
    let input = |file: git::CommittedFile| Input { path: file.path, bytes: file.bytes };
    let project = git::files_at(root, revision, |path| path == PROJECT_FILE)?.into_iter().next().map(input);
    let workspace = Workspace::open(project, VERSION).carrying(reader(root, revision));
    let folders = workspace.spec_dirs();
    let wanted = |path: &str| is_spec(path) && folders.iter().any(|folder| is_visible_below(path, folder));
    let specs = git::files_at(root, revision, wanted)?.into_iter().map(input).collect();
    Ok(workspace.compile(specs))
}

/// Returns what reads the files that specs of another commit carried.
fn reader(root: &Path, revision: &str) -> impl Fn(&str) -> Result<Vec<u8>, Unreadable> + Send + Sync + 'static {
    let (root, revision) = (root.to_owned(), revision.to_owned());
    move |path| carried_at(&root, &revision, path)
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
