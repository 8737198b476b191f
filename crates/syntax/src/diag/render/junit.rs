//! A JUnit report, for CI systems that show what passed as well: one suite, and a test case for each file checked.
//!
//! A file with errors has one failed case for each code (readers take two cases of one name for one, and only the first
//! failure of a case); a file without has one case called `valid`. Warnings are output of the file's last case.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::printable::{LineBreaks, printable};
use super::{Report, concise};
use crate::diag::{Diagnostic, Severity, group};
use crate::text::SourceMap;

#[derive(Default)]
struct File<'a> {
    errors: BTreeMap<&'static str, Vec<Found<'a>>>,
    others: Vec<Found<'a>>,
}

struct Found<'a> {
    diagnostic: &'a Diagnostic,
    group: String,
}

pub(super) fn render(report: &Report<'_>) -> String {
    let mut files: BTreeMap<&str, File<'_>> =
        report.checked.iter().map(|path| (path.as_str(), File::default())).collect();
    for (diagnostic, group) in report.diagnostics.iter().zip(group::ids(report.diagnostics)) {
        let found = Found { diagnostic, group };
        let file = files.entry(diagnostic.path(report.sources)).or_default();
        match diagnostic.severity {
            Severity::Error => file.errors.entry(diagnostic.code.id).or_default().push(found),
            Severity::Warning | Severity::Info => file.others.push(found),
        }
    }
    let tests: usize = files.values().map(|file| file.errors.len().max(1)).sum();
    let failures: usize = files.values().map(|file| file.errors.len()).sum();
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"kubebench\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"kubebench\" {counts} skipped=\"0\">");
    for (path, file) in &files {
        test_cases(&mut out, path, file, report.sources);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn test_cases(out: &mut String, path: &str, file: &File<'_>, sources: &SourceMap) {
    let path = xml(path);
    let mut cases: Vec<_> = file.errors.iter().map(|(code, errors)| (*code, errors.as_slice())).collect();
    if cases.is_empty() {
        cases.push(("valid", &[]));
    }
    let last = cases.len() - 1;
    for (number, (name, errors)) in cases.into_iter().enumerate() {
        let others = if number == last { file.others.as_slice() } else { &[] };
        let _ = write!(out, "    <testcase classname=\"{path}\" name=\"{name}\" file=\"{path}\"");
        if errors.is_empty() && others.is_empty() {
            out.push_str("/>\n");
            continue;
        }
        out.push_str(">\n");
        properties(out, errors.iter().chain(others));
        if let Some(first) = errors.first() {
            let message = xml(&first.diagnostic.message);
            let _ = writeln!(
                out,
                "      <failure message=\"{message}\" type=\"{name}\">{}</failure>",
                lines(errors, sources)
            );
        }
        if !others.is_empty() {
            let _ = writeln!(out, "      <system-out>{}</system-out>", lines(others, sources));
        }
        out.push_str("    </testcase>\n");
    }
}

fn properties<'a>(out: &mut String, found: impl Iterator<Item = &'a Found<'a>>) {
    let groups: BTreeSet<&str> = found.map(|found| found.group.as_str()).collect();
    out.push_str("      <properties>\n");
    for group in groups {
        let _ = writeln!(out, "        <property name=\"group\" value=\"{group}\"/>");
    }
    out.push_str("      </properties>\n");
}

fn lines(found: &[Found<'_>], sources: &SourceMap) -> String {
    let lines: Vec<_> = found.iter().map(|found| xml(&concise::line(found.diagnostic, sources))).collect();
    lines.join("\n")
}

/// Returns `text` for an attribute or an element; characters that XML 1.0 cannot carry are spelled out.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in printable(text, LineBreaks::Escape).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
