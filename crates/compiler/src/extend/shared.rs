//! Findings in fragments: one for each mistake, however many specs have it through `extends`.

use std::collections::{BTreeMap, BTreeSet};

use kubebench_syntax::diag::{Code, Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::{SourceId, Span, first_of};

/// How many of many specs a message names.
const NAMED: usize = 3;
/// What is wrong with a fragment only if it is so in all specs that extend it: others may need what one does not.
const IN_ALL: [&Code; 2] = [&code::KB0406, &code::KB0469];

/// Findings that specs have in common, each with the paths of those specs.
#[derive(Default)]
pub(crate) struct Shared {
    fragments: BTreeSet<SourceId>,
    /// How many specs extend each fragment.
    users: BTreeMap<SourceId, usize>,
    findings: BTreeMap<(&'static str, Span, String), (Diagnostic, BTreeSet<String>)>,
}

impl Shared {
    pub(crate) fn new(fragments: impl IntoIterator<Item = SourceId>) -> Self {
        Self { fragments: fragments.into_iter().collect(), users: BTreeMap::new(), findings: BTreeMap::new() }
    }

    /// Takes those of `found`, which are about the spec at `path`, that are in a fragment, and returns the others; `parts` are the fragments
    /// that the spec extends.
    pub(crate) fn take(&mut self, path: &str, parts: &[SourceId], found: Diagnostics) -> Diagnostics {
        for part in parts {
            *self.users.entry(*part).or_default() += 1;
        }
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
        for ((_, span, _), (finding, paths)) in self.findings {
            if IN_ALL.contains(&finding.code) && self.users.get(&span.source) != Some(&paths.len()) {
                continue;
            }
            let paths: Vec<String> = paths.into_iter().collect();
            found.push(finding.note(format!("through `extends` in {}", first_of(&paths, NAMED))));
        }
        found
    }
}
