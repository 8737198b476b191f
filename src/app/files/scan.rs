//! Looks at everything in the output directory without following a single link.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use rayon::prelude::*;

use kubebench_compiler::tree::disk::made_for;
use kubebench_compiler::tree::{Found, OnDisk, OutputFile, OutputTree};
use kubebench_host::fs::{below, kind_of, words};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::path::join;

/// Files up to this size are read whole; a manifest is far smaller.
const WHOLE_FILE_LIMIT: u64 = 4 << 20;
/// How much of a larger file is kept.
const HEAD: u64 = 4 << 10;

/// Returns what is in `output_dir`, which need not exist, and which files are as `wanted`.
///
/// A file or folder that cannot be read is recorded, not an error; only a machine that cannot even say whether `output_dir`
/// exists is one.
pub fn scan(output_dir: &Path, wanted: &OutputTree) -> Result<OnDisk> {
    let mut on_disk = OnDisk::default();
    let file_type = match fs::symlink_metadata(output_dir) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(on_disk);
        }
        Err(error) => return Err(error).with_context(|| format!("cannot look at `{}`", output_dir.display())),
    };
    if !file_type.is_dir() {
        on_disk.entries.insert(String::new(), found(output_dir, file_type, None));
        return Ok(on_disk);
    }
    let mut waiting = vec![String::new()];
    let mut files = Vec::new();
    while let Some(folder) = waiting.pop() {
        match list(output_dir, &folder, &mut on_disk, &mut files, &mut waiting) {
            Ok(()) => drop(on_disk.folders.insert(folder)),
            Err(error) => drop(on_disk.entries.insert(folder, Found::Unreadable(words(&error)))),
        }
    }
    on_disk.entries.par_extend(files.into_par_iter().map(|(path, file_type)| {
        let found = found(&below(output_dir, &path), file_type, wanted.get(&path));
        (path, found)
    }));
    Ok(on_disk)
}

/// Sorts what is in `folder` into `on_disk`, `files` that are still to be read, and folders that are still `waiting`.
fn list(
    output_dir: &Path,
    folder: &str,
    on_disk: &mut OnDisk,
    files: &mut Vec<(String, fs::FileType)>,
    waiting: &mut Vec<String>,
) -> io::Result<()> {
    for entry in fs::read_dir(below(output_dir, folder))? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            let shown = join(folder, &name.to_string_lossy());
            on_disk.entries.insert(shown, Found::Other("file whose name is not UTF-8"));
            continue;
        };
        let path = join(folder, name);
        let file_type = entry.file_type()?;
        if file_type.is_dir() {
            waiting.push(path);
        } else if file_type.is_file() && made_for(&path).is_some() {
            on_disk.leftovers.insert(path);
        } else {
            files.push((path, file_type));
        }
    }
    Ok(())
}

fn found(path: &Path, file_type: fs::FileType, wanted: Option<&OutputFile>) -> Found {
    if file_type.is_symlink() {
        Found::Symlink
    } else if file_type.is_file() {
        match read(path) {
            Ok(Found::File(bytes)) if wanted.is_some_and(|wanted| wanted.text.as_bytes() == bytes) => Found::AsWanted,
            Ok(found) => found,
            Err(error) => Found::Unreadable(words(&error)),
        }
    } else {
        Found::Other(kind_of(file_type))
    }
}

fn read(path: &Path) -> io::Result<Found> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > WHOLE_FILE_LIMIT {
        let mut head = Vec::new();
        file.take(HEAD).read_to_end(&mut head)?;
        return Ok(Found::Large(head));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).expected("a length that memory can hold") + 1);
    file.take(WHOLE_FILE_LIMIT).read_to_end(&mut bytes)?;
    Ok(Found::File(bytes))
}
