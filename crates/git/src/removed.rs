//! Results that the branch had, and has no more: results are only added, so these were deleted.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use git2::{Delta, DiffOptions, Repository, Tree};

use super::recorded::RecordedBranch;
use kubebench_host::fs::is_result;

impl RecordedBranch {
    /// Returns the files below `directory` that a commit of the branch removed, with the newest such commit, as far as the clone has the
    /// history; those that are there again are not among them.
    pub fn removed(&self, directory: &str) -> Result<BTreeMap<String, String>> {
        let words = || format!("the history of `{}` cannot be read", self.shown());
        match self.tip() {
            Some(tip) => self.reading(|repository| removed(repository, tip, directory)).with_context(words),
            None => Ok(BTreeMap::new()),
        }
    }
}

fn removed(repository: &Repository, tip: git2::Oid, directory: &str) -> Result<BTreeMap<String, String>, git2::Error> {
    let now = repository.find_commit(tip)?.tree()?;
    let is_there = |path: &str| now.get_path(path.as_ref()).is_ok();
    let mut walk = repository.revwalk()?;
    walk.push(tip)?;
    let mut found = BTreeMap::new();
    for id in walk {
        let commit = repository.find_commit(id?)?;
        let tree = commit.tree()?;
        for parent in commit.parents() {
            for path in gone(repository, &parent.tree()?, &tree, directory)? {
                if !is_there(&path) {
                    found.entry(path).or_insert_with(|| commit.id().to_string());
                }
            }
        }
    }
    Ok(found)
}

/// Returns the results below a folder that one tree has and the next one lacks.
fn gone(
    repository: &Repository,
    before: &Tree<'_>,
    after: &Tree<'_>,
    directory: &str,
) -> Result<Vec<String>, git2::Error> {
    let mut options = DiffOptions::new();
    options.pathspec(directory).disable_pathspec_match(true).skip_binary_check(true);
    let diff = repository.diff_tree_to_tree(Some(before), Some(after), Some(&mut options))?;
    let gone = diff.deltas().filter(|delta| delta.status() == Delta::Deleted);
    let paths = gone.filter_map(|delta| Some(delta.old_file().path()?.to_str()?.to_owned()));
    Ok(paths.filter(|path| is_result(path)).collect())
}
