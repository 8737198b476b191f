//! Whole compilations: what specs become, what changes their identity, and what is refused.
#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::type_complexity, reason = "tables of cases and the function that checks them")]

mod admission;
mod compiled;
mod given;
mod identity;
