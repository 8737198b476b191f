//! Kubebench.

pub mod check;
pub mod compile;
pub mod diag;
pub mod digest;
pub mod edge;
pub mod expand;
pub mod lookup;
pub mod lower;
pub mod manifest;
pub mod model;
pub mod schema;
pub mod spec;
pub mod text;
pub mod tree;
pub mod unit;
pub mod workload;
pub mod yaml;
