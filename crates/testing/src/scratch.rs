//! Folders for tests.

use std::path::Path;

use tempfile::TempDir;

/// Makes a folder in memory where there is such a place: what tests about thousands of small files is no test of a disk.
pub fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap()
}
