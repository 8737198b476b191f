//! Whole compilations: what specs become, what changes their identity, and what is refused.
#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::case_sensitive_file_extension_comparisons, reason = "the files are those of the tests")]

mod admission;
mod again;
mod authorities;
mod compiled;
mod extend;
mod given;
mod guard;
mod identity;
mod placement;
mod schedule;
mod texts;
mod volume;
