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

/// Says how the folder `one` overlaps with `other`, if it does, to stand between their names.
pub fn overlap(one: &Path, other: &Path) -> Option<&'static str> {
    if one == other {
        Some("is also")
    } else if other.starts_with(one) {
        Some("holds")
    } else if one.starts_with(other) {
        Some("lies in")
    } else {
        None
    }
}
