//! Which commit is checked out, and whether files differ from it.

use std::path::Path;

use git2::{Error, ErrorCode, Repository, Status};

use super::content::Comparison;
use super::lineage::{branch_tips, default_branch};
use kubebench_format::result::v1::CommitContent;

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedOut {
    /// The commit.
    pub commit: String,
    /// Whether a file differs from it.
    pub dirty: bool,
    /// What it holds and changes, as far as this clone can tell.
    pub content: Option<CommitContent>,
}

/// Returns the commit that is checked out in the repository of `root`, and whether one of `paths` below `root` differs
/// from it or is unknown to it; nothing where there is no repository or no commit, and else why it cannot be told.
///
/// Results are recorded in the folder `results` below `root`.
pub fn checked_out(root: &Path, paths: &[String], results: &str) -> Result<Option<CheckedOut>, String> {
    let absent = |error: Error| match error.code() {
        ErrorCode::NotFound | ErrorCode::UnbornBranch => Ok(None),
        ErrorCode::Owner => Err(format!(
            "the repository is another user's: if you trust it, `git config --global --add safe.directory {}`",
            root.display()
        )),
        _ if error.message().contains("sha256") => {
            Err("its objects are named by SHA-256, which is not read here".to_owned())
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
    let Ok(inside) = root.strip_prefix(&top) else {
        return Err(format!("the project lies outside of {}", top.display()));
    };
    let differs = |path: &String| match repository.status_file(&inside.join(path)) {
        Ok(status) => status != Status::CURRENT,
        Err(_) => true,
    };
    let tips = default_branch(&repository).map(|name| branch_tips(&repository, &name)).unwrap_or_default();
    Ok(Some(CheckedOut {
        commit: commit.id().to_string(),
        dirty: paths.iter().any(differs),
        content: Comparison::without(&inside.join(results).to_string_lossy().replace('\\', "/"), &repository)
            .content(&commit, &tips)
            .ok(),
    }))
}
