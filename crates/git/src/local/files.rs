//! The files of results in a work tree: never written over, never written through a link.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use super::{Item, WorkTree};
use crate::record::NotRecorded;
use kubebench_host::machine;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

/// Returns what prevents an item from being in the work tree; nothing where it is there already or can be.
pub(super) fn in_the_way(top: &Path, item: &Item<'_>) -> Option<String> {
    let mut place = top.to_owned();
    let mut parts = item.path.split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let Ok(metadata) = place.symlink_metadata() else { return None };
        let shown = place.strip_prefix(top).expected("a place below the top").display().to_string();
        if parts.peek().is_none() {
            // What is no file is not even opened: a named pipe would never answer.
            let bytes = if metadata.is_file() { fs::read(&place).ok() } else { None };
            return match bytes {
                Some(bytes) if bytes == item.addition.bytes => None,
                Some(bytes) => Some(Digest::of(&bytes).to_string()),
                None => Some(format!("`{shown}` is not a readable file")),
            };
        }
        if !metadata.is_dir() {
            return Some(format!("`{shown}` is not a folder"));
        }
        if place.join(".git").symlink_metadata().is_ok() {
            return Some(format!("`{shown}` is a separate repository"));
        }
    }
    None
}

/// Writes an item into the work tree unless it is there, all or nothing. The temporary file is in the repository's own folder,
/// so that a kill leaves nothing in the work tree; next to the item it is only where that folder is on another file system.
pub(super) fn put(WorkTree { top, git_folder }: &WorkTree, item: &Item<'_>) -> Result<(), NotRecorded> {
    let place = top.join(&item.path);
    let fault = |error: &io::Error| {
        NotRecorded::try_again(format!("cannot write `{}`: {}", item.path, kubebench_host::fs::words(error)))
    };
    if place.symlink_metadata().is_ok() {
        return Ok(());
    }
    let folder = place.parent().unwrap_or(top);
    fs::create_dir_all(folder).map_err(|error| fault(&error))?;
    let id = machine::random_id().map_err(|error| NotRecorded::try_again(format!("{error:#}")))?;
    let bytes = &item.addition.bytes;
    let name = format!(".{id}.kubebench-tmp");
    match link(&git_folder.join(&name), &place, bytes).or_else(|_| link(&folder.join(&name), &place, bytes)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(NotRecorded::try_again(format!("`{}` was created in the meantime", item.path)))
        }
        other => other.map_err(|error| fault(&error)),
    }
}

/// Writes `bytes` to `temp` and gives them their place, unless there is something.
fn link(temp: &Path, place: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = fs::File::create_new(temp).and_then(|mut file| file.write_all(bytes));
    // A link, unlike a rename, does not replace what another process has put there meanwhile.
    let linked = written.and_then(|()| match fs::hard_link(temp, place) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists && !place.exists() => fs::rename(temp, place),
        other => other,
    });
    drop(fs::remove_file(temp));
    linked
}
