//! The files of a project: what is in the output directory, carrying out a plan there, and the files that specs carry.
//!
//! No symbolic link is ever followed below the project root, and nothing here decides what should be written.

mod apply;
mod carried;
mod scan;

#[cfg(test)]
mod tests;

pub use apply::apply;
#[cfg(test)]
use carried::read_carried;
pub use carried::{carrying, listed, open_kept};
pub use scan::scan;
