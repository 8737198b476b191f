//! Folders of runs on a volume that jobs write to as well: no link is followed, only regular files are read, and never more
//! of one than is wanted.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, fchmod, fstat, mkdirat};
use nix::unistd::{Gid, UnlinkatFlags, fchown, fsync, geteuid, unlinkat};

use crate::fs::words;
use crate::machine;

/// How a folder is opened: one that exists now and is no link.
const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// Of a folder that only its user writes in.
const FOR_ALL_TO_READ: Mode = Mode::from_bits_truncate(0o755);
/// Of a folder that a group writes in: what is made there is of the group, and only its owner removes it.
const FOR_A_GROUP: Mode = Mode::from_bits_truncate(0o3770);
/// The same for everybody.
const FOR_EVERYBODY: Mode = Mode::from_bits_truncate(0o1777);

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

    /// Opens the folder at `path` below `root`, and makes it and those above it; what is no folder is moved aside.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn make(root: &Path, path: &str) -> io::Result<Self> {
        let folder = open(root, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty()).map_err(plain)?;
        Self { folder, place: root.to_owned() }.make_below(path)
    }

    /// The same below this folder.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn make_below(&self, path: &str) -> io::Result<Self> {
        let here = Self { folder: self.folder.try_clone()?, place: self.place.clone() };
        path.split('/').try_fold(here, |folder, name| folder.make_one(name))
    }

    fn make_one(&self, name: &str) -> io::Result<Self> {
        let open = || openat(&self.folder, name, FOLDER, Mode::empty());
        let make = || match mkdirat(&self.folder, name, FOR_ALL_TO_READ) {
            // Another step was faster.
            Ok(()) | Err(Errno::EEXIST) => open(),
            Err(errno) => Err(errno),
        };
        let folder = match open() {
            Err(Errno::ENOENT) => make(),
            Err(Errno::ELOOP | Errno::ENOTDIR) => {
                self.put_aside(name)?;
                make()
            }
            opened => opened,
        };
        Ok(Self { folder: folder.map_err(plain)?, place: self.place.join(name) })
    }

    /// Lets jobs, which are of `group`, write into the folder; on a volume that does not keep whose a folder is, everybody.
    ///
    /// # Errors
    /// When the volume does not allow it.
    pub fn open_to(&self, group: u32) -> io::Result<()> {
        let given =
            fchown(&self.folder, None, Some(Gid::from_raw(group))).and_then(|()| fchmod(&self.folder, FOR_A_GROUP));
        let is_kept = given.is_ok() && fstat(&self.folder).is_ok_and(|found| is_for(&found, group));
        if is_kept { Ok(()) } else { fchmod(&self.folder, FOR_EVERYBODY).map_err(plain) }
    }

    /// Returns whether only the user of this process can have written the file at `path`: the folder and the file are that
    /// user's to write alone, and the volume keeps modes, as `output` shows, which [`open_to`](Self::open_to) jobs of `group` is.
    ///
    /// # Errors
    /// Why it cannot be looked at.
    pub fn is_closed_to(&self, group: u32, path: &str) -> io::Result<bool> {
        let (output, file) = (self.above("output/.")?.0, self.open_file(path)?);
        let [folder, output, file] = [self.folder.as_fd(), output.as_fd(), file.as_fd()].map(fstat);
        let (folder, output, file) = (folder.map_err(plain)?, output.map_err(plain)?, file.map_err(plain)?);
        let is_own = |found: &FileStat| {
            let of_others = Mode::from_bits_truncate(found.st_mode) & (Mode::S_IWGRP | Mode::S_IWOTH);
            found.st_uid == geteuid().as_raw() && of_others.is_empty()
        };
        Ok(is_own(&folder) && is_own(&file) && is_for(&output, group))
    }

    /// Gives what is at `path` another name, which ends in `.foreign`; nothing, where nothing is.
    ///
    /// # Errors
    /// Why it stays.
    pub fn put_aside(&self, path: &str) -> io::Result<()> {
        let (folder, name) = match self.above(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        let aside = format!("{name}.foreign");
        let moved = match renameat(&folder, name, &folder, aside.as_str()) {
            // What was moved aside before is a folder, or this is one.
            Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::EISDIR | Errno::ENOTDIR) => {
                let another = format!("{aside}-{}", machine::random_id().map_err(io::Error::other)?);
                renameat(&folder, name, &folder, another.as_str())
            }
            moved => moved,
        };
        match moved {
            Err(Errno::ENOENT) => Ok(()),
            moved => moved.map_err(plain),
        }
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

    /// Returns the folder of what is at `path`, and its name there.
    fn above<'a>(&self, path: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
        let mut folder = self.folder.try_clone()?;
        for name in folders.into_iter().flat_map(|folders| folders.split('/')) {
            folder = openat(&folder, name, FOLDER, Mode::empty()).map_err(plain)?;
        }
        Ok((folder, name))
    }

    fn open_file(&self, path: &str) -> io::Result<File> {
        let (folder, name) = self.above(path)?;
        // A pipe would be waited for.
        let how = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = File::from(openat(&folder, name, how, Mode::empty()).map_err(plain)?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(plain(Errno::ENXIO)) }
    }

    /// Writes the file at `path`, all or nothing, replacing whatever has that name. Folders above it are made.
    ///
    /// # Errors
    /// Why that cannot be.
    pub fn put(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let Some((folders, name)) = path.rsplit_once('/') else { return self.put_here(path, bytes) };
        self.make_below(folders)?.put_here(name, bytes)
    }

    fn put_here(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let unfinished = format!(".{}.tmp", machine::random_id().map_err(io::Error::other)?);
        let written = self
            .write_new(&unfinished, bytes)
            .and_then(|()| renameat(&self.folder, unfinished.as_str(), &self.folder, name).map_err(io::Error::from));
        if written.is_err() {
            let _ = unlinkat(&self.folder, unfinished.as_str(), UnlinkatFlags::NoRemoveDir);
        }
        // The entry of the folder too outlives a loss of power, where the system can promise that.
        let _ = fsync(&self.folder);
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

/// Returns whether a folder is for `group` alone to write in.
fn is_for(found: &FileStat, group: u32) -> bool {
    found.st_gid == group && Mode::from_bits_truncate(found.st_mode) == FOR_A_GROUP
}

/// Returns what the system means when it met a link, a file instead of a folder, or a socket.
fn plain(errno: Errno) -> io::Error {
    match errno {
        Errno::ELOOP => io::Error::new(ErrorKind::InvalidInput, "it is a symbolic link"),
        Errno::ENOTDIR => io::Error::new(ErrorKind::InvalidInput, "a link or a file is where a folder should be"),
        Errno::ENXIO => io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"),
        errno => {
            let error = io::Error::from(errno);
            io::Error::new(error.kind(), words(&error))
        }
    }
}

#[cfg(test)]
mod tests;
