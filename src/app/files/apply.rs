//! Carries out the steps of a plan, and looks before each one whether it would leave the output directory.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use kubebench_compiler::tree::Operation;
use kubebench_host::fs::{below, kind_of};

/// Carries out `operations` below `output_dir`, one after the other; the first that fails ends it.
///
/// No step goes through or replaces a symbolic link, or anything else that is no regular file. Whatever was done before a
/// failure, the next compile continues from there.
pub fn apply(output_dir: &Path, operations: &[Operation<'_>]) -> Result<()> {
    operations.iter().try_for_each(|operation| apply_one(output_dir, operation))
}

fn apply_one(output_dir: &Path, operation: &Operation<'_>) -> Result<()> {
    match operation {
        Operation::RemoveStaleTemp { path } | Operation::DeleteFile { path } => {
            let place = checked(output_dir, path)?;
            if refuse_irregular(&place)? == Regular::Absent {
                return Ok(());
            }
            fs::remove_file(&place).with_context(|| format!("cannot delete `{}`", place.display()))
        }
        Operation::CreateDir { path } => create_folder(output_dir, path),
        Operation::WriteTemp { path, temp, bytes } => {
            let place = checked(output_dir, temp)?;
            write_new(&place, bytes).with_context(|| format!("cannot write `{}`", below(output_dir, path).display()))
        }
        Operation::Rename { from, to } => {
            let (from, to) = (checked(output_dir, from)?, checked(output_dir, to)?);
            refuse_irregular(&from)?;
            refuse_irregular(&to)?;
            fs::rename(&from, &to).with_context(|| format!("cannot rename `{}` to `{}`", from.display(), to.display()))
        }
        Operation::RemoveDir { path } => {
            let place = checked(output_dir, path)?;
            match fs::remove_dir(&place) {
                Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
                    Err(error).with_context(|| format!("cannot remove the folder `{}`", place.display()))
                }
                Ok(()) | Err(_) => Ok(()),
            }
        }
    }
}

fn create_folder(output_dir: &Path, path: &str) -> Result<()> {
    let created = if path.is_empty() {
        fs::create_dir_all(output_dir)
    } else {
        match fs::create_dir(checked(output_dir, path)?) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    };
    created.with_context(|| format!("cannot create the folder `{}`", below(output_dir, path).display()))
}

fn write_new(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options.open(place)?.write_all(bytes).inspect_err(|_| drop(fs::remove_file(place)))
}

#[derive(PartialEq, Eq)]
enum Regular {
    Present,
    Absent,
}

fn refuse_irregular(place: &Path) -> Result<Regular> {
    match fs::symlink_metadata(place) {
        Ok(metadata) if metadata.is_file() => Ok(Regular::Present),
        Ok(metadata) => bail!("`{}` has become a {}", place.display(), kind_of(metadata.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Regular::Absent),
        Err(error) => Err(error).with_context(|| format!("cannot look at `{}`", place.display())),
    }
}

/// Returns the place of `path` after a look at every folder on the way.
fn checked(output_dir: &Path, path: &str) -> Result<PathBuf> {
    let mut place = output_dir.to_owned();
    for name in path.split('/') {
        if matches!(name, "" | "." | "..") {
            bail!("`{path}` is not in `{}`", output_dir.display());
        }
        match fs::symlink_metadata(&place) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(metadata) => bail!("`{}` has become a {}", place.display(), kind_of_any(metadata.file_type())),
            Err(error) => return Err(error).with_context(|| format!("cannot look at `{}`", place.display())),
        }
        place.push(name);
    }
    Ok(place)
}

fn kind_of_any(file_type: fs::FileType) -> &'static str {
    if file_type.is_file() { "file" } else { kind_of(file_type) }
}
