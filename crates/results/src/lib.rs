//! Committed result files as rows: verdicts on their values, comparisons, gates, and other formats for them.
//!
//! Only `disk` reads and writes files; all else is data to data.

pub mod archive;
pub mod compare;
pub mod disk;
pub mod export;
pub mod sweep;
pub mod verdict;
