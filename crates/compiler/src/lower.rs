//! From documents to the model: defaults are filled in here, in one visible place, and every fault is gathered.

mod ack;
mod authorities;
mod benchmark;
mod claim;
pub(crate) mod concurrency;
mod declared;
mod files;
mod gates;
mod literals;
mod lookup_errors;
mod manifests;
mod metrics;
mod placement;
mod places;
mod pods;
mod project;
mod resolved;
mod roots;
mod schedule;
mod signing;
mod suite;
mod target;
mod variants;

pub use ack::ack;
pub(crate) use benchmark::Lowered;
pub(crate) use benchmark::Resolved;
pub use benchmark::{Inputs, RESERVED_NAME, benchmark};
pub use files::{ReadFile, Unreadable};
pub use manifests::Manifests;
pub(crate) use manifests::manifest_paths;
pub(crate) use project::Strictness;
pub use project::{PROJECT_FILE, Project, project};
pub use resolved::ResolvedSpec;
pub(crate) use resolved::resolved;
pub(crate) use suite::Suites;
pub use suite::{Suite, suite};

use std::collections::BTreeSet;

use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place};
use kubebench_syntax::text::{Source, Span};
use kubebench_syntax::yaml::Node;

/// A document that its schema accepts.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The file.
    pub source: &'a Source,
    /// Its content.
    pub root: &'a Node,
}

/// Takes over findings that say something new: one for each code, place and message.
fn merge_new(diagnostics: &mut Diagnostics, found: impl IntoIterator<Item = Diagnostic>) {
    let mut known: BTreeSet<(&str, Span)> = diagnostics.as_slice().iter().filter_map(identity).collect();
    for diagnostic in found {
        if identity(&diagnostic).is_none_or(|identity| known.insert(identity)) {
            diagnostics.push(diagnostic);
        }
    }
}

fn identity(diagnostic: &Diagnostic) -> Option<(&'static str, Span)> {
    if let Place::Span(span) = diagnostic.place { Some((diagnostic.code.id, span)) } else { None }
}
