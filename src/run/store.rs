//! Results go to disk.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::edge::experiment;
use crate::result::{self, BenchmarkResult, Sealed};

/// A result on disk.
pub struct Stored {
    /// The result and its bytes.
    pub sealed: Sealed,
    /// Its file.
    pub path: PathBuf,
}

/// Writes a result into `folder`, or where that cannot be into `refuge`; then also returns why.
pub(super) fn store_somewhere(
    folder: &Path,
    refuge: &Path,
    result: BenchmarkResult,
) -> Result<(Stored, Option<String>)> {
    let sealed = result::seal(result);
    let error = match experiment::keep(folder, &sealed) {
        Ok(path) => return Ok((Stored { sealed, path }, None)),
        Err(error) => error,
    };
    match experiment::keep(refuge, &sealed) {
        Ok(path) => {
            let problem = format!("the result is kept in {}: {error:#}", path.display());
            Ok((Stored { sealed, path }, Some(problem)))
        }
        Err(_) => Err(error.context("the result is lost")),
    }
}
