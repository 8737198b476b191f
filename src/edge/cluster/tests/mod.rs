//! The edge against a server that misbehaves.

mod calls;
mod connections;
mod logs;
pub(crate) mod server;
pub(crate) mod watchdog;
mod watches;
