//! Kubebench compiles benchmark specs into the Kubernetes manifests that run them.
//!
//! ```text
//! text       bytes of a file             → a source with lines and spans
//! yaml       a source                    → a tree of nodes, each with its place; nothing ambiguous survives
//! api        parts of Kubernetes' API   → findings, by its own types
//! schema     a tree                      → the same tree, known to fit the wire types in `spec`
//! expand     the matrix                  → cases with stable identities
//! lookup     `${{ … }}` in a case        → values
//! lower      wire types                  → the model: defaults filled in, every reference resolved
//! workload   `spec.workload`             → roles and an object without pods, one file a kind
//! check      the model                   → findings, one file a rule
//! manifest   the model                   → Kubernetes objects and the digest of what they execute
//! tree       objects and what is on disk → a plan: what to write, what to delete, what to refuse
//! ```
//!
//! `compile` strings them together as one pure function; `edge` does all I/O; `cli` turns arguments into calls.
//! A fault of the user's never stops a stage: it becomes a `diag::Diagnostic`, and all of them are shown at once.

pub mod api;
pub mod app;
pub mod archive;
pub mod check;
pub mod cli;
pub mod compare;
pub mod compile;
pub mod contract;
pub mod diag;
pub mod digest;
pub mod doctor;
pub mod edge;
pub mod expand;
pub mod export;
pub mod fixture;
pub mod follow;
pub mod gather;
pub mod ingest;
pub mod local;
pub mod lookup;
pub mod lower;
pub mod manifest;
pub mod migrate;
pub mod mock;
pub mod model;
pub mod path;
pub mod record;
pub mod redact;
pub mod report;
pub mod result;
pub mod run;
pub mod schema;
pub mod spec;
pub mod stats;
pub mod status;
pub mod step;
pub mod sweep;
pub mod text;
pub mod tree;
pub mod unit;
pub mod verdict;
pub mod workload;
pub mod yaml;
