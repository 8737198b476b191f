//! Committed result files as rows: verdicts on their values, comparisons, gates, and other formats for them.
//!
//! Only `disk` reads and writes files; all else is data to data.
//!
//! ```
//! use kubebench_results::verdict::{Scale, measure};
//!
//! let (before, after) = ([100.0, 101.0, 99.0, 100.5], [90.0, 91.0, 89.5, 90.2]);
//! let scale = Scale::of(&before, &after).unwrap();
//! assert!(measure(scale, &before, &[], &after).unwrap().change().unwrap() < -0.08);
//! ```

pub mod compare;
pub mod dataset;
pub mod disk;
pub mod export;
pub mod order;
pub mod scaling;
pub mod verdict;
