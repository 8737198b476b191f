//! Results on disk: a folder that is evaluated as a whole, and files that a person names.

mod files;
mod folder;

pub use files::{Checked, ResultFiles, Taken, in_order};
pub use folder::{Reading, ResultsFolder, of_doubt, read};
