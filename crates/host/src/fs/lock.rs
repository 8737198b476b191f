//! Keeps two compiles of one project apart.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Holds the lock until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct Guard {
    /// Closing the handle releases the lock.
    _folder: Option<File>,
}

/// Waits until no other compile of the project in `root` runs, calling `waiting` first if one does.
///
/// The lock is an advisory one on the folder itself, so that no lock file appears in anybody's `git status`, and a read-only file
/// system is no obstacle. Where a system cannot lock folders there is no lock: every step of a plan is independent.
pub fn lock(root: &Path, waiting: impl FnOnce()) -> Result<Guard> {
    let Ok(folder) = File::open(root) else {
        let metadata = std::fs::metadata(root).with_context(|| format!("cannot access `{}`", root.display()))?;
        anyhow::ensure!(metadata.is_dir(), "`{}` is not a folder", root.display());
        return Ok(Guard { _folder: None });
    };
    match folder.try_lock() {
        Ok(()) => Ok(Guard { _folder: Some(folder) }),
        Err(TryLockError::WouldBlock) => {
            waiting();
            while let Err(error) = folder.lock() {
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error).with_context(|| format!("cannot lock `{}`", root.display()));
                }
            }
            Ok(Guard { _folder: Some(folder) })
        }
        Err(TryLockError::Error(_)) => Ok(Guard { _folder: None }),
    }
}
