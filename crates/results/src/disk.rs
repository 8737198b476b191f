//! Results on the disk: read with what was known of them before, and written in the formats of other programs.

pub mod dataset;
pub mod export;
