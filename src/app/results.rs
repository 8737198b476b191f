//! Results on disk and in git: a place that is evaluated as a whole, and files that a person names.

mod files;
mod place;

pub use files::{Checked, ResultFiles, Taken, in_order};
pub use place::{NamedResults, Reading, ResultsPlace, of_doubt, read};
