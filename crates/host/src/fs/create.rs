//! Writes single files that a person asked for, and finds out which files exist.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use kubebench_syntax::invariant::Invariant as _;

/// Writes a new file at `path` below `root`, with its folders; an existing one stays as it is and is an error.
pub fn create_new(root: &Path, path: &str, text: &str) -> Result<()> {
    let full = root.join(path);
    if let Some(folder) = full.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the folder of {path}"))?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&full) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!("{path} already exists and was not changed"),
        opened => opened.with_context(|| format!("cannot write {path}"))?,
    };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {path}"))
}

/// Returns the names in a folder; none where there is no folder, or it cannot be read.
pub fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Returns true when something exists at `path` below `root`.
pub fn exists(root: &Path, path: &str) -> bool {
    root.join(path).symlink_metadata().is_ok()
}

/// Writes a report, replacing an earlier one.
pub fn write_report(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).context("cannot write")
}

/// Replaces the content of the existing file at `path` below `root`, all or nothing.
pub fn replace(root: &Path, path: &str, text: &str) -> Result<()> {
    let full = root.join(path);
    let name = full.file_name().map(|name| name.to_string_lossy().into_owned()).expected("the name of a file");
    let temp = full.with_file_name(format!(".{name}.{}.kubebench-tmp", std::process::id()));
    let permissions = fs::metadata(&full).with_context(|| format!("cannot read {path}"))?.permissions();
    let written = fs::write(&temp, text)
        .and_then(|()| fs::set_permissions(&temp, permissions))
        .and_then(|()| fs::rename(&temp, &full));
    if written.is_err() {
        drop(fs::remove_file(&temp));
    }
    written.with_context(|| format!("cannot write {path}"))
}
