//! Elements that occur twice in one list of a patch: a merge would silently make one of them.

use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::Node;

use super::merge_key;

/// The lists in which Kubernetes does not accept duplicates.
const LISTS: [&str; 5] = ["containers", "initContainers", "volumes", "volumeMounts", "volumeDevices"];

/// Reports elements of `patch` with the merge key of one before them.
pub(super) fn check(patch: &Node, diagnostics: &mut Diagnostics) {
    for entry in patch.entries() {
        if let Some(key) = merge_key(&entry.key).filter(|_| LISTS.contains(&entry.key.as_str())) {
            let elements = entry.value.items().iter().filter(|item| item.get("$patch").is_none());
            let mut seen = std::collections::BTreeSet::new();
            for id in elements.filter_map(|item| item.get(key)) {
                let Some(text) = id.as_text().filter(|text| !seen.insert(*text)) else { continue };
                let message = format!("`{text}` appears twice in `{}`", entry.key);
                diagnostics.push(
                    Diagnostic::at(&code::KB0326, id.span, message)
                        .note("Kubernetes allows each of them only once, and a patch would merge the two")
                        .help(format!("keep one of them, or give one another `{key}`")),
                );
            }
        }
        entry.value.items().iter().for_each(|item| check(item, diagnostics));
        check(&entry.value, diagnostics);
    }
}
