//! How large a document may be: far above any spec, far below what would hurt.

/// The largest accepted file, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The most nodes in one file.
pub(crate) const MAX_NODES: usize = 50_000;
/// The deepest nesting.
pub(crate) const MAX_DEPTH: usize = 32;

/// The largest accepted manifest of a user's own, in bytes: files of several objects, each of which etcd limits to 1.5 MiB.
pub(crate) const MAX_MANIFEST_BYTES: usize = 4 << 20;
/// The most nodes in one manifest, copies of anchors included.
pub(crate) const MAX_MANIFEST_NODES: usize = 200_000;
/// The deepest nesting of a manifest, with anchors in their places.
pub(crate) const MAX_MANIFEST_DEPTH: usize = 100;
/// The most bytes of text that anchors and merge keys of one manifest may copy.
pub(crate) const MAX_MANIFEST_COPIES: usize = 16 << 20;
