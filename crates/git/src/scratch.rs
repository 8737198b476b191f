//! A bare repository of Kubebench's own for the time of one call: what is fetched and built is there, so that the user's
//! repository is not touched, two calls at once know nothing of each other, and a call that is killed leaves nothing that counts.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::record::NotRecorded;

/// What begins the name of every scratch repository.
const PREFIX: &str = "scratch-";
/// The name of the remote: none that people's own configuration has settings for.
pub(super) const REMOTE: &str = "kubebench";
/// How long a call may spend on what others left.
const SWEEP: Duration = Duration::from_secs(1);

/// A folder with a bare repository; it is removed when this is dropped.
pub(super) struct Scratch {
    folder: PathBuf,
    lock_file: PathBuf,
    /// Closing the handle releases the lock.
    _lock: File,
}

impl Scratch {
    /// Makes a new one below `cache`, and removes those whose makers were killed.
    pub(super) fn new(cache: &Path) -> Result<Self, NotRecorded> {
        let made = own_folder(cache).and_then(|()| {
            sweep(cache);
            Self::make(cache)
        });
        made.map_err(|error| {
            let fault =
                format!("cannot create a folder in `{}`: {}", cache.display(), kubebench_host::fs::words(&error));
            NotRecorded::try_again(fault).help(match error.kind() {
                io::ErrorKind::PermissionDenied => "set `XDG_CACHE_HOME` to a folder of this user",
                _ => "free space there, or set `XDG_CACHE_HOME` to another folder",
            })
        })
    }

    fn make(cache: &Path) -> io::Result<Self> {
        loop {
            let name = format!("{PREFIX}{}-{:016x}", std::process::id(), super::random());
            let lock_file = cache.join(format!("{name}.lock"));
            let lock = File::options().write(true).create_new(true).open(&lock_file)?;
            // A sweep between the two lines may have taken the lock and deleted the file.
            lock.lock()?;
            if !lock_file.exists() {
                continue;
            }
            let folder = cache.join(name);
            private_folder(&folder)?;
            return Ok(Self { folder, lock_file, _lock: lock });
        }
    }

    /// Returns the folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the repository, whose only remote is [`REMOTE`] at `url`.
    pub(super) fn init(&self, url: &str, is_folder: bool) -> Result<PathBuf, NotRecorded> {
        let place = self.folder.join("repository.git");
        git2::Repository::init_bare(&place).map_err(|error| {
            NotRecorded::try_again(format!("cannot create a scratch repository: {}", error.message()))
        })?;
        // Only trees are fetched, never what others recorded; a server in a folder offers that when it is configured to.
        let upload = "git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack";
        let upload = if is_folder { format!("\tuploadpack = {upload}\n") } else { String::new() };
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfilemode = true\n\tlogAllRefUpdates = false\n\tfsync = none\n\
             [gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[fetch]\n\twriteCommitGraph = false\n\trecurseSubmodules = no\n\tprune = false\n\
             [push]\n\trecurseSubmodules = no\n\tfollowTags = false\n\tgpgSign = false\n\tdefault = nothing\n\
             [http]\n\tlowSpeedLimit = 1\n\tlowSpeedTime = 30\n[advice]\n\tpushUpdateRejected = false\n[i18n]\n\tcommitEncoding = UTF-8\n\
             [remote \"{REMOTE}\"]\n\turl = \"{}\"\n\tpromisor = true\n\tpartialclonefilter = blob:none\n{upload}",
            url.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
        );
        fs::write(place.join("config"), config)
            .map_err(|error| NotRecorded::try_again(format!("cannot write a scratch repository: {error}")))?;
        Ok(place)
    }

    /// Makes a folder that only this user can read, with nothing in it.
    pub(super) fn empty_folder(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        private_folder(&path)?;
        Ok(path)
    }

    /// Writes a file that only this user can read.
    pub(super) fn private_file(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        use std::io::Write as _;
        let path = self.folder.join(name);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path)?.write_all(bytes)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.folder, &self.lock_file);
    }
}

