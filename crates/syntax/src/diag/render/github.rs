//! Workflow commands that GitHub Actions turns into annotations of a pull request: errors first, and rare mistakes before frequent ones.
//!
//! A line that the runner reads as a command is its whole power over a job, so no text of the user may end one or
//! begin one: data and properties are escaped exactly as the runner unescapes them.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use super::Report;
use super::location::Location;
use super::printable::{LineBreaks, printable};
use crate::diag::{Diagnostic, Severity, group};
use crate::text::SourceMap;
use crate::words::counted;

/// How many annotations of each severity GitHub shows of one step.
const SHOWN: usize = 10;

pub(super) fn render(report: &Report<'_>) -> String {
    let mut shown = group::shown(report.diagnostics, report.sources);
    shown.sort_by_key(|shown| (shown.finding.severity, shown.of_kind));
    // The count of hidden findings is an annotation, too.
    let hidden = if shown.len() > SHOWN { shown.split_off(SHOWN - 1) } else { Vec::new() };
    let mut out: String = shown.iter().map(|shown| command(&shown.finding, report.sources)).collect();
    if !hidden.is_empty() {
        let findings: usize = hidden.iter().map(|hidden| hidden.count).sum();
        let _ = writeln!(
            out,
            "::notice title=kubebench::{} in this step; `--report json=FILE` and `--output-format human` have all",
            counted(findings, "more finding")
        );
    }
    out
}

fn command(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let location = Location::for_review(diagnostic, sources);
    let level = if diagnostic.severity == Severity::Info { "notice" } else { diagnostic.severity.name() };
    let mut command = format!("::{level} ");
    if !location.path.is_empty() {
        let _ = write!(command, "file={},", property(&printable(location.path, LineBreaks::Keep)));
    }
    if let (Some(start), Some(end)) = (location.start(), location.end()) {
        let _ = write!(command, "line={},endLine={},", start.line, end.line);
        if start.line == end.line {
            let _ = write!(command, "col={},endColumn={},", start.column, end.column);
        }
    }
    let title = format!("{} {}", diagnostic.code.id, diagnostic.code.title);
    let _ = writeln!(command, "title={}::{}", property(&title), data(&body(diagnostic)));
    command
}

fn body(diagnostic: &Diagnostic) -> String {
    let mut body = diagnostic.message.clone();
    for note in &diagnostic.notes {
        let _ = write!(body, "\nnote: {note}");
    }
    if let Some(help) = &diagnostic.help {
        let _ = write!(body, "\nhelp: {help}");
    }
    printable(&body, LineBreaks::Keep).into_owned()
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
