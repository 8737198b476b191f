//! The only floor that touches the machine: files, git, the terminal, processes, clusters.

pub mod archive;
pub mod cluster;
pub mod experiment;
pub mod export;
pub mod fs;
pub mod git;
pub mod http;
pub mod machine;
pub mod process;
mod program;
#[cfg(test)]
pub(crate) mod scratch;
pub mod site;
pub mod terminal;
