//! What a request is for: the words that its faults begin with.

use super::resource::Resource;

/// What a request is for, in words.
#[derive(Clone, Debug)]
pub(super) struct Purpose(pub(super) String);

impl Purpose {
    pub(super) fn new(verb: &str, resource: &Resource, namespace: &str, name: &str) -> Self {
        let object = if name.is_empty() { resource.plural.clone() } else { format!("{} `{name}`", resource.kind) };
        Self(format!("{verb} {object} in namespace `{namespace}`"))
    }

    pub(super) fn of_path(verb: &str, path: &str) -> Self {
        Self(format!("{verb} `{path}`"))
    }
}
