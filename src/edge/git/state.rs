//! Which commit is checked out, and whether files differ from it.

use std::path::Path;

use git2::{Repository, Status};

/// Returns the commit that is checked out in the repository of `root`, and whether one of `paths` below `root` differs
/// from it or is unknown to it; nothing where there is no repository or no commit.
pub fn commit_of(root: &Path, paths: &[String]) -> Option<(String, bool)> {
    let repository = Repository::discover(root).ok()?;
    let commit = repository.head().ok()?.peel_to_commit().ok()?.id().to_string();
    let top = repository.workdir()?.canonicalize().ok()?;
    let root = root.canonicalize().ok()?;
    let inside = root.strip_prefix(&top).ok()?;
    let differs = |path: &String| match repository.status_file(&inside.join(path)) {
        Ok(status) => status != Status::CURRENT,
        Err(_) => true,
    };
    Some((commit, paths.iter().any(differs)))
}
