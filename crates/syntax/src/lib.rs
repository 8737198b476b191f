//! Texts, and what is found in them: the ground that everything else stands on.
//!
//! Knows nothing of benchmarks, and reads no disk, clock or environment.

pub mod diag;
pub mod digest;
pub mod path;
pub mod redact;
pub mod text;
pub mod unit;
pub mod yaml;
