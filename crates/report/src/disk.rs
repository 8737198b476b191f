//! A site on the disk: written aside, and moved in place when it is whole. What else is in its folder stays.
#![expect(clippy::disallowed_methods, reason = "the one module of this crate that reaches the disk")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::File;
use crate::is_own;
use kubebench_host::fs::{Guard, lock};

/// By this file a folder proves to be a site's.
const MARK: &str = ".kubebench-report";
/// The page by which people come in.
const FIRST: &str = "index.html";

/// A site that is being written.
#[derive(Debug)]
pub struct Site {
    root: PathBuf,
    temp: PathBuf,
    _guard: Guard,
}

impl Site {
    /// Begins a site in the folder `root`, which need not be there; `waiting` is called where another report is being written.
    pub fn begin(root: &Path, waiting: impl FnOnce()) -> Result<Self> {
        if root.exists() && !root.is_dir() {
            bail!("{} is a file, but a report is a folder", root.display());
        }
        fs::create_dir_all(root).with_context(|| format!("cannot create {}", root.display()))?;
        let guard = lock(root, waiting)?;
        if !root.join(MARK).exists()
            && let Some(foreign) = names(root)?.into_iter().find(|name| is_own(name))
        {
            bail!(
                "{} holds {foreign}, which no report wrote and a report would overwrite; choose another folder",
                root.display()
            );
        }
        // What an earlier report left that was killed.
        for name in names(root)?.into_iter().filter(|name| is_left(name)) {
            fs::remove_dir_all(root.join(name)).with_context(|| format!("cannot clean {}", root.display()))?;
        }
        let temp = root.join(format!("{MARK}-{}", std::process::id()));
        fs::create_dir_all(temp.join("new")).with_context(|| format!("cannot write to {}", root.display()))?;
        Ok(Self { root: root.to_owned(), temp, _guard: guard })
    }

    /// Writes a file of the site.
    pub fn put(&self, file: &File) -> io::Result<()> {
        let path = self.temp.join("new").join(&file.path);
        match fs::write(&path, &file.text) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
                fs::write(&path, &file.text)
            }
            written => written,
        }
    }

    /// Moves the site in place of the one that was there.
    pub fn keep(self) -> Result<()> {
        self.moved().with_context(|| format!("cannot write {}", self.root.display()))
    }

    /// Replaces what was there with what is new, one file or folder after another: at no moment one is missing, and the page
    /// that leads to the others comes last.
    fn moved(&self) -> io::Result<()> {
        let (new, old) = (self.temp.join("new"), self.temp.join("old"));
        fs::create_dir_all(&old)?;
        fs::write(
            self.root.join(MARK),
            "The other files in this folder are written by `kubebench report`, and replaced by the next one.\n",
        )?;
        let mut fresh = names(&new)?;
        fresh.sort_by_key(|name| (new.join(name).is_file(), name == FIRST, name.clone()));
        for name in &fresh {
            replace(&new.join(name), &self.root.join(name), &old.join(name))?;
        }
        for name in names(&self.root)?.into_iter().filter(|name| is_own(name) && !fresh.contains(name)) {
            fs::rename(self.root.join(&name), old.join(&name))?;
        }
        Ok(())
    }
}

/// Replaces `target` with `new`, in one step where the system can do that; what was there may end at `old`.
fn replace(new: &Path, target: &Path, old: &Path) -> io::Result<()> {
    if !target.is_dir() {
        return fs::rename(new, target);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        // Not every file system exchanges.
    }
    fs::rename(target, old)?;
    fs::rename(new, target)
}

impl Drop for Site {
    fn drop(&mut self) {
        // The next report cleans what cannot be removed now.
        drop(fs::remove_dir_all(&self.temp));
    }
}

/// Returns whether a folder is that of a report which did not end.
fn is_left(name: &str) -> bool {
    let process = name.strip_prefix(MARK).and_then(|rest| rest.strip_prefix('-'));
    process.is_some_and(|process| process.bytes().all(|byte| byte.is_ascii_digit()))
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
