//! Folders of runs on a volume that jobs write to as well: no link is followed, only regular files are read, and never more
//! of one than is wanted.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::edge::{fs::words, machine};

/// What a folder is opened with: what stands there now and is no link.
const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// Returns the names in `root` of what `is_run` takes for the folder of a run, in order.
///
/// # Errors
/// When `root` cannot be read.
pub fn run_folders(root: &Path, is_run: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root)? {
        if let Ok(name) = entry?.file_name().into_string()
            && is_run(&name)
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The folder of one run, held open: what is done in it stays in it, wherever a job lets its name lead meanwhile.
#[derive(Debug)]
pub struct RunFolder {
    folder: OwnedFd,
    place: PathBuf,
}

impl RunFolder {
    /// Opens the folder `name` of `root`.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(root: &Path, name: &str) -> io::Result<Self> {
        let above = open(root, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty()).map_err(plain)?;
        let folder = openat(&above, name, FOLDER, Mode::empty()).map_err(plain)?;
        Ok(Self { folder, place: root.join(name) })
    }

    /// Returns where it is.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Returns the file at `path`, up to one byte more than `limit`; nothing when there is none.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(&self, path: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
        match self.open_file(path) {
            Ok(file) => {
                let mut bytes = Vec::new();
                file.take(limit as u64 + 1).read_to_end(&mut bytes).map(|_| Some(bytes))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open_file(&self, path: &str) -> io::Result<File> {
        let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
        let mut folder = None;
        for name in folders.into_iter().flat_map(|folders| folders.split('/')) {
            let above = folder.as_ref().unwrap_or(&self.folder);
            folder = Some(openat(above, name, FOLDER, Mode::empty()).map_err(plain)?);
        }
        let folder = folder.as_ref().unwrap_or(&self.folder);
        // A pipe would be waited for.
        let how = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = File::from(openat(folder, name, how, Mode::empty()).map_err(plain)?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(plain(Errno::ENXIO)) }
    }

    /// Writes the file `name` in the folder, all or nothing, in the place of whatever has that name.
    ///
    /// # Errors
    /// Why that cannot be.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let unfinished = format!(".{}.tmp", machine::random_id().map_err(io::Error::other)?);
        let written = self
            .write_new(&unfinished, bytes)
            .and_then(|()| renameat(&self.folder, unfinished.as_str(), &self.folder, name).map_err(io::Error::from));
        if written.is_err() {
            let _ = unlinkat(&self.folder, unfinished.as_str(), UnlinkatFlags::NoRemoveDir);
        }
        written
    }

    fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let how = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR | Mode::S_IRGRP | Mode::S_IROTH;
        let mut file = File::from(openat(&self.folder, name, how, mode)?);
        file.write_all(bytes)?;
        file.sync_all()
    }
}

/// Returns what the system means when it met a link, a file in the place of a folder, or a socket.
fn plain(errno: Errno) -> io::Error {
    match errno {
        Errno::ELOOP => io::Error::new(ErrorKind::InvalidInput, "it is a symbolic link"),
        Errno::ENOTDIR => io::Error::new(ErrorKind::InvalidInput, "a link or a file is in the place of a folder"),
        Errno::ENXIO => io::Error::new(ErrorKind::InvalidInput, "it is no regular file"),
        errno => {
            let error = io::Error::from(errno);
            io::Error::new(error.kind(), words(&error))
        }
    }
}

#[cfg(test)]
mod tests;
