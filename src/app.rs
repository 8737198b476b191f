//! What the commands do, without their arguments and without the screen. A program that is not this one could call it.
#![expect(clippy::disallowed_methods, reason = "it reads and writes the files of a project")]

pub mod base;
pub mod catalog;
pub mod cluster;
pub mod evaluate;
pub mod export;
pub mod files;
pub mod init;
pub mod lsp;
pub mod migrate;
pub mod parse;
pub mod places;
pub mod plan;
pub mod project;
pub mod projects;
pub mod record;
pub mod reparse;
pub mod results;
pub mod runs;
pub mod schedule;
pub mod schemas;
pub mod set;
pub mod stamp;
pub mod start;
pub mod templates;
pub mod tree;
pub mod verify;
