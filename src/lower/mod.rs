//! From documents to the model: defaults are filled in here, in one visible place, and every fault is gathered.

mod benchmark;
mod metrics;
mod project;
mod suite;

pub use benchmark::{Lowered, benchmark};
pub use project::{PROJECT_FILE, Project, project};
pub use suite::{Suite, suite};

use crate::diag::{Diagnostics, Place};
use crate::text::Source;
use crate::yaml::Node;

/// A document that its schema accepts.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The file.
    pub source: &'a Source,
    /// Its content.
    pub root: &'a Node,
}

/// Takes over findings that say something new: one for each code, place and message.
fn merge_new(diagnostics: &mut Diagnostics, found: impl IntoIterator<Item = crate::diag::Diagnostic>) {
    for diagnostic in found {
        let known = |other: &crate::diag::Diagnostic| {
            other.code == diagnostic.code && other.place == diagnostic.place && matches!(other.place, Place::Span(_))
        };
        if !diagnostics.as_slice().iter().any(known) {
            diagnostics.push(diagnostic);
        }
    }
}
