//! Which files git leaves out of commits: no review shows them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use git2::Repository;

use super::history::prefix;

/// The repository of a project, asked about its files.
pub struct Ignored {
    repository: Mutex<Repository>,
    /// The project's path inside the repository: empty, or ending in a slash.
    prefix: String,
}

impl Ignored {
    /// Opens the repository of the project at `root`; nothing where there is none.
    pub fn of(root: &Path) -> Option<Self> {
        let repository = Repository::discover(root).ok()?;
        let prefix = prefix(&repository, root).ok()?;
        Some(Self { repository: Mutex::new(repository), prefix })
    }

    /// Returns whether git ignores the file at `path`, which is relative to the project, and has it in no commit to come.
    pub fn has(&self, path: &str) -> bool {
        let path = PathBuf::from(format!("{}{path}", self.prefix));
        let repository = self.repository.lock().unwrap_or_else(PoisonError::into_inner);
        let is_tracked = repository.index().is_ok_and(|index| index.get_path(&path, 0).is_some());
        !is_tracked && repository.is_path_ignored(&path).unwrap_or(false)
    }
}
