//! Finds and reads result files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::sources::Content;
use super::{kind_of, words};
use kubebench_syntax::path::join;

/// Returns the file at `path`, or the JSON files below it, by the names that messages give them, which begin with `shown`; of one
/// that cannot be read, the reason.
///
/// Hidden files and folders are skipped, and no symbolic link is followed, but for one to a folder that `path` is itself.
pub fn find_results(path: &Path, shown: &str) -> BTreeMap<String, Result<PathBuf, Content>> {
    let mut found = BTreeMap::new();
    let shown = if shown == "/" { shown } else { shown.trim_end_matches('/') };
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(metadata) if metadata.is_symlink() && path.is_dir() => {}
        Ok(metadata) => {
            let file = if metadata.is_file() { Ok(path.to_owned()) } else { Err(refused(metadata.file_type())) };
            return BTreeMap::from([(shown.to_owned(), file)]);
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return BTreeMap::from([(shown.to_owned(), Err(Content::Absent))]);
        }
        Err(error) => return BTreeMap::from([(shown.to_owned(), Err(Content::Unreadable(words(&error))))]),
    }
    let mut waiting = vec![(path.to_owned(), shown.to_owned())];
    while let Some((folder, shown)) = waiting.pop() {
        if let Err(error) = list(&folder, &shown, &mut waiting, &mut found) {
            found.insert(shown, Err(Content::Unreadable(words(&error))));
        }
    }
    found
}

fn list(
    folder: &Path,
    shown: &str,
    waiting: &mut Vec<(PathBuf, String)>,
    found: &mut BTreeMap<String, Result<PathBuf, Content>>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        let (file_type, place) = (entry.file_type()?, join(shown, &name));
        if file_type.is_dir() {
            waiting.push((entry.path(), place));
        } else if is_result(&name) {
            let file = if file_type.is_file() { Ok(entry.path()) } else { Err(refused(file_type)) };
            found.insert(place, file);
        }
    }
    Ok(())
}

/// Returns whether the file at `path` is a result by its name.
pub fn is_result(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "json")
}

fn refused(file_type: fs::FileType) -> Content {
    Content::Refused(format!("it is a {}", kind_of(file_type)))
}

/// Reads a file found before, up to one byte more than `limit`.
pub fn read_result(path: &Path, limit: usize) -> Result<Vec<u8>, Content> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
    };
    read().map_err(|error| Content::Unreadable(words(&error)))
}
