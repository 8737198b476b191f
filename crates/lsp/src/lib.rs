//! The language server: what an editor asks about specs, answered by the compiler.
//!
//! [`Server`] is a function of messages and of the files that it is given; only [`stdio`] reads and writes anything. No program is started and
//! no connection is opened.

mod actions;
mod address;
mod complete;
mod cursor;
mod document;
mod files;
mod hints;
mod hover;
mod layout;
mod names;
mod outline;
mod position;
mod project;
mod publish;
mod server;
pub mod stdio;
mod symbols;

pub use files::{Files, ReadCarried};
pub use server::Server;
