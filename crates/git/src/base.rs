//! The commit from which a change began, and what of a folder is not as it was there.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use git2::{Delta, DiffOptions, ErrorCode, Oid, Repository};

use super::history::{commit_called, hint, prefix, repository_of};

/// The commit from which what is checked out began.
pub struct Base {
    repository: Repository,
    commit: Oid,
    /// The project's path inside the repository: empty, or ending in a slash.
    prefix: String,
}

/// The files of a folder, by their paths below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Those that the base lacks.
    pub added: BTreeSet<String>,
    /// Those that it has and that are gone.
    pub removed: BTreeSet<String>,
    /// Those that have other bytes than there.
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
        let head = head.context("nothing is committed here yet, so there is nothing to compare with")?.id();
        let commit = repository.merge_base(head, other).map_err(|error| match error.code() {
            ErrorCode::NotFound => {
                anyhow!("`{revision}` and what is checked out have no commit in common{}", hint(&repository))
            }
            _ => anyhow!("cannot compare the histories of `{revision}` and HEAD: {}", error.message()),
        })?;
        let prefix = prefix(&repository, root)?;
        Ok(Self { repository, commit, prefix })
    }

    /// Returns the full name of the commit.
    pub fn commit(&self) -> String {
        self.commit.to_string()
    }

    /// Returns what of `folder`, which is below the project's, is not as in this commit, whether that is committed or not.
    pub fn changes(&self, folder: &str) -> Result<Changes> {
        let folder = format!("{}{folder}/", self.prefix);
        let tree = self.repository.find_commit(self.commit).and_then(|commit| commit.tree());
        let tree =
            tree.with_context(|| format!("cannot read the tree of {}{}", self.commit, hint(&self.repository)))?;
        let mut options = DiffOptions::new();
        options.pathspec(&folder).disable_pathspec_match(true).ignore_submodules(true);
        options.include_untracked(true).recurse_untracked_dirs(true);
        options.include_ignored(true).recurse_ignored_dirs(true);
        let diff = self.repository.diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options));
        let diff =
            diff.with_context(|| format!("cannot compare {folder} with {}{}", self.commit, hint(&self.repository)))?;
        let mut changes = Changes::default();
        for delta in diff.deltas() {
            let file = if delta.status() == Delta::Deleted { delta.old_file() } else { delta.new_file() };
            let path = file.path_bytes().and_then(|path| std::str::from_utf8(path).ok());
            // No result has a name that is not UTF-8.
            let Some(path) = path.and_then(|path| path.strip_prefix(&folder)) else { continue };
            let of_kind = match delta.status() {
                Delta::Added | Delta::Untracked | Delta::Ignored | Delta::Copied | Delta::Renamed => &mut changes.added,
                Delta::Deleted => &mut changes.removed,
                Delta::Modified | Delta::Typechange | Delta::Conflicted | Delta::Unreadable => &mut changes.changed,
                Delta::Unmodified => continue,
            };
            of_kind.insert(path.to_owned());
        }
        Ok(changes)
    }
}
