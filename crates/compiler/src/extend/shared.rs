//! Findings in fragments: one for each mistake, however many specs have it through `extends`.

use std::collections::{BTreeMap, BTreeSet};

use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place};
use kubebench_syntax::text::{SourceId, Span, first_of};

/// How many of many specs a message names.
const NAMED: usize = 3;

/// Findings that specs have in common, each with the paths of those specs.
#[derive(Default)]
pub(crate) struct Shared {
    fragments: BTreeSet<SourceId>,
    findings: BTreeMap<(&'static str, Span, String), (Diagnostic, BTreeSet<String>)>,
}

impl Shared {
    pub(crate) fn new(fragments: impl IntoIterator<Item = SourceId>) -> Self {
        Self { fragments: fragments.into_iter().collect(), findings: BTreeMap::new() }
    }

    /// Takes those of `found`, which are about the spec at `path`, that are in a fragment, and returns the others.
    pub(crate) fn take(&mut self, path: &str, found: Diagnostics) -> Diagnostics {
        let mut others = Diagnostics::default();
        for finding in found {
            match finding.place {
                Place::Span(span) if self.fragments.contains(&span.source) => {
                    let key = (finding.code.id, span, finding.message.clone());
                    let known = self.findings.entry(key).or_insert_with(|| (finding, BTreeSet::new()));
                    known.1.insert(path.to_owned());
                }
                _ => others.push(finding),
            }
        }
        others
    }

    /// Returns each finding once, with the specs that have it.
    pub(crate) fn into_findings(self) -> Diagnostics {
        let mut found = Diagnostics::default();
        for (finding, paths) in self.findings.into_values() {
            let paths: Vec<String> = paths.into_iter().collect();
            found.push(finding.note(format!("through `extends` in {}", first_of(&paths, NAMED))));
        }
        found
    }
}
