//! What committed results say of a change: two sides compared, a candidate gated, a history told.

mod ack;
mod comparison;
mod gate;
mod history;
mod line;
pub mod render;
mod side;
pub mod v1;
pub mod words;

pub use ack::matches;
pub use comparison::{Request, compare, measure};
pub use gate::{Against, Candidate, Request as GateRequest, Rule, gate};
pub use history::{Request as HistoryRequest, history};
pub use side::{Lineage, Side};
