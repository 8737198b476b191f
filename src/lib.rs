//! Kubebench compiles benchmark specs into the Kubernetes manifests that run them, and evaluates what comes back.
//!
//! The program: `cli` turns arguments into calls and answers into text, `app` is what the commands do. The rest are the crates
//! below `crates/`; ARCHITECTURE.md draws how they build on each other.

pub mod app;
pub mod cli;
