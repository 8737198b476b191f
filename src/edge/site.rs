//! A site on the disk: written aside, and moved in place when it is whole. What else lies in its folder stays.
#![expect(clippy::disallowed_methods, reason = "the rim writes files")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::fs::{Guard, lock};
use crate::report::{File, is_own};

/// By this file a folder proves to be a site's.
const MARK: &str = ".kubebench-report";

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
            bail!("{} is a file, and a report is a folder", root.display());
        }
        fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
        let guard = lock(root, waiting)?;
        if !root.join(MARK).exists()
            && let Some(foreign) = names(root)?.into_iter().find(|name| is_own(name))
        {
            bail!(
                "{} holds {foreign}, which no report wrote: a report would take its place; give it a folder of its own",
                root.display()
            );
        }
        // What an earlier report left that was killed.
        for name in names(root)?.into_iter().filter(|name| name.starts_with(&format!("{MARK}-"))) {
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

    fn moved(&self) -> io::Result<()> {
        let (new, old) = (self.temp.join("new"), self.temp.join("old"));
        fs::create_dir_all(&old)?;
        fs::write(
            self.root.join(MARK),
            "Files beside this one are written by `kubebench report`, and replaced by the next one.\n",
        )?;
        for name in names(&self.root)?.into_iter().filter(|name| is_own(name)) {
            fs::rename(self.root.join(&name), old.join(&name))?;
        }
        for name in names(&new)? {
            fs::rename(new.join(&name), self.root.join(&name))?;
        }
        Ok(())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // The next report cleans what cannot be removed now.
        drop(fs::remove_dir_all(&self.temp));
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
