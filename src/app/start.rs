//! Where a command starts.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use kubebench_host::terminal;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The folder that a command starts in. Paths that people give begin there.
#[derive(Clone, Debug, Default)]
pub struct Start {
    directory: Option<PathBuf>,
}

impl Start {
    /// Starts in `directory`; without one, in the working directory of the process.
    pub fn at(directory: Option<PathBuf>) -> Self {
        Self { directory }
    }

    /// Returns the folder; an error where it is not one.
    pub fn folder(&self) -> Result<PathBuf> {
        match &self.directory {
            Some(directory) if directory.is_dir() => Ok(directory.clone()),
            Some(directory) => bail!("{} is not a folder", directory.display()),
            None => terminal::working_directory(),
        }
    }

    /// Returns where the file is that a person named.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.directory.as_ref().map_or_else(|| path.to_owned(), |directory| directory.join(path))
    }
}
