//! Numbers out of what benchmarks print and write.
//!
//! Texts come in as they are read, line by line and in constant memory; measured values come out, each with the line it
//! is on, or with the reason why there is none. Pure: the caller reads files and pipes and passes the bytes in.
//!
//! ```
//! use kubebench_extract::{number, pattern::Pattern};
//!
//! assert_eq!(number::parse("1,234.5"), Ok(1234.5));
//! assert!(number::parse("12.3k").is_err());
//! assert!(Pattern::new(r"images/sec: (?P<value>\S+)").is_ok());
//! ```

/// The version of the extraction rules: how text becomes numbers. It is increased when something is read differently, and every
/// result names it: values of two versions are not compared by a gate.
///
/// 1 is that of Kubebench 0.1.0. 2 reads the whole token or nothing, converts units, and names metrics by what was measured.
pub const VERSION: u32 = 2;

pub mod excerpt;
pub mod file;
pub(crate) mod json_document;
pub mod line;
mod lines;
mod literal_matcher;
pub mod log_files;
pub mod measure;
pub mod naming;
pub mod narrow;
pub mod number;
pub(crate) mod open_metrics;
mod partial;
pub mod pattern;
pub mod pattern_budget;
pub mod preset;
pub mod prometheus;
pub mod quantity;
pub mod room;
pub mod rules;
pub mod scan;
pub mod series;
pub mod source_unit;
mod token;
pub mod tool;
mod totals;
mod unit_word;
mod value_group;
