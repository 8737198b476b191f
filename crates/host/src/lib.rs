//! One machine: its files, processes, terminal and clock, and HTTP from it.
//!
//! Decides nothing: it is asked, and answers or fails.

pub mod experiment;
pub mod fs;
pub mod http;
pub mod machine;
pub mod process;
mod program;
pub mod terminal;
