//! Reads files of another commit, without a checkout.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use git2::{Commit, ErrorCode, ObjectType, Repository, TreeWalkMode, TreeWalkResult};
use kubebench_syntax::text::shell_word;

use super::lineage::default_branch;

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
    let folder = prefix(&repository_of(root)?, root)?;
    files_below(root, revision, &folder, wanted)
}

/// The same of the project in another folder of the repository of `root`: empty, or ending in a slash.
pub fn files_below(
    root: &Path,
    revision: &str,
    folder: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<CommittedFile>> {
    let repository = repository_of(root)?;
    let commit = commit_called(&repository, revision)?;
    let prefix = folder;
    let tree = commit.tree().context("cannot read the commit's tree")?;
    let mut files = Vec::new();
    let mut missing = None;
    let walked = tree.walk(TreeWalkMode::PreOrder, |above, entry| {
        // No spec has a name that is not UTF-8.
        let Ok(name) = entry.name() else { return TreeWalkResult::Skip };
        let path = format!("{above}{name}");
        let blob = path.strip_prefix(prefix).filter(|_| entry.kind() == Some(ObjectType::Blob));
        let Some(path) = blob.filter(|path| wanted(path)) else { return TreeWalkResult::Ok };
        match repository.find_blob(entry.id()) {
            Ok(blob) => files.push(CommittedFile { path: path.to_owned(), bytes: blob.content().to_vec() }),
            Err(error) => {
                missing = Some(anyhow!("cannot read {path} of `{revision}`: {}{}", error.message(), hint(&repository)));
                return TreeWalkResult::Abort;
            }
        }
        TreeWalkResult::Ok
    });
    if let Some(error) = missing {
        return Err(error);
    }
    walked.context("cannot walk the commit's tree")?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns the regular file at `path`, which is relative to the project `root`, in commit `revision`, if it is there.
pub fn file_at(root: &Path, revision: &str, path: &str) -> Result<Option<Vec<u8>>> {
    let repository = Repository::discover(root).context("cannot open the git repository")?;
    file_below(root, revision, &prefix(&repository, root)?, path)
}

/// The same of the project in another folder of the repository of `root`: empty, or ending in a slash.
pub fn file_below(root: &Path, revision: &str, folder: &str, path: &str) -> Result<Option<Vec<u8>>> {
    const EXECUTABLE_OR_NOT: [i32; 2] = [0o100_755, 0o100_644];
    let repository = Repository::discover(root).context("cannot open the git repository")?;
    let tree = repository.revparse_single(revision).and_then(|object| object.peel_to_tree());
    let tree = tree.with_context(|| format!("cannot read the tree of `{revision}`"))?;
    let full = format!("{folder}{path}");
    let entry = match tree.get_path(Path::new(&full)) {
        Ok(entry) if EXECUTABLE_OR_NOT.contains(&entry.filemode()) => entry,
        Ok(_) => return Ok(None),
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot look for {path} in `{revision}`")),
    };
    let blob = repository.find_blob(entry.id());
    Ok(Some(
        blob.with_context(|| format!("cannot read {path} of `{revision}`{}", hint(&repository)))?.content().to_vec(),
    ))
}

/// Opens the repository of the project at `root`.
pub(super) fn repository_of(root: &Path) -> Result<Repository> {
    Repository::discover(root).map_err(|error| match error.code() {
        ErrorCode::NotFound => anyhow!("{} is not in a git repository", root.display()),
        _ => anyhow!("cannot open the git repository of {}: {}", root.display(), error.message()),
    })
}

/// Returns the commit that people call `revision`.
pub(super) fn commit_called<'r>(repository: &'r Repository, revision: &str) -> Result<Commit<'r>> {
    repository.revparse_single(revision).and_then(|object| object.peel_to_commit()).map_err(|error| {
        if error.code() != ErrorCode::NotFound {
            return anyhow!("`{revision}` is not a commit of this repository: {}{}", error.message(), hint(repository));
        }
        let remote = revision.strip_prefix("refs/remotes/").unwrap_or(revision).split_once('/');
        let fetch = remote.filter(|(remote, _)| repository.find_remote(remote).is_ok()).map(|(remote, branch)| {
            let refspec = shell_word(&format!("{branch}:refs/remotes/{remote}/{branch}"));
            format!("; run `git fetch {} {refspec}`", shell_word(remote))
        });
        anyhow!("`{revision}` is not a commit in this clone{}{}", fetch.unwrap_or_default(), hint(repository))
    })
}

/// Says what may be missing: CI systems fetch one commit by default.
pub(super) fn hint(repository: &Repository) -> &'static str {
    if repository.is_shallow() {
        "; this clone is shallow: fetch the history (`git fetch --unshallow`, or `fetch-depth: 0` in actions/checkout)"
    } else {
        ""
    }
}

/// Returns the path of the project at `root` inside its repository, empty or ending in a slash; none where there is no repository.
pub fn folder_in_repository(root: &Path) -> Option<String> {
    prefix(&repository_of(root).ok()?, root).ok()
}

/// Returns the default branch of the remote `origin` of the repository around `root`, where a clone or fetch has set it.
pub fn default_branch_of_remote(root: &Path) -> Option<String> {
    let repository = repository_of(root).ok()?;
    let head = repository.find_reference("refs/remotes/origin/HEAD").ok()?;
    let target = head.symbolic_target().ok().flatten()?;
    target.strip_prefix("refs/remotes/origin/").map(str::to_owned)
}

/// Returns the branch of the repository around `root` that changes go to: the default branch, else the one that is checked out; none
/// where there is no repository, or neither.
pub fn branch_of_changes(root: &Path) -> Option<String> {
    let repository = repository_of(root).ok()?;
    default_branch(&repository).or_else(|| {
        // A branch without a commit has a name, too.
        let head = repository.find_reference("HEAD").ok()?;
        let target = head.symbolic_target().ok().flatten()?;
        target.strip_prefix("refs/heads/").map(str::to_owned)
    })
}

/// Returns the path of `root` inside the repository, empty or ending in a slash.
pub(super) fn prefix(repository: &Repository, root: &Path) -> Result<String> {
    let top = repository.workdir().context("a bare repository has no project folder")?;
    let top = top.canonicalize().context("cannot resolve the repository's folder")?;
    let root = root.canonicalize().context("cannot resolve the project's folder")?;
    let inside = root.strip_prefix(&top).context("the project is outside its repository")?;
    let inside = inside.to_string_lossy().replace('\\', "/");
    Ok(if inside.is_empty() { inside } else { format!("{inside}/") })
}
