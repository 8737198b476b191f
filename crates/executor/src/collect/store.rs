//! Results go to disk.

use std::path::{Path, PathBuf};

use kubebench_format::result::{self, BenchmarkResult, Sealed};
use kubebench_host::experiment::{self, Reserve};

/// A result, on disk where that could be.
pub struct Stored {
    /// The result and its bytes.
    pub sealed: Sealed,
    /// Its file; none when no disk took it.
    pub path: Option<PathBuf>,
}

/// Writes a result into `folder`, or where that cannot be into `refuge`, for which `reserve` is given up if need be; then
/// also returns why.
pub(crate) fn store_somewhere(
    folder: &Path,
    refuge: &Path,
    reserve: &mut Option<Reserve>,
    result: BenchmarkResult,
) -> (Stored, Option<String>) {
    let sealed = result::seal(result);
    let error = match experiment::keep(folder, &sealed) {
        Ok(path) => return (Stored { sealed, path: Some(path) }, None),
        Err(error) => error,
    };
    let kept = experiment::keep(refuge, &sealed).or_else(|error| {
        let held = reserve.take().ok_or(error)?;
        drop(held);
        experiment::keep(refuge, &sealed)
    });
    let path = kept.ok();
    let what = path.as_ref().map_or_else(
        || "the result could not be saved; the output above is the only copy".to_owned(),
        |path| format!("the result is kept in {}", path.display()),
    );
    (Stored { sealed, path }, Some(format!("{what}: {error:#}")))
}
