//! The files of runs: folders before they start, what they leave, and results.

mod folders;
mod mounted;
mod reserve;
mod results;
mod run_outputs;
mod volume;

pub use folders::{IGNORED, carry, make, private_folder, write};
pub use mounted::{check_volume, config_map, is_full};
pub use reserve::{Reserve, Spare};
pub use results::{keep, keeps, prepare};
pub use run_outputs::{Names, RunOutputs, digest_of, digest_while, read_pieces};
pub use volume::{RunFolder, run_folders};
