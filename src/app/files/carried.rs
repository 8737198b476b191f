//! Reads the files that specs carry.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kubebench_compiler::lower::{PROJECT_FILE, Unreadable};
use kubebench_compiler::model::carried::MAX_BYTES;
use kubebench_git::Ignored;
use kubebench_host::fs::{below, kind_of, normal, read_in_pieces, words};
use kubebench_syntax::path::join;

/// How many names of a folder are looked at for one that may have been meant.
const NAMES_LOOKED_AT: usize = 1000;
/// How many names of a project are looked at for those that an editor offers.
const NAMES_LISTED: usize = 5000;

/// Returns what reads the files that specs of the project at `root` carry.
pub fn carrying(root: PathBuf) -> impl Fn(&str) -> Result<Vec<u8>, Unreadable> + Send + Sync {
    // Most specs carry none.
    let ignored = OnceLock::new();
    move |path| read_carried(&root, ignored.get_or_init(|| Ignored::of(&root)).as_ref(), path)
}

/// Returns the bytes of the regular file at `path`, which is relative to `root`; no symbolic link is followed on the way, and what git
/// ignores is refused.
pub(super) fn read_carried(root: &Path, ignored: Option<&Ignored>, path: &str) -> Result<Vec<u8>, Unreadable> {
    let place = find(root, path)?;
    if ignored.is_some_and(|ignored| ignored.has(path)) {
        return Err(Unreadable::Refused("git ignores it, so no review shows it".to_owned()));
    }
    read(&place).map_err(|error| Unreadable::Failed(words(&error)))?.ok_or(Unreadable::TooLarge)
}

/// Opens the kept log at `path`, by the same rules as a carried file but for its size.
pub fn open_kept(root: &Path, path: &str) -> Result<Box<dyn BufRead>, Unreadable> {
    let place = find(root, path)?;
    File::open(place).map(read_in_pieces).map_err(|error| Unreadable::Failed(words(&error)))
}

/// Returns where the regular file at `path` is.
fn find(root: &Path, path: &str) -> Result<PathBuf, Unreadable> {
    let Some(names) = normal(Path::new(path)).filter(|names| !names.as_os_str().is_empty()) else {
        return Err(Unreadable::Refused("it is outside the project".to_owned()));
    };
    let mut place = String::new();
    let mut names = names.iter().map(|name| name.to_string_lossy()).peekable();
    while let Some(name) = names.next() {
        let folder = place.clone();
        place = join(&place, &name);
        let file_type = match fs::symlink_metadata(below(root, &place)) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                let rest: Vec<_> = names.collect();
                return Err(Unreadable::Absent { beside: near(root, &folder, &rest.join("/")) });
            }
            Err(error) => return Err(Unreadable::Failed(words(&error))),
        };
        let is_last = names.peek().is_none();
        if file_type.is_symlink() {
            let what = if is_last { "it".to_owned() } else { format!("`{place}`") };
            return Err(Unreadable::Refused(format!("{what} is a symbolic link")));
        } else if is_last && !file_type.is_file() {
            return Err(Unreadable::Refused(format!("it is a {}", kind_of(file_type))));
        }
    }
    Ok(below(root, &place))
}

/// Returns the paths of regular files of the project at `root` that specs may carry, in order; not those below the folders `except`, and
/// of a large project the nearest ones. No symbolic link is followed, and what git ignores is left out.
pub fn listed(root: &Path, except: &[String]) -> Vec<String> {
    let ignored = Ignored::of(root);
    let is_left_out = |path: &String| {
        except.contains(path)
            || path.rsplit('/').next().is_some_and(|name| name.starts_with('.'))
            || ignored.as_ref().is_some_and(|ignored| ignored.has(path))
    };
    let mut found = Vec::new();
    let mut folders = VecDeque::from([String::new()]);
    let mut looked_at = 0;
    while let Some(folder) = folders.pop_front() {
        let place = below(root, &folder);
        // Another project has its own files.
        if !folder.is_empty() && fs::symlink_metadata(place.join(PROJECT_FILE)).is_ok() {
            continue;
        }
        let room = NAMES_LISTED.saturating_sub(looked_at);
        for entry in fs::read_dir(place).into_iter().flatten().take(room).flatten() {
            looked_at += 1;
            let path = join(&folder, &entry.file_name().to_string_lossy());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_left_out(&path) => folders.push_back(path),
                Ok(kind) if kind.is_file() && !is_left_out(&path) => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Returns the content of a file, or nothing when it is too large.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= MAX_BYTES).then_some(bytes))
}

/// Returns paths of files that may have been meant: those in `folder`, or `rest` in one of its folders.
fn near(root: &Path, folder: &str, rest: &str) -> Vec<String> {
    let entries = fs::read_dir(below(root, folder)).into_iter().flatten().take(NAMES_LOOKED_AT).flatten();
    let paths = entries.map(|entry| join(folder, &entry.file_name().to_string_lossy()));
    let paths = paths.map(|path| if rest.is_empty() { path } else { join(&path, rest) });
    let mut files: Vec<String> =
        paths.filter(|path| fs::symlink_metadata(below(root, path)).is_ok_and(|found| found.is_file())).collect();
    files.sort();
    files
}
