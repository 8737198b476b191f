//! Paths as messages, manifests and specs write them: relative, with `/` between names.

use std::path::Path;

/// Returns the path of `name` in `folder`.
pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Returns the folder of `path`; the empty path is where all others begin.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Returns whether some file system treats `name` as git's own folder: in any case, with dots or spaces after it, by the short name of
/// Windows, or with letters between that macOS does not see.
pub fn is_gits_own(name: &str) -> bool {
    let ignored = |letter: &char| matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = name.chars().filter(|letter| !ignored(letter)).collect();
    let bare = seen.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    bare == ".git" || bare.starts_with("git~")
}

/// Returns how the folder `one` overlaps with `other`, if it does, as a phrase to put between their names.
pub fn overlap(one: &Path, other: &Path) -> Option<&'static str> {
    if one == other {
        Some("is also")
    } else if other.starts_with(one) {
        Some("contains")
    } else if one.starts_with(other) {
        Some("is inside")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::is_gits_own;

    #[test]
    fn names_that_a_file_system_takes_for_gits_own() {
        for name in [".git", ".GIT", ".Git ", ".git..", "git~1", "GIT~2", ".g\u{200c}it", "\u{feff}.git"] {
            assert!(is_gits_own(name), "{name:?}");
        }
        for name in ["git", ".github", ".gitignore", "a.git", "git-results", "generated"] {
            assert!(!is_gits_own(name), "{name}");
        }
    }
}
