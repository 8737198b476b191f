//! A project as it was where a change began: at the newest commit that both another branch and what is checked out have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use crate::app::start::{Start, VERSION};
use kubebench_compiler::compile::{Compilation, Input, Workspace};
use kubebench_compiler::difference::Side;
use kubebench_compiler::lower::{PROJECT_FILE, Unreadable};
use kubebench_compiler::model::carried::MAX_BYTES;
use kubebench_git::{self as git, Compared};
use kubebench_host::fs::{self, find_root, is_spec};

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
        let mut git = git::Base::of(root, revision)?;
        let mut compilation = compile_at(root, &git)?;
        let is_new = compilation.sources.iter().next().is_none();
        let mut gone = if is_new { git.folders_that_lost(PROJECT_FILE)? } else { Vec::new() };
        if let Some(folder) = moved_from(root, &git, &gone)? {
            gone.retain(|other| *other != folder);
            git = git.moved_from(&if folder.is_empty() { folder } else { format!("{folder}/") });
            compilation = compile_at(root, &git)?;
        }
        compilation.rename_targets(&former_targets(root, &compilation));
        Ok(Self { root: root.to_owned(), git, revision: revision.to_owned(), compilation, gone })
    }

    /// Returns the full name of the commit.
    pub fn commit(&self) -> String {
        self.git.commit()
    }

    /// Returns it as one side of a change.
    pub fn side(&self) -> Side<'_> {
        Side::new(&self.compilation, Arc::new(reader(&self.root, &self.git)))
    }

    /// Compares what a folder of the project had with what is there.
    pub fn compare(&self, folder: &str) -> Result<Compared> {
        self.git.compare(folder)
    }

    /// Returns the files of a folder of the project as they were, by path.
    pub fn files(&self, folder: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let is_below = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let files = git::files_below(&self.root, &self.git.commit(), self.git.folder(), is_below)?;
        Ok(files.into_iter().map(|git::CommittedFile { path, bytes }| (path, bytes)).collect())
    }

    /// Returns a file of the project as it was.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>> {
        git::file_below(&self.root, &self.git.commit(), self.git.folder(), path)
    }
}

/// Compiles the specs and project file of another commit.
fn compile_at(root: &Path, base: &git::Base) -> Result<Compilation> {
    let (revision, place) = (base.commit(), base.folder());
    let input = |file: git::CommittedFile| Input { path: file.path, bytes: file.bytes };
    let project = git::files_below(root, &revision, place, |path| path == PROJECT_FILE)?.into_iter().next().map(input);
    let workspace = Workspace::open(project, VERSION).carrying(reader(root, base));
    let folders = workspace.spec_dirs();
    let wanted = |path: &str| is_spec(path) && folders.iter().any(|folder| is_visible_below(path, folder));
    let specs = git::files_below(root, &revision, place, wanted)?.into_iter().map(input).collect();
    Ok(workspace.compile(specs))
}

/// Returns what reads the files that specs of another commit carried.
fn reader(root: &Path, base: &git::Base) -> impl Fn(&str) -> Result<Vec<u8>, Unreadable> + Send + Sync + 'static {
    let (root, revision, place) = (root.to_owned(), base.commit(), base.folder().to_owned());
    move |path| carried_at(&root, &revision, &place, path)
}

/// Returns which of the folders that lost their project has the one at `root`: the project file is the same or has the same name, or at
/// least half of the files are there unchanged. Nothing where several could be it.
fn moved_from(root: &Path, base: &git::Base, gone: &[String]) -> Result<Option<String>> {
    if gone.is_empty() {
        return Ok(None);
    }
    let now = fs::read_text(&root.join(PROJECT_FILE)).unwrap_or_default();
    let name = name_of(&now);
    let mut likeness = Vec::new();
    for folder in gone {
        let place = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let old = git::file_below(root, &base.commit(), &place, PROJECT_FILE)?.unwrap_or_default();
        let old = String::from_utf8_lossy(&old).into_owned();
        let (files, same) = base.in_common(&place)?;
        let is_named_so = name_of(&old).is_some_and(|old| Some(old) == name);
        if old == now || is_named_so || same * 2 >= files {
            likeness.push((old == now, is_named_so, same, folder));
        }
    }
    likeness.sort_by(|one, other| other.cmp(one));
    Ok(match likeness.as_slice() {
        [one, other, ..] if (one.0, one.1, one.2) == (other.0, other.1, other.2) => None,
        [(_, _, _, folder), ..] => Some((*folder).clone()),
        [] => None,
    })
}

/// Returns the names that targets have in the project at `root` by those that they have in its base, and there alone.
fn former_targets(root: &Path, base: &Compilation) -> BTreeMap<String, String> {
    let Ok(text) = fs::read_text(&root.join(PROJECT_FILE)) else { return BTreeMap::new() };
    let file = Input { path: PROJECT_FILE.to_owned(), bytes: text.into() };
    let workspace = Workspace::open(Some(file), VERSION);
    let (Some(now), Some(before)) = (workspace.project(), &base.project) else { return BTreeMap::new() };
    let had = |name: &String| before.targets.iter().any(|target| target.name == *name);
    now.former_targets().into_iter().filter(|(old, new)| had(old) && !had(new)).collect()
}

/// Returns the name that a project file gives its project.
fn name_of(text: &str) -> Option<String> {
    let workspace = Workspace::open(Some(Input { path: PROJECT_FILE.to_owned(), bytes: text.into() }), VERSION);
    workspace.project().and_then(|project| project.settings.name.clone())
}

/// Returns the file that a spec of another commit carried.
fn carried_at(root: &Path, revision: &str, folder: &str, path: &str) -> Result<Vec<u8>, Unreadable> {
    match git::file_below(root, revision, folder, path) {
        Ok(Some(bytes)) if bytes.len() > MAX_BYTES => Err(Unreadable::TooLarge),
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(Unreadable::Absent { beside: Vec::new() }),
        Err(error) => Err(Unreadable::Failed(format!("{error:#}"))),
    }
}

/// Returns whether reading `folder` from disk would find `path`: names that begin with a dot are left out.
fn is_visible_below(path: &str, folder: &str) -> bool {
    let below = Path::new(path).strip_prefix(folder);
    below.is_ok_and(|below| !below.iter().any(|name| name.as_encoded_bytes().starts_with(b".")))
}
