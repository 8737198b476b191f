//! Which commit is checked out, and whether files differ from it.

use std::path::Path;

use git2::{Error, ErrorCode, Repository, Status};

/// Returns the commit that is checked out in the repository of `root`, and whether one of `paths` below `root` differs
/// from it or is unknown to it; nothing where there is no repository or no commit, and else why it cannot be told.
pub fn commit_of(root: &Path, paths: &[String]) -> Result<Option<(String, bool)>, String> {
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
        Ok(commit) => commit.id().to_string(),
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
    Ok(Some((commit, paths.iter().any(differs))))
}
