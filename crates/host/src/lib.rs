//! One machine: its files, processes, terminal and clock, and HTTP from it.
//!
//! Decides nothing: it is asked, and answers or fails.
//!
//! ```
//! use kubebench_host::fs;
//!
//! let folder = std::env::temp_dir();
//! assert_eq!(fs::below(&folder, ""), folder);
//! assert!(fs::is_spec("specs/disk.yaml"));
//! ```
#![expect(clippy::disallowed_methods, reason = "the machine is reached here")]

pub mod experiment;
pub mod fault;
pub mod fs;
pub mod http;
pub mod machine;
pub mod process;
mod program;
pub mod terminal;
