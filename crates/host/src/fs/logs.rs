//! Opens logs and other files that are read as they stream.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::words;

/// How much of a log is read at once.
const PIECE: usize = 256 << 10;

/// Opens the file at `path` that a person named: whatever can be read to an end, a pipe too.
///
/// # Errors
/// Why it cannot be opened, as a fragment.
pub fn open_log(path: &Path) -> Result<Box<dyn BufRead>, String> {
    let file_type = fs::metadata(path).map_err(|error| words(&error))?;
    if file_type.is_dir() {
        return Err("it is a folder".to_owned());
    }
    Ok(read_in_pieces(File::open(path).map_err(|error| words(&error))?))
}

/// Returns the system's words for an error of a log that was opened.
pub fn log_error(error: &io::Error) -> String {
    words(error)
}

/// Returns standard input.
pub fn standard_input() -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(PIECE, io::stdin()))
}

/// Returns a reader of `file` that asks the system for large pieces.
pub fn read_in_pieces(file: File) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(PIECE, file))
}
