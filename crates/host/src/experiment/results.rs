//! Result files: there whole, or not at all, and never instead of another.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::machine;
use kubebench_format::result::{self, Sealed};

/// Makes the folder for results, and sees that files can be made there: after hours of measuring it is late for that.
pub fn prepare(folder: &Path) -> Result<()> {
    let probe = folder.join(format!(".{}.tmp", std::process::id()));
    std::fs::create_dir_all(folder)
        .and_then(|()| File::create(&probe))
        .and_then(|_| std::fs::remove_file(&probe))
        .with_context(|| format!("cannot write results into {}", folder.display()))
}

/// Writes a result to its place below `folder`, and returns its path.
pub fn keep(folder: &Path, sealed: &Sealed) -> Result<PathBuf> {
    let path = folder.join(result::path(&sealed.result));
    let parent = path.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent).with_context(|| format!("cannot create the folder {}", parent.display()))?;
    // The name is unique: not of another process that keeps this result, not of one that was killed.
    let unfinished = parent.join(format!(".{}.tmp", machine::random_id()?));
    let write = || -> std::io::Result<()> {
        let mut file = File::create_new(&unfinished)?;
        file.write_all(&sealed.bytes)?;
        file.sync_all()?;
        // A link, unlike a rename, does not replace what another process has put there meanwhile; not every file system has it.
        match std::fs::hard_link(&unfinished, &path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists && path.symlink_metadata().is_err() => {
                std::fs::rename(&unfinished, &path)
            }
            linked => linked,
        }
    };
    let written = write();
    drop(std::fs::remove_file(&unfinished));
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} already exists; a result is never overwritten", path.display())
        }
        written => written.with_context(|| format!("cannot write the result {}", path.display()))?,
    }
    // The entry of the folder too outlives a loss of power, where the system can promise that.
    drop(File::open(parent).and_then(|folder| folder.sync_all()));
    Ok(path)
}

/// Returns true when the place of a result below `folder` holds exactly its bytes.
pub fn keeps(folder: &Path, sealed: &Sealed) -> bool {
    std::fs::read(folder.join(result::path(&sealed.result))).is_ok_and(|bytes| bytes == sealed.bytes)
}

#[cfg(test)]
mod tests;
