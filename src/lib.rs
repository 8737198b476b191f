//! Kubebench.

pub mod diag;
pub mod digest;
pub mod expand;
pub mod lookup;
pub mod text;
pub mod yaml;
