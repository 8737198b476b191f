//! How large a document may be: far above any spec, far below what would hurt.

/// The largest accepted file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// The most nodes in one file.
pub const MAX_NODES: usize = 50_000;
/// The deepest nesting.
pub const MAX_DEPTH: usize = 32;
