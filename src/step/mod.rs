//! The steps of a Workflow, each one call of `kubebench step` in a pod: `docs/steps.md` is the contract.

mod environment;
pub mod log;
pub mod record;

pub use environment::Environment;
