//! Folders in which runs take place.

use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The folder in a project in which local runs take place, for its owner alone. It ignores itself.
pub const IGNORED: &str = ".kubebench";

/// Returns the folder in which runs of the project `root` take place, made if need be.
pub fn private_folder(root: &Path) -> Result<PathBuf> {
    let root = root.canonicalize().context("cannot resolve the project's folder")?;
    let folder = root.join(IGNORED);
    let make = || -> std::io::Result<()> {
        // Logs are kept as they were printed, with what they hold of secrets. Who opens the folder later may.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        std::fs::create_dir_all(folder.join("experiments"))?;
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(ignore, "*\n")?;
        }
        Ok(())
    };
    make().with_context(|| format!("cannot create {}, the folder of local runs", folder.display()))?;
    Ok(folder)
}

/// Makes a folder and those above it.
pub fn make(folder: impl AsRef<Path>) -> Result<()> {
    let folder = folder.as_ref();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))
}

/// Writes a text of Kubebench's own.
pub fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Puts a carried file there, to be read and executed; one that is there stays.
pub fn carry(path: &Path, bytes: &[u8]) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    std::fs::write(path, bytes)
        .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o555)))
        .with_context(|| format!("cannot write {}", path.display()))
}
