//! What of a session goes to disk: results, and the list of what a run left.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::wait::Waited;
use crate::edge::experiment;
use crate::result::v1::Artifact;
use crate::result::{self, BenchmarkResult, Sealed};

/// More files of a run are not listed in its result.
const MAX_ARTIFACTS: usize = 200;

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

/// Returns the files below `output` with their digests, logs first, then what the job wrote; and what cannot be read.
pub(super) fn artifacts(output: &Path, waited: &Waited) -> (Vec<Artifact>, Vec<String>) {
    let (mut artifacts, mut unreadable) = (Vec::new(), Vec::new());
    for name in experiment::files(output, MAX_ARTIFACTS) {
        match experiment::digest_of(&output.join(&name)) {
            Ok((digest, bytes)) => {
                let digest = digest.to_string();
                let log = waited.finished.iter().find(|finished| finished.log == name);
                let dropped_bytes = log.map_or(0, |finished| finished.dropped);
                artifacts.push(Artifact { name, digest, bytes, redacted: false, dropped_bytes });
            }
            Err(error) => unreadable.push(format!("{name} cannot be read: {error}")),
        }
    }
    (artifacts, unreadable)
}
