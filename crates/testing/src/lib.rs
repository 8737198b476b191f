//! What the tests of several crates share: an HTTP server that does what a test says, a watchdog, folders in
//! memory, and snapshots of text.
//!
//! Knows nothing of Kubebench, so that every crate may use it; the program does not.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong here fails the test")]

pub mod keys;
pub mod scratch;
pub mod server;
pub mod snapshot;
pub mod watchdog;
