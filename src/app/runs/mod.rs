//! Runs on this machine: which benchmarks, in what order, and with what.

mod choice;
mod request;

pub use choice::{chosen, needs, selected};
pub use request::{RunOptions, missing_variables, request, secrets};
