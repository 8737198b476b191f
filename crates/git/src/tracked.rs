//! Which files git tracks.

use std::path::{Path, PathBuf};

use git2::Repository;

/// Returns the top of the repository of `root` and the folders in which its index has a file called `name`, empty for the top; nothing
/// outside of a repository.
pub fn folders_with(root: &Path, name: &str) -> Option<(PathBuf, Vec<String>)> {
    let repository = Repository::discover(root).ok()?;
    let top = repository.workdir()?.canonicalize().ok()?;
    let index = repository.index().ok()?;
    let mut folders: Vec<String> = index
        .iter()
        .filter_map(|entry| String::from_utf8(entry.path).ok())
        .filter_map(|path| match path.rsplit_once('/') {
            Some((folder, file)) => (file == name).then(|| folder.to_owned()),
            None => (path == name).then(String::new),
        })
        .collect();
    folders.sort();
    // A path in conflict has several entries.
    folders.dedup();
    Some((top, folders))
}
