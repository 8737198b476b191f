//! What an export leaves on the disk: a file that appears whole or not at all, a folder of files, a database.
#![expect(clippy::disallowed_methods, reason = "the one module of this crate that reaches the disk")]

mod database;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::export::{Folder, Sink};
pub use database::Database;

/// A file that is written next to its place and moved there in the end. What is there and is no file (`/dev/stdout`, a named pipe)
/// is written as it is: a file moved to its place would remove it.
pub struct Pending {
    path: PathBuf,
    /// The unfinished file; none where `path` is no file.
    temp: Option<PathBuf>,
}

impl Pending {
    /// Begins the file at `path`.
    pub fn begin(path: &Path) -> Result<Self> {
        let unwritable = || format!("cannot write {}", path.display());
        if path.is_dir() {
            bail!("{} is a folder, but this format is one file", path.display());
        }
        // A link keeps pointing where it points: its target is what is written.
        let path = match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            found => found.with_context(unwritable)?,
        };
        let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else {
            bail!("{} is not a file name", path.display());
        };
        if path.exists() && !path.is_file() {
            return Ok(Self { path, temp: None });
        }
        let temp = path.with_file_name(format!(".{name}.{}.kubebench-tmp", std::process::id()));
        File::create(&temp).with_context(unwritable)?;
        Ok(Self { path, temp: Some(temp) })
    }

    /// Returns what writes it.
    pub fn sink(&self) -> Result<Sink> {
        let file = File::options().write(true).open(self.temp.as_ref().unwrap_or(&self.path));
        let file = file.with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(Box::new(BufWriter::with_capacity(1 << 18, file)))
    }

    /// Returns what makes it a database.
    pub fn database(&self) -> Result<Database> {
        let Some(temp) = &self.temp else {
            bail!("{} is not a regular file, and a database needs one", self.path.display())
        };
        Database::create(temp).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Moves it to its place, over an earlier file.
    pub fn keep(self) -> Result<()> {
        self.temp
            .as_ref()
            .map_or(Ok(()), |temp| fs::rename(temp, &self.path))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(temp) = &self.temp {
            // Gone already where it was kept.
            drop(fs::remove_file(temp));
        }
    }
}

/// Returns what writes to standard output.
pub fn standard_output() -> Sink {
    Box::new(BufWriter::with_capacity(1 << 18, io::stdout()))
}

/// A folder whose files are written one after another.
pub struct OnDisk {
    root: PathBuf,
    /// The folder that was made last: files come folder by folder.
    made: PathBuf,
}

impl OnDisk {
    /// Takes the folder at `root`, which need not be there.
    pub fn at(root: &Path) -> Result<Self> {
        if root.exists() && !root.is_dir() {
            bail!("{} is a file, but this format is a folder", root.display());
        }
        fs::create_dir_all(root).with_context(|| format!("cannot create {}", root.display()))?;
        Ok(Self { root: root.to_owned(), made: root.to_owned() })
    }
}

impl Folder for OnDisk {
    fn put(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let full = self.root.join(path);
        if let Some(folder) = full.parent().filter(|folder| *folder != self.made) {
            fs::create_dir_all(folder)?;
            folder.clone_into(&mut self.made);
        }
        let mut file = File::create(&full)?;
        file.write_all(bytes)
    }

    fn make(&mut self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.root.join(path))
    }
}
