//! `path:line:col: error[KB0105]: message; help: …`, one line a finding: what `grep`, editors and problem matchers read.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use super::Report;
use super::location::Location;
use super::printable::{LineBreaks, printable};
use crate::diag::Diagnostic;
use crate::text::SourceMap;

pub(super) fn render(report: &Report<'_>) -> String {
    report.diagnostics.iter().map(|diagnostic| line(diagnostic, report.sources) + "\n").collect()
}

/// Returns the line of one finding, without a line break.
pub(super) fn line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let escaped = |text| printable(text, LineBreaks::Escape);
    let location = Location::of(&diagnostic.place, sources);
    let mut line = super::place(diagnostic, sources);
    let (severity, code) = (diagnostic.severity.name(), diagnostic.code.id);
    let _ = write!(line, ": {severity}[{code}]: {}", escaped(&diagnostic.message));
    let explained = Location::for_review(diagnostic, sources);
    if let (None, Some(start)) = (location.start(), explained.start()) {
        let _ = write!(line, " ({}:{}:{})", escaped(explained.path), start.line, start.column);
    }
    if let Some(help) = &diagnostic.help {
        let _ = write!(line, "; help: {}", escaped(help));
    }
    line
}
