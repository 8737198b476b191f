//! What committed results say of a change: two sides compared, a candidate gated, a history shown.

mod accepted;
mod ack;
mod comparison;
mod extent;
mod far_off;
mod gate;
mod history;
mod line;
pub mod model;
mod pairing;
mod policies;
pub mod render;
mod sequence;
mod side;
mod unvalued;
pub mod v1;
pub mod words;

pub use ack::{begins, idle, matches};
pub(crate) use comparison::measure_cases;
pub use comparison::{Request, compare};
pub use extent::extent;
pub use gate::{Against, Candidate, CheckedOut, Head, Judged, Lacks, Request as GateRequest, Rule, Unread, gate};
pub use history::{Request as HistoryRequest, history};
pub use policies::{Meant, Policies, Stated};
pub use sequence::{OutOfTime, sequences};
pub use side::{Behind, Lineage, Side};
pub use unvalued::{Unvalued, unvalued};
