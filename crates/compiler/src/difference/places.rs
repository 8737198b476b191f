//! Where the values of a spec are written: in the spec, or in a fragment that it extends.

use super::Sides;
use super::fields::{FieldChange, Of, Step, at};
use crate::compile::{Compilation, Compiled};
use kubebench_syntax::yaml::Node;

/// A spec on both sides.
pub(super) struct Places<'s, 'c> {
    pub(super) sides: &'s Sides<'c>,
    pub(super) before: &'c Compiled,
    pub(super) now: &'c Compiled,
}

impl Places<'_, '_> {
    /// Returns the file that gives a field its new value, or removed the old one: the spec, or one of its fragments.
    pub(super) fn of(&self, FieldChange { path, old, new, .. }: &FieldChange) -> String {
        let Sides { base, head, .. } = self.sides;
        let own = || self.now.benchmark.path.clone();
        if let Some(new) = new {
            return fragment(head.compilation, self.now, path, new, Of::Head).unwrap_or_else(own);
        }
        let was = old.as_ref().and_then(|old| fragment(base.compilation, self.before, path, old, Of::Base));
        // The spec does not use what is still in the fragment.
        let is_gone = |file: &String| head.document(file).is_some_and(|root| at(&root, path, Of::Base).is_none());
        was.filter(is_gone).unwrap_or_else(own)
    }
}

/// Returns the fragment in which the value `node` of a field is written, if it is in one.
fn fragment(compilation: &Compilation, compiled: &Compiled, path: &[Step], node: &Node, of: Of) -> Option<String> {
    let file = |node: &Node| {
        let source = compilation.sources.get(node.span.source)?;
        let fragments = compilation.fragments_of(&compiled.benchmark.path).map(|(_, file)| file);
        fragments.into_iter().find(|file| *file == source.path).map(str::to_owned)
    };
    // A value that was computed is where the field is.
    let root = compiled.spec.as_deref();
    let written = || root.and_then(|root| at(root, path, of).or_else(|| at(root.get("spec")?, path, of)));
    file(node).or_else(|| file(written()?))
}
