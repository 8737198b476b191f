//! Reads files that a person named, outside the project's own folders too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// Returns the text of a file.
pub fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the bytes of a file.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).context("cannot read it")
}

/// Returns the result files among `paths`, which start at `here`: files as they are, of folders every `.json` below.
pub fn result_files(here: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut next: Vec<(PathBuf, bool)> = paths.iter().map(|path| (path.clone(), true)).collect();
    while let Some((path, is_named)) = next.pop() {
        let full = here.join(&path);
        let kind = if is_named { full.metadata() } else { full.symlink_metadata() };
        let kind = kind.with_context(|| format!("cannot read {}", path.display()))?;
        if kind.is_dir() {
            let entries = std::fs::read_dir(&full).with_context(|| format!("cannot read {}", path.display()))?;
            for entry in entries {
                next.push((
                    path.join(entry.with_context(|| format!("cannot read {}", path.display()))?.file_name()),
                    false,
                ));
            }
        } else if kind.is_file() && (is_named || is_result(&path)) {
            found.insert(path);
        } else if is_named {
            bail!("{} is neither a file nor a folder", path.display());
        }
    }
    Ok(found.into_iter().collect())
}

/// Returns true for the name of a finished result file.
fn is_result(path: &Path) -> bool {
    let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    path.extension().is_some_and(|extension| extension == "json") && !is_hidden
}
