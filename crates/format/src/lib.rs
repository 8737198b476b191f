//! What people and programs write into files: specs, project files, result files and their attestations, and what `plan` and `diff` answer, as wire types and
//! as JSON Schemas.
//!
//! Wire types have no logic, and schemas are generated from them. Reads no disk, clock or environment.
//!
//! ```
//! use kubebench_format::result;
//!
//! let written = include_str!("../testdata/result.json");
//! let sealed = result::seal(serde_json::from_str(written).unwrap());
//! let read = result::read(&sealed.bytes).unwrap();
//! assert_eq!(read.result.metadata.benchmark, "matmul");
//! ```

pub mod attestation;
pub mod diff;
pub mod plan;
pub mod result;
pub mod schema;
pub mod spec;
