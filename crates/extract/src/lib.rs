//! Numbers out of what benchmarks print and write.
//!
//! Texts come in as they are read, line by line and in constant memory; measured values come out, each with the line it
//! stands on, or with the reason why there is none. Pure: whoever reads a file or a pipe hands the bytes in.
//!
//! ```
//! use kubebench_extract::{number, pattern::Pattern};
//!
//! assert_eq!(number::parse("1,234.5"), Ok(1234.5));
//! assert!(number::parse("12.3k").is_err());
//! assert!(Pattern::new(r"images/sec: (?P<value>\S+)").is_ok());
//! ```

pub mod excerpt;
pub mod file;
pub(crate) mod json_document;
pub mod kept;
pub mod line;
mod lines;
mod literal_matcher;
pub mod measure;
pub mod narrow;
pub mod number;
pub(crate) mod open_metrics;
mod partial;
pub mod pattern;
pub mod preset;
pub mod prometheus;
pub mod quantity;
pub mod rules;
pub mod scan;
pub mod series;
pub mod tool;
pub mod unit;
mod value_group;
