//! From the texts of specs to Kubernetes objects and the tree of files that holds them.
//!
//! A pure function: reads no disk, clock, environment or network, and a fault of the user's is a diagnostic, never an error.
//!
//! ```text
//! api        parts of Kubernetes' API   → findings, by its own types
//! extend     specs and fragments         → specs that are whole
//! expand     the matrix                  → cases with stable identities
//! lookup     `${{ … }}` in a case        → values
//! lower      wire types                  → the model: defaults filled in, every reference resolved
//! workload   `spec.workload`             → roles and an object without pods, one file a kind
//! guard      what a spec says of objects → what no benchmark may reach for, and what others may
//! check      the model                   → findings, one file a rule
//! manifest   the model                   → Kubernetes objects and the digest of what they execute
//! tree       objects and what is on disk → a plan: what to write, what to delete, what to refuse
//! difference two compilations            → what starts a benchmark, and what changed without that
//! weakened   two compilations            → which gates a change weakens, and which still apply
//! ```
//!
//! `compile` strings them together:
//!
//! ```
//! use kubebench_compiler::compile::{Input, Workspace};
//!
//! let spec = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: disk}\nspec:\n  workload:\n    job: {image: \"registry.example/fio:3\", command: [fio]}\n";
//! let compiled = Workspace::open(None, "0.1.0").compile(vec![Input { path: "specs/disk.yaml".into(), bytes: spec.into() }]);
//! assert!(compiled.tree.get("default/disk/workflow.yaml").is_some());
//! ```

pub mod api;
pub(crate) mod check;
pub mod compile;
pub mod difference;
pub(crate) mod expand;
pub mod extend;
pub mod fixture;
pub(crate) mod guard;
pub(crate) mod lookup;
pub mod lower;
pub mod manifest;
pub mod model;
pub mod of_target;
pub mod permission;
mod suppressed;
pub mod tree;
pub mod weakened;
pub mod workload;
