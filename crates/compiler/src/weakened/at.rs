//! Where a change makes something weaker: at the line that says so, in the spec or in a fragment, so that reviewers see it in the diff.

use super::Change;
use crate::compile::{Compilation, Compiled};
use crate::lower::PROJECT_FILE;
use kubebench_syntax::diag::Place;
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{self, Node, Value};

/// A benchmark of both sides.
#[derive(Clone, Copy)]
pub(super) struct At<'c> {
    pub(super) change: Change<'c>,
    pub(super) before: &'c Compiled,
    pub(super) now: &'c Compiled,
}

impl At<'_> {
    /// Returns the place of the first of these fields of `spec` that says something, or of what is where it was.
    pub(super) fn field(&self, names: &[&str]) -> Place {
        let found = || {
            let own = names.iter().find_map(|name| self.said(name));
            let beside = || names.iter().find_map(|name| self.beside(name));
            own.or_else(beside).or_else(|| names.iter().find_map(|name| self.default(name)))
        };
        Place::Span(found().unwrap_or(self.now.benchmark.name_span))
    }

    /// Returns where the field is, or is removed.
    fn said(&self, name: &str) -> Option<Span> {
        let whole = self.now.spec.as_deref().and_then(|root| root.get("spec")?.entry(name));
        if let Some(entry) = whole {
            return Some(entry.key_span);
        }
        let root = document(self.change.head, &self.now.benchmark.path)?;
        let entry = root.get("spec")?.entry(name)?;
        matches!(entry.value.value, Value::Null).then_some(entry.key_span)
    }

    /// Returns where the project file says what holds of all that do not say it.
    fn default(&self, name: &str) -> Option<Span> {
        let root = document(self.change.head, PROJECT_FILE)?;
        Some(root.get("spec")?.get("defaults")?.entry(name)?.key_span)
    }

    /// Returns the field that came after it at the base, or before it, in the file that had it.
    fn beside(&self, name: &str) -> Option<Span> {
        let had = self.before.spec.as_deref()?.get("spec")?.entry(name)?.key_span;
        let path = &self.change.base.sources.get(had.source)?.path;
        let is_own = *path == self.before.benchmark.path;
        let old = document(self.change.base, path)?;
        let new = document(self.change.head, if is_own { &self.now.benchmark.path } else { path })?;
        let (old, new) = (old.get("spec")?, new.get("spec")?);
        let place = old.entries().iter().position(|entry| entry.key == name)?;
        let (ahead, behind) = old.entries().split_at_checked(place)?;
        let nearest = behind.iter().chain(ahead.iter().rev());
        nearest.filter_map(|entry| new.entry(&entry.key)).map(|entry| entry.key_span).next()
    }
}

fn document(compilation: &Compilation, path: &str) -> Option<Node> {
    let (id, source) = compilation.sources.at(path)?;
    yaml::read(id, source).root
}
