//! The commit from which a change began, and what of a folder is as it was there.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use git2::{Delta, DiffOptions, ErrorCode, ObjectType, Oid, Repository, Tree, TreeWalkMode, TreeWalkResult};

use super::history::{commit_called, hint, prefix, repository_of};

/// The commit from which what is checked out began.
pub struct Base {
    repository: Repository,
    commit: Oid,
    /// The project's path inside the repository: empty, or ending in a slash.
    prefix: String,
    /// The same in that commit.
    old_prefix: String,
}

/// The files that a folder had, by their paths below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Those that are as they were.
    pub kept: BTreeSet<String>,
    /// Those that are gone.
    pub removed: BTreeSet<String>,
    /// Those that have other bytes.
    pub changed: BTreeSet<String>,
}

impl Base {
    /// Finds the newest commit that both `revision` and what is checked out in the project at `root` have.
    ///
    /// # Errors
    /// There is no repository, no such commit, nothing checked out, or no common commit in this clone.
    pub fn of(root: &Path, revision: &str) -> Result<Self> {
        let repository = repository_of(root)?;
        let other = commit_called(&repository, revision)?.id();
        let head = repository.head().and_then(|head| head.peel_to_commit());
        let head = head.context("the repository has no commit, so there is nothing to compare with")?.id();
        let commit = repository.merge_base(head, other).map_err(|error| match error.code() {
            ErrorCode::NotFound => {
                anyhow!("`{revision}` and HEAD have no common commit{}", hint(&repository))
            }
            _ => anyhow!("cannot compare the histories of `{revision}` and HEAD: {}", error.message()),
        })?;
        let prefix = prefix(&repository, root)?;
        Ok(Self { repository, commit, old_prefix: prefix.clone(), prefix })
    }

    /// Looks for the project in another folder of this commit, from which it has moved: empty, or ending in a slash.
    #[must_use]
    pub fn moved_from(self, folder: &str) -> Self {
        Self { old_prefix: folder.to_owned(), ..self }
    }

    /// Returns the folder of the project in this commit: empty, or ending in a slash.
    pub fn folder(&self) -> &str {
        &self.old_prefix
    }

    /// Counts the files that `folder` has in this commit, and those that the project has unchanged at the same places below its own.
    pub fn in_common(&self, folder: &str) -> Result<(usize, usize)> {
        let why = || format!("cannot read the files of {}{}", self.commit, hint(&self.repository));
        let tree = self.tree().with_context(why)?;
        let files = self.files(&tree, folder).with_context(why)?;
        let mut same = 0;
        for path in &files {
            same += usize::from(self.is_kept(&tree, &format!("{folder}{path}"), path).with_context(why)?);
        }
        Ok((files.len(), same))
    }

    /// Returns whether a file of a tree is in the project unchanged, at `path` below its folder.
    fn is_kept(&self, tree: &Tree<'_>, old: &str, path: &str) -> Result<bool, git2::Error> {
        let Some(top) = self.repository.workdir() else { return Ok(false) };
        let Ok(bytes) = std::fs::read(top.join(&self.prefix).join(path)) else { return Ok(false) };
        let old = tree.get_path(Path::new(old))?.id();
        if Oid::hash_object(ObjectType::Blob, &bytes)? == old {
            return Ok(true);
        }
        // A checkout may have other line ends than the commit.
        let text = String::from_utf8(bytes).map(|text| text.replace("\r\n", "\n")).unwrap_or_default();
        Ok(Oid::hash_object(ObjectType::Blob, text.as_bytes())? == old)
    }

    /// Returns the full name of the commit.
    pub fn commit(&self) -> String {
        self.commit.to_string()
    }

    /// Compares what `folder`, which is below the project's, had in this commit with what is there, whether that is committed or not.
    pub fn compare(&self, folder: &str) -> Result<Compared> {
        if self.prefix != self.old_prefix {
            return self.compare_moved(folder);
        }
        let folder = format!("{}{folder}/", self.prefix);
        let why = || format!("cannot compare {folder} with {}{}", self.commit, hint(&self.repository));
        let tree = self.tree().with_context(why)?;
        let mut compared = Compared { kept: self.files(&tree, &folder).with_context(why)?, ..Compared::default() };
        let mut options = DiffOptions::new();
        options.pathspec(&folder).disable_pathspec_match(true).ignore_submodules(true).ignore_filemode(true);
        let diff =
            self.repository.diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options)).with_context(why)?;
        for delta in diff.deltas() {
            let path = delta.old_file().path_bytes().and_then(|path| std::str::from_utf8(path).ok());
            let Some(path) = path.and_then(|path| path.strip_prefix(&folder)) else { continue };
            // The mode of a file is no part of it.
            if delta.status() == Delta::Modified && delta.old_file().id() == delta.new_file().id() {
                continue;
            }
            if let Some(path) = compared.kept.take(path) {
                let is_gone = delta.status() == Delta::Deleted;
                if is_gone { &mut compared.removed } else { &mut compared.changed }.insert(path);
            }
        }
        Ok(compared)
    }

    fn compare_moved(&self, folder: &str) -> Result<Compared> {
        let old = format!("{}{folder}/", self.old_prefix);
        let why = || format!("cannot compare {old} with {}{}", self.commit, hint(&self.repository));
        let top = self.repository.workdir().context("a bare repository has no project folder")?;
        let tree = self.tree().with_context(why)?;
        let mut compared = Compared::default();
        for path in self.files(&tree, &old).with_context(why)? {
            let here = format!("{folder}/{path}");
            let state = if self.is_kept(&tree, &format!("{old}{path}"), &here).with_context(why)? {
                &mut compared.kept
            } else if top.join(&self.prefix).join(&here).exists() {
                &mut compared.changed
            } else {
                &mut compared.removed
            };
            state.insert(path);
        }
        Ok(compared)
    }

    /// Returns the folders of the repository in which this commit has a file called `name` that is gone.
    pub fn folders_that_lost(&self, name: &str) -> Result<Vec<String>> {
        let why = || format!("cannot read the files of {}{}", self.commit, hint(&self.repository));
        let tree = self.tree().with_context(why)?;
        let top = self.repository.workdir().context("a bare repository has no project folder")?;
        let mut folders = Vec::new();
        let walked = tree.walk(TreeWalkMode::PreOrder, |above, entry| {
            if entry.name().ok() == Some(name) && !top.join(above).join(name).exists() {
                folders.push(above.trim_end_matches('/').to_owned());
            }
            TreeWalkResult::Ok
        });
        walked.with_context(why)?;
        Ok(folders)
    }

    fn tree(&self) -> Result<Tree<'_>, git2::Error> {
        self.repository.find_commit(self.commit)?.tree()
    }

    /// Returns the regular files of a folder of a tree, by their paths below it.
    fn files(&self, tree: &Tree<'_>, folder: &str) -> Result<BTreeSet<String>, git2::Error> {
        let tree = match tree.get_path(Path::new(folder)) {
            _ if folder.is_empty() => tree.clone(),
            Ok(entry) => entry.to_object(&self.repository)?.peel_to_tree()?,
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(BTreeSet::new()),
            Err(error) => return Err(error),
        };
        let mut files = BTreeSet::new();
        tree.walk(TreeWalkMode::PreOrder, |above, entry| {
            // No result has a name that is not UTF-8.
            if let (Ok(name), Some(ObjectType::Blob)) = (entry.name(), entry.kind()) {
                files.insert(format!("{above}{name}"));
            }
            TreeWalkResult::Ok
        })?;
        Ok(files)
    }
}
