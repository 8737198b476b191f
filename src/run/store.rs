//! Files that a session leaves: results, and the folder in which runs take place.

#![expect(clippy::disallowed_methods, reason = "results are written here")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::wait::Waited;
use crate::digest::{Digest, Hasher};
use crate::result::v1::Artifact;
use crate::result::{self, BenchmarkResult, Sealed};

/// The folder in a project in which local runs take place. It ignores itself.
pub const IGNORED: &str = ".kubebench";
/// More files of a run are not listed in its result.
const MAX_ARTIFACTS: usize = 200;

/// A result on disk.
pub struct Stored {
    /// The result and its bytes.
    pub sealed: Sealed,
    /// Its file.
    pub path: PathBuf,
}

/// Makes the folder for results, and sees that files can be made there: after hours of measuring it is late for that.
pub(super) fn results_folder(folder: &Path) -> Result<()> {
    let probe = folder.join(format!(".{}.tmp", std::process::id()));
    std::fs::create_dir_all(folder)
        .and_then(|()| File::create(&probe))
        .and_then(|_| std::fs::remove_file(&probe))
        .with_context(|| format!("cannot write results into {}", folder.display()))
}

/// Writes a result into `folder`, or where that cannot be into `refuge`, which the error then names.
pub(super) fn store_somewhere(folder: &Path, refuge: &Path, result: BenchmarkResult) -> Result<Stored> {
    let error = match store(folder, result.clone()) {
        Ok(stored) => return Ok(stored),
        Err(error) => error,
    };
    match store(refuge, result) {
        Ok(kept) => Err(error.context(format!("the result is kept in {}", kept.path.display()))),
        Err(_) => Err(error),
    }
}

/// Writes a result into `folder`; it is there whole, or not at all, and never in the place of another.
pub(super) fn store(folder: &Path, result: BenchmarkResult) -> Result<Stored> {
    let sealed = result::seal(result);
    let path = folder.join(result::path(&sealed.result));
    let parent = path.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make the folder {}", parent.display()))?;
    if path.exists() {
        bail!("{} exists already; a result is never overwritten", path.display());
    }
    let unfinished = parent.join(format!(".{}.tmp", sealed.result.run.id));
    let write = || -> std::io::Result<()> {
        let mut file = File::create_new(&unfinished)?;
        file.write_all(&sealed.bytes)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, &path)
    };
    if let Err(error) = write() {
        let _ = std::fs::remove_file(&unfinished);
        return Err(error).with_context(|| format!("cannot write the result {}", path.display()));
    }
    Ok(Stored { sealed, path })
}

/// Returns the folder in which runs of the project `root` take place, made if need be.
pub(super) fn private_folder(root: &Path) -> Result<PathBuf> {
    let root = root.canonicalize().context("cannot resolve the project's folder")?;
    let folder = root.join(IGNORED);
    let make = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder.join("experiments"))?;
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(ignore, "*\n")?;
        }
        Ok(())
    };
    make().with_context(|| format!("cannot make {}, in which local runs take place", folder.display()))?;
    Ok(folder)
}

/// Returns the files below `output` with their digests, logs first, then what the job wrote; and what cannot be read.
pub(super) fn artifacts(output: &Path, waited: &Waited) -> (Vec<Artifact>, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let mut inside: Vec<_> = std::fs::read_dir(output.join(&folder)).into_iter().flatten().flatten().collect();
        inside.sort_by_key(std::fs::DirEntry::file_name);
        for entry in inside {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            // Links are not followed: what they lead to is no artifact of the run.
            match entry.file_type() {
                Ok(kind) if kind.is_file() => names.push(path),
                Ok(kind) if kind.is_dir() && names.len() < MAX_ARTIFACTS => folders.push(path),
                _ => {}
            }
        }
    }
    names.sort_by_key(|name| (!name.starts_with("logs/"), name.clone()));
    names.truncate(MAX_ARTIFACTS);
    let (mut artifacts, mut unreadable) = (Vec::new(), Vec::new());
    for name in names {
        match digest_of(&output.join(&name)) {
            Ok((digest, bytes)) => {
                let digest = digest.to_string();
                let log = waited.finished.iter().find(|finished| finished.log == name);
                let dropped_bytes = log.map_or(0, |finished| finished.dropped);
                artifacts.push(Artifact { name, digest, bytes, redacted: false, dropped_bytes });
            }
            Err(error) => unreadable.push(format!("{name} cannot be read: {error}")),
        }
    }
    (artifacts, unreadable)
}

/// Returns the digest and the size of a file.
pub(super) fn digest_of(path: &Path) -> std::io::Result<(Digest, u64)> {
    let mut file = File::open(path)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((hasher.finish(), bytes));
        }
        bytes += count as u64;
        hasher.update(buffer.get(..count).unwrap_or_default());
    }
}
