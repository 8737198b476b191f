//! Reads the specs of a project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use kubebench_syntax::path::join;

use super::place::normal;
use super::{SPEC_LIMIT, below, kind_of, words};
use kubebench_syntax::invariant::Invariant as _;

/// One file of a spec folder, read or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Path relative to the project root, with `/` separators.
    pub path: String,
    /// What came of it.
    pub content: Content,
}

/// What came of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// All its bytes.
    Whole(Vec<u8>),
    /// The first [`SPEC_LIMIT`] bytes and one more of a longer file.
    TooLong(Vec<u8>),
    /// It is there, but is nothing that Kubebench reads, and why: a symbolic link, a named pipe.
    Refused(String),
    /// The system refused it, in its words.
    Unreadable(String),
    /// There is no such file or folder; only for the paths that were asked for.
    Absent,
    /// It looks like a spec, but its name does not end like one, so it is not read.
    Misnamed,
}

impl Content {
    /// Returns why it was not read, after "it cannot be read: ".
    pub fn reason(&self) -> &str {
        match self {
            Self::Refused(why) | Self::Unreadable(why) => why,
            Self::Whole(_) | Self::TooLong(_) | Self::Absent | Self::Misnamed => "it does not exist",
        }
    }
}

/// Reads all `.yaml` and `.yml` files at or below `paths`, which are relative to `root`; sorted by path, each once.
///
/// Folders are walked whatever their name; names that begin with a dot are left out unless asked for. Files that people
/// may take for specs are named but not read.
pub fn read_sources(root: &Path, paths: &[String]) -> Vec<Read> {
    let mut walk = Walk { root, seen: BTreeSet::new(), reads: BTreeMap::new() };
    for path in paths {
        walk.start(path);
    }
    walk.reads.into_iter().map(|(path, content)| Read { path, content }).collect()
}

struct Walk<'a> {
    root: &'a Path,
    seen: BTreeSet<String>,
    reads: BTreeMap<String, Content>,
}

impl Walk<'_> {
    fn start(&mut self, asked: &str) {
        let Some(names) = normal(Path::new(asked)) else {
            return self.record(asked.to_owned(), Content::Refused("it is outside the project".to_owned()));
        };
        let mut path = String::new();
        for name in names.iter().map(|name| name.to_string_lossy()) {
            path = join(&path, &name);
            match fs::symlink_metadata(below(self.root, &path)) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) => return self.file(path, metadata.file_type()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return self.record(asked.to_owned(), Content::Absent);
                }
                Err(error) => return self.record(path, Content::Unreadable(words(&error))),
            }
        }
        self.folders(path);
    }

    fn folders(&mut self, start: String) {
        let mut waiting = vec![start];
        while let Some(folder) = waiting.pop() {
            if !self.seen.insert(folder.clone()) {
                continue;
            }
            if let Err(error) = self.list(&folder, &mut waiting) {
                self.record(folder, Content::Unreadable(words(&error)));
            }
        }
    }

    fn list(&mut self, folder: &str, waiting: &mut Vec<String>) -> io::Result<()> {
        for entry in fs::read_dir(below(self.root, folder))? {
            let entry = entry?;
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            if shown.starts_with('.') {
                continue;
            }
            let path = join(folder, &shown);
            let file_type = entry.file_type()?;
            if name.to_str().is_none() {
                if file_type.is_dir() || is_spec(&path) {
                    self.record(path, Content::Refused("its name is not UTF-8".to_owned()));
                }
            } else if file_type.is_dir() {
                waiting.push(path);
            } else if is_spec(&path) || (file_type.is_symlink() && entry.path().is_dir()) {
                self.file(path, file_type);
            } else if file_type.is_file() && is_misnamed(&path) {
                self.record(path, Content::Misnamed);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: String, file_type: fs::FileType) {
        let content = if file_type.is_file() {
            read(&below(self.root, &path)).unwrap_or_else(|error| Content::Unreadable(words(&error)))
        } else if file_type.is_symlink() {
            Content::Refused("it is a symbolic link, and specs are only read from this repository".to_owned())
        } else {
            Content::Refused(format!("it is a {}", kind_of(file_type)))
        };
        self.record(path, content);
    }

    fn record(&mut self, path: String, content: Content) {
        self.reads.insert(path, content);
    }
}

/// Returns whether the file at `path` is a spec by its name.
pub fn is_spec(path: &str) -> bool {
    [".yaml", ".yml"].iter().any(|extension| path.ends_with(extension))
}

/// Returns whether people may take the file at `path` for a spec although it is not one.
fn is_misnamed(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    matches!(extension.as_str(), "yaml" | "yml" | "json")
}

fn read(path: &Path) -> io::Result<Content> {
    let file = File::open(path)?;
    let limit = SPEC_LIMIT as u64 + 1;
    let mut bytes = Vec::with_capacity(
        usize::try_from(file.metadata()?.len().min(limit)).expected("a limit that memory can hold") + 1,
    );
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(if bytes.len() > SPEC_LIMIT { Content::TooLong(bytes) } else { Content::Whole(bytes) })
}