/// Removes a scratch repository, and the lock file last: while the folder is there, for a program may still write into it, the
/// next sweep finds it by that.
fn remove(folder: &Path, lock_file: &Path) {
    drop(fs::remove_dir_all(folder));
    if !folder.exists() {
        drop(fs::remove_file(lock_file));
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a folder in which only this user can put anything, or makes an existing one so; an error where it is another user's: git
/// starts what the configuration of a repository says, and any user who can write there writes that.
pub(super) fn own_folder(path: &Path) -> io::Result<()> {
    private_folder(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        // What this user makes is this user's, in whatever namespace and on whatever server.
        let probe = path.join(format!("{PREFIX}owner-{:016x}", super::random()));
        let made = File::options().write(true).create_new(true).open(&probe)?.metadata()?.uid();
        // It may be gone: a sweep takes a probe for that of a killed process.
        drop(fs::remove_file(&probe));
        let (link, folder) = (fs::symlink_metadata(path)?, fs::metadata(path)?);
        if [link.uid(), folder.uid()] != [made, made] {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
        }
        if folder.permissions().mode() & 0o022 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

/// Removes what killed processes left; what cannot be removed is left to the next call.
fn sweep(cache: &Path) {
    let started = Instant::now();
    let entries = fs::read_dir(cache).into_iter().flatten().filter_map(Result::ok);
    for path in entries.map(|entry| entry.path()) {
        let is_ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        if !is_ours || started.elapsed() >= SWEEP {
            continue;
        }
        if path.extension().is_none() {
            // A lock is made before its folder and goes after it. A folder alone was made by a git whose master was killed, a file
            // alone is a probe for the owner.
            if !path.with_extension("lock").exists() {
                drop(fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)));
            }
        } else if let Ok(lock) = File::open(&path)
            && lock.try_lock().is_ok()
        {
            // The lock is held until all is gone: a process that has made the file and waits for its lock then looks again.
            remove(&path.with_extension(""), &path);
            drop(lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_killed_processes_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("scratch-1-0/repository.git")).unwrap();
        fs::write(at("scratch-1-0.lock"), "").unwrap();
        fs::create_dir(at("scratch-2-0")).unwrap();
        fs::write(at("scratch-owner-0"), "").unwrap();
        fs::write(at("of-somebody-else"), "").unwrap();
        let kept = Scratch::new(place.path()).unwrap();
        sweep(place.path());
        let mut left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        assert_eq!(left, [at("of-somebody-else"), kept.folder().to_owned(), kept.lock_file.clone()]);
    }

    #[test]
    fn nobody_else_writes_into_a_scratch_folder() {
        let place = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let new = place.path().join("a/b");
        own_folder(&new).unwrap();
        assert_eq!(mode(&new), 0o700);
        // One that was open to all is closed before anything is put there.
        fs::set_permissions(&new, fs::Permissions::from_mode(0o777)).unwrap();
        own_folder(&new).unwrap();
        assert_eq!(mode(&new), 0o700);
        assert_eq!(fs::read_dir(&new).unwrap().count(), 0);
        fs::write(place.path().join("file"), "").unwrap();
        assert!(own_folder(&place.path().join("file")).is_err());
    }

    /// Only root can give a folder to another user; for other users, root's is one.
    #[test]
    fn a_folder_of_somebody_else_is_refused() {
        let place = tempfile::tempdir().unwrap();
        for target in ["folder", "link"] {
            let folder = place.path().join(target);
            if target == "link" {
                std::os::unix::fs::symlink(place.path(), &folder).unwrap();
            } else {
                fs::create_dir(&folder).unwrap();
            }
            if std::os::unix::fs::lchown(&folder, Some(65534), None).is_err() {
                assert!(own_folder(Path::new("/")).is_err());
                return;
            }
            let refused = own_folder(&folder).unwrap_err();
            assert_eq!(refused.to_string(), "it belongs to another user", "{target}");
            assert_eq!(
                fs::read_dir(place.path())
                    .unwrap()
                    .filter(|entry| entry.as_ref().unwrap().file_name() != target)
                    .count(),
                usize::from(target == "link")
            );
        }
    }
}
