//! A SARIF 2.1.0 log, made for code scanning: columns in UTF-16 units, relative URIs, fingerprints without lines.
//!
//! Braces and brackets in messages stay as they are: the standard gives them a meaning in templates, but viewers show
//! messages without arguments literally, and a doubled `${{ matrix.x }}` would help no reader.

use crate::invariant::Invariant as _;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Report;
use super::fingerprint::Fingerprints;
use super::location::{Location, Region};
use crate::diag::{Code, Diagnostic, Fix, Severity, group};
use crate::text::{Source, SourceMap};

/// How many results GitHub keeps of one upload.
const KEPT: usize = 5_000;
/// How many characters GitHub takes for a rule's description.
const DESCRIPTION: usize = 1_024;
const ROOT: &str = "%SRCROOT%";

pub(super) fn render(report: &Report<'_>) -> String {
    let mut fingerprints = Fingerprints::default();
    let mut found: Vec<Found<'_>> = report
        .diagnostics
        .iter()
        .zip(group::ids(report.diagnostics))
        .map(|(diagnostic, group)| Found {
            diagnostic,
            group,
            fingerprint: fingerprints.next(diagnostic, report.sources),
        })
        .collect();
    if found.len() > KEPT {
        let frequencies = group::frequencies(report.diagnostics);
        let mut ranked: Vec<_> = found.into_iter().zip(frequencies).collect();
        ranked.sort_by_key(|(found, frequency)| (found.diagnostic.severity, *frequency));
        found = ranked.into_iter().take(KEPT).map(|(found, _)| found).collect();
    }
    found.sort_by_key(|found| found.diagnostic.severity);

    let mut codes: Vec<&Code> = found.iter().map(|found| found.diagnostic.code).collect();
    codes.sort_by_key(|code| code.id);
    codes.dedup();
    let results: Vec<_> = found.iter().map(|found| result(found, &codes, report.sources)).collect();

    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "kubebench",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().copied().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {ROOT: {"description": {"text": "the top of the repository"}}},
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications(report.diagnostics.len()),
            }],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn notifications(found: usize) -> Vec<Value> {
    if found <= KEPT {
        return Vec::new();
    }
    let text = format!("{found} findings; this log holds {KEPT} of them, errors and rare ones first");
    vec![json!({"level": "warning", "message": {"text": text}})]
}

/// Returns what SARIF calls a severity.
fn level(severity: Severity) -> &'static str {
    if severity == Severity::Info { "note" } else { severity.name() }
}

fn rule(code: &Code) -> Value {
    json!({
        "id": code.id,
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": description(code)},
        "help": {"text": code.page, "markdown": code.page},
        "defaultConfiguration": {"level": level(code.severity)},
    })
}

/// Returns the first paragraph of the code's page, or its title where the page says nothing yet.
fn description(code: &Code) -> String {
    let paragraph = code.page.split("\n\n").map(str::trim).find(|part| !part.is_empty() && !part.starts_with('#'));
    paragraph.unwrap_or(code.title).chars().take(DESCRIPTION).collect()
}

/// A finding with what distinguishes it from others, and what it has in common with them.
struct Found<'a> {
    diagnostic: &'a Diagnostic,
    group: String,
    fingerprint: String,
}

fn result(found: &Found<'_>, codes: &[&Code], sources: &SourceMap) -> Value {
    let Found { diagnostic, group, fingerprint } = found;
    let mut result = json!({
        "ruleId": diagnostic.code.id,
        "level": level(diagnostic.severity),
        "message": {"text": message(diagnostic)},
        "locations": primary(diagnostic, sources),
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
        "properties": {"group": group},
    });
    if let Some(fields) = result.as_object_mut() {
        if let Ok(index) = codes.binary_search_by_key(&diagnostic.code.id, |code| code.id) {
            fields.insert("ruleIndex".into(), json!(index));
        }
        let related = related(diagnostic, sources);
        if !related.is_empty() {
            fields.insert("relatedLocations".into(), Value::Array(related));
        }
        if let Some(fix) = diagnostic.fix.as_ref().and_then(|edit| fix(edit, diagnostic, sources)) {
            fields.insert("fixes".into(), json!([fix]));
        }
    }
    result
}

fn message(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    for note in &diagnostic.notes {
        let _ = write!(text, "\nnote: {note}");
    }
    if let Some(help) = &diagnostic.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}

/// Code scanning refuses a result without a line, so a whole file is its first line.
fn primary(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<Value> {
    let location = Location::of(&diagnostic.place, sources);
    if location.path.is_empty() {
        return Vec::new();
    }
    let region = location.region.as_ref().map_or_else(|| json!({"startLine": 1}), region);
    vec![json!({"physicalLocation": {"artifactLocation": artifact(location.path), "region": region}})]
}

fn related(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<Value> {
    let with_path = diagnostic.related.iter().filter_map(|related| {
        let location = Location::of(&related.place, sources);
        (!location.path.is_empty()).then_some((related, location))
    });
    with_path
        .enumerate()
        .map(|(id, (related, location))| {
            let mut physical = json!({"artifactLocation": artifact(location.path)});
            let place = location.region.as_ref().map(region);
            let place = place.or_else(|| location.start().map(|start| json!({"startLine": start.line})));
            if let (Some(fields), Some(place)) = (physical.as_object_mut(), place) {
                fields.insert("region".into(), place);
            }
            json!({"id": id, "message": {"text": related.label}, "physicalLocation": physical})
        })
        .collect()
}

fn fix(fix: &Fix, diagnostic: &Diagnostic, sources: &SourceMap) -> Option<Value> {
    let deleted = Region::exact(fix.span, sources)?;
    Some(json!({
        "description": {"text": diagnostic.help.as_deref().unwrap_or(diagnostic.code.title)},
        "artifactChanges": [{
            "artifactLocation": artifact(&deleted.source.path),
            "replacements": [{
                "deletedRegion": region(&deleted),
                "insertedContent": {"text": fix.replacement},
            }],
        }],
    }))
}

fn region(part: &Region<'_>) -> Value {
    json!({
        "startLine": part.start().line,
        "startColumn": utf16_column(part.source, part.range.start),
        "endLine": part.end().line,
        "endColumn": utf16_column(part.source, part.range.end),
    })
}

/// Returns the column of `offset`, from 1, in UTF-16 code units.
fn utf16_column(source: &Source, offset: usize) -> usize {
    let before = source.text.get(..offset).expected("a region between characters");
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let column = source.position(offset).column;
    if column == line.len() + 1 { column } else { line.encode_utf16().count() + 1 }
}

fn artifact(path: &str) -> Value {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    json!({"uri": uri, "uriBaseId": ROOT})
}
