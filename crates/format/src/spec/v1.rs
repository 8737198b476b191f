//! `apiVersion: kubebench.dev/v1`: the wire types of the kinds of document.
//!
//! Only shapes and words for people stand here. Closedness, `null` and lookups are added for all types at once when the
//! schema is generated; meaning is given by `lower`.

pub mod ack;
pub mod benchmark;
pub mod carried;
pub mod check;
pub mod container;
pub mod fixture;
pub mod fragment;
pub mod metric;
pub mod placement;
pub mod pods;
pub mod project;
pub mod reduce;
pub mod scalar;
pub mod suite;
pub mod suppression;
pub mod variant;

/// The only API version there is.
pub const API_VERSION: &str = "kubebench.dev/v1";
