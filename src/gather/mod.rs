//! Gathers what a run leaves into its result, whoever followed it: a local session or a step in a cluster.

mod artifacts;
mod assemble;
mod sink;
mod store;

use std::sync::Arc;

pub use artifacts::{Hurry, KeptOf, artifacts};
pub use assemble::{Ended, Parts, Span, assemble, log_incomplete};
pub use sink::{Sink, harmless};
pub use store::{Stored, store_somewhere};

/// Takes the lines that replicas print: role, replica, line.
pub type Echo = Arc<dyn Fn(&str, u32, &str) + Send + Sync>;
