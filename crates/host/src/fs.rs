//! Files: reading specs, results and logs, writing single files, and keeping two compiles apart.
//!
//! No symbolic link is ever followed below the project root, and nothing here decides what should be written.

mod create;
mod lock;
mod logs;
mod place;
mod results;
mod sources;
mod text;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use create::{create_new, exists, names, replace, write_report};
pub use lock::{Guard, lock};
pub use logs::{log_error, open_log, read_in_pieces, standard_input};
pub use place::{find_root, normal, real_place, refuse_output_place};
pub use results::{find_results, is_result, read_result};
pub use sources::{Content, Read, is_spec, read_sources};
pub use text::{read_text, write_text};

/// The largest spec; a longer file is read up to one byte more.
pub(crate) const SPEC_LIMIT: usize = 1 << 20;

/// Returns the place of `relative`, a path with `/` separators, below `base`; the empty path is `base` itself.
pub fn below(base: &Path, relative: &str) -> PathBuf {
    if relative.is_empty() { base.to_owned() } else { base.join(relative) }
}

/// Returns this user's folder for the cache of kubebench; nothing where there is none.
pub fn cache_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("kubebench"))
}

/// Returns what a file type is called when it is neither a file nor a folder.
pub fn kind_of(file_type: std::fs::FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if file_type.is_fifo() {
            return "named pipe";
        }
        if file_type.is_socket() {
            return "socket";
        }
        if file_type.is_block_device() || file_type.is_char_device() {
            return "device";
        }
    }
    if file_type.is_symlink() {
        "symbolic link"
    } else if file_type.is_dir() {
        "folder"
    } else {
        "special file"
    }
}

/// Returns the system's words for an error, as a fragment: "permission denied".
pub fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words);
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
