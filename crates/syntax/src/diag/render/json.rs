//! The versioned JSON object that `docs/reference/json-output.md` describes field by field.
//!
//! Fields may be added under one `schemaVersion`; a change of meaning or a removal raises it.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::Report;
use super::location::{Location, Region};
use crate::diag::{Diagnostic, Fix, Related, Severity, group};
use crate::invariant::Invariant as _;
use crate::text::{Position, SourceMap};

const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema_version: u32,
    diagnostics: Vec<Finding<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct Finding<'a> {
    code: &'a str,
    severity: &'a str,
    title: &'a str,
    message: &'a str,
    path: &'a str,
    start: Option<Point>,
    end: Option<Point>,
    label: Option<&'a str>,
    related: Vec<Other<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
    fix: Option<Edit<'a>>,
    /// Where the code's page is published; nowhere yet, but readers can rely on the field.
    url: Option<&'a str>,
    /// The same for findings with one cause.
    group: String,
}

#[derive(Serialize)]
struct Other<'a> {
    path: &'a str,
    start: Option<Point>,
    end: Option<Point>,
    label: &'a str,
}

#[derive(Serialize)]
struct Edit<'a> {
    path: &'a str,
    start: Point,
    end: Point,
    replacement: &'a str,
    applicability: &'a str,
}

#[derive(Serialize)]
struct Point {
    line: usize,
    column: usize,
}

pub(super) fn render(report: &Report<'_>) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        diagnostics: report
            .diagnostics
            .iter()
            .zip(group::ids(report.diagnostics))
            .map(|(diagnostic, group)| finding(diagnostic, group, report.sources))
            .collect(),
        summary: Summary { errors: report.count(Severity::Error), warnings: report.count(Severity::Warning) },
    };
    let mut text = serde_json::to_string_pretty(&document).expected("JSON of our own types");
    text.push('\n');
    text
}

fn finding<'a>(diagnostic: &'a Diagnostic, group: String, sources: &'a SourceMap) -> Finding<'a> {
    let location = Location::of(&diagnostic.place, sources);
    Finding {
        code: diagnostic.code.id,
        severity: diagnostic.severity.name(),
        title: diagnostic.code.title,
        message: &diagnostic.message,
        path: location.path,
        start: location.start().map(point),
        end: location.end().map(point),
        label: diagnostic.label.as_deref(),
        related: diagnostic.related.iter().map(|related| other(related, sources)).collect(),
        notes: &diagnostic.notes,
        help: diagnostic.help.as_deref(),
        fix: diagnostic.fix.as_ref().and_then(|fix| edit(fix, sources)),
        url: None,
        group,
    }
}

fn other<'a>(related: &'a Related, sources: &'a SourceMap) -> Other<'a> {
    let location = Location::of(&related.place, sources);
    Other {
        path: location.path,
        start: location.start().map(point),
        end: location.end().map(point),
        label: &related.label,
    }
}

fn edit<'a>(fix: &'a Fix, sources: &'a SourceMap) -> Option<Edit<'a>> {
    let region = Region::exact(fix.span, sources)?;
    Some(Edit {
        path: &region.source.path,
        start: point(region.start()),
        end: point(region.end()),
        replacement: &fix.replacement,
        applicability: fix.applicability.name(),
    })
}

fn point(position: Position) -> Point {
    Point { line: position.line, column: position.column }
}
