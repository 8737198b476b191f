//! An identity for each finding that outlives edits elsewhere in the file: no line, column or byte enters it.

use std::collections::BTreeMap;

use crate::diag::Diagnostic;
use crate::digest::Digest;
use crate::text::SourceMap;

/// Numbers findings that share code, path and message, so that the platform does not take two of them for one.
#[derive(Debug, Default)]
pub(super) struct Fingerprints<'a> {
    seen: BTreeMap<(&'static str, &'a str, &'a str), usize>,
}

impl<'a> Fingerprints<'a> {
    /// Returns the fingerprint of the next finding of a report: 64 hex digits.
    pub(super) fn next(&mut self, diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> String {
        let (code, path, message) = (diagnostic.code.id, diagnostic.path(sources), diagnostic.message.as_str());
        let occurrence = self.seen.entry((code, path, message)).or_default();
        *occurrence += 1;
        Digest::of_fields([code, path, message, occurrence.to_string().as_str()]).hex()
    }
}
