//! A GitLab Code Quality report: the array that `artifacts:reports:codequality` takes.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::Report;
use super::fingerprint::Fingerprints;
use super::location::Location;
use super::printable::{LineBreaks, printable};
use crate::diag::{Diagnostic, Severity, group};
use crate::invariant::Invariant as _;

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'a str,
    location: Whereabouts<'a>,
    /// The same for findings with one cause; GitLab ignores it.
    group: String,
}

#[derive(Serialize)]
struct Whereabouts<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
}

pub(super) fn render(report: &Report<'_>) -> String {
    let mut fingerprints = Fingerprints::default();
    let issues: Vec<_> = report
        .diagnostics
        .iter()
        .zip(group::ids(report.diagnostics))
        .map(|(diagnostic, group)| {
            let location = Location::for_review(diagnostic, report.sources);
            Issue {
                description: description(diagnostic),
                check_name: diagnostic.code.id,
                fingerprint: fingerprints.next(diagnostic, report.sources),
                severity: severity(diagnostic.severity),
                location: Whereabouts {
                    path: location.path,
                    lines: Lines { begin: location.start().map_or(1, |start| start.line) },
                },
                group,
            }
        })
        .collect();
    let mut text = serde_json::to_string_pretty(&issues).expected("JSON of our own types");
    text.push('\n');
    text
}

fn description(diagnostic: &Diagnostic) -> String {
    let message = printable(&diagnostic.message, LineBreaks::Escape);
    match &diagnostic.help {
        Some(help) => format!("{message}; help: {}", printable(help, LineBreaks::Escape)),
        None => message.into_owned(),
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Info => "info",
    }
}
