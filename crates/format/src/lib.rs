//! What people and programs write into files: specs, project files and result files, as wire types and as JSON Schemas.
//!
//! Wire types have no logic, and schemas are generated from them. Reads no disk, clock or environment.

pub mod result;
pub mod schema;
pub mod spec;
