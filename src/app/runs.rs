//! Runs on this machine: which benchmarks, in what order, and with what.

mod choice;
mod outcomes;
mod request;

pub use choice::{chosen, needs, selected};
pub use outcomes::{Outcomes, ends, unmet};
pub use request::{RunOptions, checked_out, missing_variables, request, secrets};
