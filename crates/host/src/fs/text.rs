//! Reads and writes files that a user named, outside the project's own folders too.

use std::path::Path;

use anyhow::{Context as _, Result};

/// Returns the text of a file.
pub fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes `text` as the whole of a file.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
