//! Kubebench.

pub mod diag;
pub mod digest;
pub mod edge;
pub mod text;
pub mod tree;
pub mod yaml;
