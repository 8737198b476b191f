//! Processes of a local run: each replica under a supervisor of its own, so that nothing outlives the run.
//!
//! `kubebench` starts, for every replica, itself again as a supervisor, and holds the other end of its standard input.
//! The supervisor starts the program, adopts whatever the program leaves behind (torchrun starts its workers in sessions of their
//! own), and ends the whole tree: after the program ended, on request, or when that input closes because `kubebench` is gone. So
//! there is no way to die that leaves a process.

pub mod container;
mod foreign;
mod log;
mod replica;
mod signals;
mod supervise;
mod tree;
mod usage;

pub use foreign::Foreign;
pub use log::{Kept, KeptLog};
pub use replica::{Ended, Output, Replica, Start, adopt_orphans, end_orphans, find_program};
pub use signals::{Stop, Unstored, stops};
pub use supervise::supervise;
pub use usage::{Sampler, Usage};
