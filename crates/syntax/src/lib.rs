//! Texts, and what is in them: files as text with positions, YAML, units, digests, findings.
//!
//! Everything else builds on this crate. It knows nothing of benchmarks, and reads no disk, clock or environment.
//!
//! ```
//! use kubebench_syntax::text::{Source, SourceId};
//! use kubebench_syntax::{unit, yaml};
//!
//! let source = Source::new("specs/x.yaml", b"timeout: 90s\n");
//! let read = yaml::read(SourceId(0), &source);
//! let timeout = read.root.unwrap().to_json()["timeout"].as_str().map(unit::Duration::parse);
//! assert_eq!(timeout.unwrap().unwrap().seconds(), 90);
//!
//! let twice = Source::new("specs/x.yaml", b"a: 1\na: 2\n");
//! assert_eq!(yaml::read(SourceId(0), &twice).diagnostics.len(), 1, "a key is given once");
//! ```

pub mod diag;
pub mod digest;
pub mod invariant;
pub mod path;
pub mod redact;
pub mod shell;
pub mod text;
pub mod unit;
pub mod words;
pub mod yaml;
