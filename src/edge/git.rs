//! Reads files of another commit, without a checkout.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use git2::{ErrorCode, ObjectType, Repository, TreeWalkMode, TreeWalkResult};

/// One file of a commit.
#[derive(Clone, Debug)]
pub struct CommittedFile {
    /// Path relative to the project root.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Returns the files of commit `revision` below the project `root`, for whose root-relative path `wanted` says yes; sorted by path.
pub fn files_at(root: &Path, revision: &str, wanted: impl Fn(&str) -> bool) -> Result<Vec<CommittedFile>> {
    let repository = Repository::discover(root).map_err(|error| match error.code() {
        ErrorCode::NotFound => anyhow!("{} is not in a git repository", root.display()),
        _ => anyhow!("cannot open the git repository of {}: {}", root.display(), error.message()),
    })?;
    let commit = repository
        .revparse_single(revision)
        .and_then(|object| object.peel_to_commit())
        .map_err(|error| anyhow!("`{revision}` is not a commit of this repository: {}", error.message()))?;
    let prefix = prefix(&repository, root)?;
    let tree = commit.tree().context("cannot read the commit's tree")?;
    let mut files = Vec::new();
    tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        let path = format!("{}{}", folder, entry.name().unwrap_or_default());
        if let Some(path) =
            path.strip_prefix(&prefix).filter(|path| entry.kind() == Some(ObjectType::Blob) && wanted(path))
            && let Ok(blob) = repository.find_blob(entry.id())
        {
            files.push(CommittedFile { path: path.to_owned(), bytes: blob.content().to_vec() });
        }
        TreeWalkResult::Ok
    })
    .context("cannot walk the commit's tree")?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns the path of `root` inside the repository, empty or ending in a slash.
fn prefix(repository: &Repository, root: &Path) -> Result<String> {
    let top = repository.workdir().context("a bare repository has no project folder")?;
    let top = top.canonicalize().context("cannot resolve the repository's folder")?;
    let root = root.canonicalize().context("cannot resolve the project's folder")?;
    let inside = root.strip_prefix(&top).context("the project lies outside its repository")?;
    let inside = inside.to_string_lossy().replace('\\', "/");
    Ok(if inside.is_empty() { inside } else { format!("{inside}/") })
}
