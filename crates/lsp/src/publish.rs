//! Findings as the client shows them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use kubebench_compiler::compile::Compilation;
use kubebench_syntax::diag::{Diagnostic, Place, Related, Severity};
use kubebench_syntax::text::{SourceId, SourceMap};
use lsp_types::{
    CodeDescription, Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    PublishDiagnosticsParams, Range as LspRange,
};

use crate::address::uri;
use crate::position::{Encoding, Lines};

/// Where the page of a code is.
const PAGES: &str = "https://github.com/kubebench/kubebench/blob/main/docs/codes/";

/// The findings last sent to the client, by path.
#[derive(Default)]
pub(crate) struct Published(BTreeMap<String, Vec<Shown>>);

impl Published {
    /// Returns what must be sent to the client: each file whose findings differ from those that it shows.
    pub(crate) fn update(
        &mut self,
        root: &Path,
        compilation: &Compilation,
        encoding: Encoding,
    ) -> Vec<PublishDiagnosticsParams> {
        let mut found: BTreeMap<String, Vec<&Diagnostic>> = BTreeMap::new();
        for finding in &compilation.diagnostics {
            found.entry(finding.path(&compilation.sources).to_owned()).or_default().push(finding);
        }
        let mut shower = Shower { root, sources: &compilation.sources, encoding, lines: BTreeMap::new() };
        let shown: BTreeMap<String, Vec<Shown>> = found
            .into_iter()
            .map(|(path, findings)| (path, findings.into_iter().filter_map(|finding| shower.shown(finding)).collect()))
            .collect();
        self.replace(root, shown)
    }

    /// Returns what takes all findings from the client.
    pub(crate) fn clear(&mut self, root: &Path) -> Vec<PublishDiagnosticsParams> {
        self.replace(root, BTreeMap::new())
    }

    fn replace(&mut self, root: &Path, shown: BTreeMap<String, Vec<Shown>>) -> Vec<PublishDiagnosticsParams> {
        let before = std::mem::replace(&mut self.0, shown);
        let paths: BTreeSet<&String> = before.keys().chain(self.0.keys()).collect();
        let changed = paths.into_iter().filter(|path| before.get(*path) != self.0.get(*path));
        let params = |path: &String| {
            let diagnostics = self.0.get(path).cloned().unwrap_or_default();
            Some(PublishDiagnosticsParams { uri: uri(&root.join(path))?, diagnostics, version: None })
        };
        changed.filter_map(params).collect()
    }
}

struct Shower<'a> {
    root: &'a Path,
    sources: &'a SourceMap,
    encoding: Encoding,
    lines: BTreeMap<SourceId, Lines>,
}

impl Shower<'_> {
    fn shown(&mut self, finding: &Diagnostic) -> Option<Shown> {
        let Location { range, .. } = self.location(&finding.place)?;
        let mut message = finding.message.clone();
        message.extend(finding.notes.iter().map(|note| format!("\nnote: {note}")));
        message.extend(finding.help.iter().map(|help| format!("\nhelp: {help}")));
        let related: Vec<DiagnosticRelatedInformation> = finding
            .related
            .iter()
            .filter_map(|Related { place, label }| {
                Some(DiagnosticRelatedInformation { location: self.location(place)?, message: label.clone() })
            })
            .collect();
        Some(Shown {
            range,
            severity: Some(match finding.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Info => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(finding.code.id.to_owned())),
            code_description: format!("{PAGES}{}.md", finding.code.id)
                .parse()
                .ok()
                .map(|href| CodeDescription { href }),
            source: Some("kubebench".to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            tags: None,
            data: None,
        })
    }

    fn location(&mut self, place: &Place) -> Option<Location> {
        let (path, range) = match place {
            Place::Span(span) => {
                let source = self.sources.get(span.source)?;
                let encoding = self.encoding;
                let lines = self.lines.entry(span.source).or_insert_with(|| Lines::of(&source.text, encoding));
                (source.path.as_str(), lines.range(&source.text, as_shown(&source.text, span.range())))
            }
            Place::File(path) => (path.as_str(), LspRange::default()),
            Place::Line(path, line) => {
                let line = u32::try_from(line.saturating_sub(1)).unwrap_or(u32::MAX);
                let at = lsp_types::Position { line, character: 0 };
                (path.as_str(), LspRange { start: at, end: at })
            }
        };
        Some(Location { uri: uri(&self.root.join(path))?, range })
    }
}

/// Returns the bytes of a place without the white space at its end: a mapping ends where the next key begins.
fn as_shown(text: &str, range: Range<usize>) -> Range<usize> {
    let trimmed = text.get(range.clone()).map_or(range.end, |inner| range.start + inner.trim_end().len());
    range.start..trimmed.max(range.start)
}
