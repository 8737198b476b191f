//! Runs: on one machine (`run`), and as the steps of a Workflow in a cluster (`step`). What becomes of each is a result file.
//!
//! `local` and `observe` are pure: what a kind means on one machine, and what a run in a cluster is, from its objects. A run that
//! was started leaves a result, whatever happens to it.
//!
//! ```
//! use kubebench_executor::local::Engine;
//!
//! assert_eq!(Engine::ALL.map(Engine::name).first(), Some(&"process"));
//! ```

pub mod collect;
pub mod doctor;
pub mod local;
pub mod mock;
pub mod observe;
pub mod run;
pub mod status;
pub mod step;
