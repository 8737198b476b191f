//! The edge against a server that misbehaves.

mod calls;
mod connections;
mod logs;
mod server;
mod watches;
