//! Which commit is checked out, and which files differ from it.

mod differing;

use std::path::{Path, PathBuf};

use git2::{Commit, Error, ErrorCode, Repository};

use super::content::Comparison;
use super::lineage::{branch_tips, default_branch};
use kubebench_format::result::v1::CommitContent;

pub use differing::Looked;

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedOut {
    pub commit: String,
    /// The files that differ from it, as seen from the project.
    pub differing: Vec<String>,
    /// What it holds and changes, as far as this clone knows.
    pub content: Option<CommitContent>,
}

/// Returns the commit that is checked out in the repository of `root`, and which files of those that are `looked` at differ from
/// it; nothing where there is no repository or no commit, and else why it is unknown.
pub fn checked_out(root: &Path, looked: &Looked<'_>) -> Result<Option<CheckedOut>, String> {
    with_commit(root, |repository, commit, inside| {
        let tips = default_branch(repository).map(|name| branch_tips(repository, &name)).unwrap_or_default();
        let results = inside.join(looked.results).to_string_lossy().replace('\\', "/");
        Ok(CheckedOut {
            commit: commit.id().to_string(),
            differing: differing::differing(root, repository, inside, looked, "git".as_ref())?,
            content: Comparison::without(&results, repository).content(commit, &tips).ok(),
        })
    })
}

/// Returns the name of the commit that is checked out, as [`checked_out`] does, without a look at files.
pub fn commit_here(root: &Path) -> Result<Option<String>, String> {
    with_commit(root, |_, commit, _| Ok(commit.id().to_string()))
}

/// Calls `answer` with the repository of `root`, its commit, and the project's place in the work tree.
fn with_commit<T>(
    root: &Path,
    answer: impl FnOnce(&Repository, &Commit<'_>, &Path) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let absent = |error: Error| match error.code() {
        ErrorCode::NotFound | ErrorCode::UnbornBranch => Ok(None),
        ErrorCode::Owner => Err(format!(
            "the repository belongs to another user: if you trust it, run `git config --global --add safe.directory \
             {}`",
            root.display()
        )),
        _ if error.message().contains("sha256") => {
            Err("it uses SHA-256 object names, which kubebench cannot read".to_owned())
        }
        _ => Err(error.message().to_owned()),
    };
    let repository = match Repository::discover(root) {
        Ok(repository) => repository,
        Err(error) => return absent(error),
    };
    let commit = match repository.head().and_then(|head| head.peel_to_commit()) {
        Ok(commit) => commit,
        Err(error) => return absent(error),
    };
    let Some(top) = repository.workdir() else { return Ok(None) };
    let real = |path: &Path| path.canonicalize().map_err(|error| kubebench_host::fs::words(&error));
    let (top, root) = (real(top)?, real(root)?);
    let inside: PathBuf = match root.strip_prefix(&top) {
        Ok(inside) => inside.to_owned(),
        Err(_) => return Err(format!("the project is outside of {}", top.display())),
    };
    answer(&repository, &commit, &inside).map(Some)
}
