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
mod not_carried;
mod placement;
mod places;
mod pods;
mod project;
mod resolved;
mod roots;
mod said_name;
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
pub(crate) use said_name::said_name;
pub(crate) use suite::{Faulty, Suites};
pub use suite::{Suite, suite};

use std::collections::BTreeSet;

use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{SourceId, SourceMap, Span};
use kubebench_syntax::yaml::Node;

/// A document that its schema accepts.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The file.
    pub id: SourceId,
    /// All texts: a part of it may be another file's.
    pub sources: &'a SourceMap,
    /// Its content, as one with what it extends.
    pub root: &'a Node,
    /// The fragments that are part of it.
    pub fragments: &'a [SourceId],
}

impl Document<'_> {
    /// Returns the path of the file.
    fn path(&self) -> &str {
        &self.sources.get(self.id).expected("a text of each document").path
    }

    /// Returns the digest of its text, and of those of its fragments.
    fn digest(&self) -> Digest {
        let text = |id: &SourceId| self.sources.get(*id).expected("a text of each document").text.as_str();
        let texts: Vec<&str> = std::iter::once(&self.id).chain(self.fragments).map(text).collect();
        Digest::of(texts.join("\0"))
    }
}

/// Adds findings that are new: one for each code, place and message.
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
