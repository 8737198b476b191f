//! What was found in the output directory, as data, and the names of Kubebench's temporary files.

use std::collections::{BTreeMap, BTreeSet};

use kubebench_syntax::path::{join, parent};

const TEMPORARY: &str = ".kubebench-tmp";

/// The content of the output directory; paths are relative to it, with `/` separators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnDisk {
    /// Everything that is not a folder. If the output directory itself is something else, it is at the empty path.
    pub entries: BTreeMap<String, Found>,
    /// All folders; the empty path is the output directory itself, when it exists.
    pub folders: BTreeSet<String>,
    /// Temporary files that an interrupted compile left behind.
    pub leftovers: BTreeSet<String>,
}

/// One thing that is no folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A regular file that holds, byte for byte, what is wanted at its path; it is not kept a second time.
    AsWanted,
    /// Any other regular file and its bytes.
    File(Vec<u8>),
    /// A regular file too large to be a manifest, and its first bytes.
    Large(Vec<u8>),
    /// A symbolic link, wherever it leads.
    Symlink,
    /// Something else, in words: a named pipe, a device.
    Other(&'static str),
    /// A file or folder that could not be read, and why.
    Unreadable(String),
}

impl Found {
    /// Returns its kind, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::AsWanted | Self::File(_) | Self::Large(_) | Self::Unreadable(_) => "file",
            Self::Symlink => "symbolic link",
            Self::Other(kind) => kind,
        }
    }
}

/// Returns the path at which process `pid` prepares the file or takes away the folder at `path`.
///
/// It is hidden and has no manifest's extension, so Argo CD and Flux never read it.
pub fn temporary(path: &str, pid: u32) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    join(folder, &format!(".{name}.{pid}{TEMPORARY}"))
}

/// Returns the path that the temporary file at `path` was made for, or nothing when `path` is no temporary file's.
pub fn made_for(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?.strip_prefix('.')?.strip_suffix(TEMPORARY)?;
    let (name, pid) = name.rsplit_once('.')?;
    let numbered = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    (numbered && !name.is_empty()).then(|| join(parent(path), name))
}
