//! Kubebench.

pub mod diag;
pub mod digest;
pub mod text;
pub mod unit;
pub mod yaml;
