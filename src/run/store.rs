//! What of a session goes to disk: results, and the list of what a run left.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::wait::Waited;
use crate::edge::experiment::{self, Left};
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

/// Returns the files of the run with their digests: logs first, then what postprocessing and the job wrote; and why others
/// are not among them.
pub(super) fn artifacts(left: &Left, waited: &Waited) -> (Vec<Artifact>, Vec<String>) {
    let mut artifacts = Vec::new();
    let (names, hidden) = left.files(MAX_ARTIFACTS);
    let says =
        |name| format!("{name} of `postprocess` is not listed: the run wrote a file of that name below `output`");
    let mut absent: Vec<String> = hidden.into_iter().map(says).collect();
    for name in names {
        let read =
            left.artifact(&name).and_then(|path| experiment::digest_of(&path).map_err(|error| error.to_string()));
        match read {
            Ok((digest, bytes)) => {
                let digest = digest.to_string();
                let log = waited.finished.iter().find(|finished| finished.log == name);
                let dropped_bytes = log.map_or(0, |finished| finished.dropped);
                artifacts.push(Artifact { name, digest, bytes, redacted: false, dropped_bytes });
            }
            Err(error) => absent.push(format!("{name} cannot be read: {error}")),
        }
    }
    (artifacts, absent)
}
