//! Gathers what a run leaves into its result, whoever followed it: a local session or a step in a cluster.

mod addition;
mod artifacts;
mod assemble;
mod prometheus;
mod sink;
mod store;

use std::sync::Arc;

pub use addition::addition;
pub(crate) use artifacts::Hurry;
pub use artifacts::{KeptOf, artifacts};
pub(crate) use assemble::Parts;
pub use assemble::{Ended, Span, assemble};
pub(crate) use assemble::{break_off, log_incomplete};
pub(crate) use prometheus::range_query;
pub use sink::{Sink, harmless};
pub use store::Stored;
pub(crate) use store::store_somewhere;

/// What the log of a replica is cut to where the spec does not say it.
pub const LOG_LIMIT: u64 = 2 << 30;

/// Takes the lines that replicas print: role, replica, line.
pub type Echo = Arc<dyn Fn(&str, u32, &str) + Send + Sync>;
