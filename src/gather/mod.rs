//! Gathers what a run leaves into its result, whoever followed it: a local session or a step in a cluster.

mod addition;
mod sink;
mod store;

use std::sync::Arc;

pub use addition::addition;
pub use sink::Sink;
pub use store::{Stored, store_somewhere};

/// Takes the lines that replicas print: role, replica, line.
pub type Echo = Arc<dyn Fn(&str, u32, &str) + Send + Sync>;
