//! From the texts of specs to Kubernetes objects and the tree of files that holds them.
//!
//! A pure function: reads no disk, clock, environment or network, and a fault of the user's is a diagnostic, never an error.

pub mod api;
pub mod check;
pub mod compile;
pub mod expand;
pub mod fixture;
pub mod lookup;
pub mod lower;
pub mod manifest;
pub mod model;
pub mod tree;
pub mod workload;
