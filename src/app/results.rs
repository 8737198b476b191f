//! Results on disk and in git: a place that is evaluated as a whole, and files that a person names.

mod files;
mod place;
mod signatures;

pub use files::{Checked, ResultFiles, Taken, in_order};
pub use place::{NamedResults, Reading, ResultsPlace, of_doubt, read};
pub use signatures::{Uncounted, envelope_beside, proves_nothing, signature_beside};
