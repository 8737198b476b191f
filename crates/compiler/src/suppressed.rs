//! Lints that a spec or a target does without, each with its reason.
//!
//! Only warnings can be suppressed: what the project makes an error stays one, whatever a spec says.

use std::collections::BTreeSet;

use crate::lower::Project;
use crate::permission::permission;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

/// The lints that one spec or target does without.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    list: Vec<Suppression>,
}

#[derive(Clone, Debug)]
struct Suppression {
    code: String,
    span: Span,
    reason: String,
}

impl Suppressions {
    /// Reads the `lints` of `node`, which its schema accepts.
    pub(crate) fn of(node: Option<&Node>) -> Self {
        let entries = node.map(|node| node.entries_of("lints")).unwrap_or_default();
        let read = |entry: &kubebench_syntax::yaml::Entry| Suppression {
            code: entry.key.clone(),
            span: entry.key_span,
            reason: entry.value.get("reason").and_then(Node::as_text).unwrap_or_default().trim().to_owned(),
        };
        Self { list: entries.iter().map(read).collect() }
    }

    /// Returns what is left of findings, and notes the codes of those that are not.
    pub(crate) fn apply(&self, found: Diagnostics, project: &Project, used: &mut BTreeSet<String>) -> Diagnostics {
        let is_left = |finding: &Diagnostic| {
            let id = finding.code.id;
            let is_named = self.list.iter().any(|suppression| suppression.code == id);
            let is_suppressed = is_named && project.level(finding) == Some(Severity::Warning);
            if is_suppressed {
                used.insert(id.to_owned());
            }
            !is_suppressed
        };
        found.into_iter().filter(is_left).collect()
    }

    /// Returns what a reviewer wants to know of each.
    pub(crate) fn shown(&self) -> Vec<Diagnostic> {
        let shown = |Suppression { code, span, reason }: &Suppression| {
            permission(&code::KB0395, *span, format!("{code}: {reason}"), |_| format!("{code} is suppressed: {reason}"))
        };
        self.list.iter().map(shown).collect()
    }

    /// Returns a finding about each that suppressed nothing.
    pub(crate) fn unused(&self, used: &BTreeSet<String>, project: &Project) -> Vec<Diagnostic> {
        let unused = self.list.iter().filter(|suppression| !used.contains(&suppression.code));
        unused
            .map(|Suppression { code, span, .. }| {
                let finding = Diagnostic::at(&code::KB0469, *span, format!("there is no warning {code} to suppress"));
                let level = code::find(code).and_then(|code| project.level(&Diagnostic::at(code, *span, "")));
                match level {
                    Some(Severity::Error) => finding
                        .note(format!("{code} is an error in this project, and errors cannot be suppressed"))
                        .help("fix what it reports, or set its level to `warning` in kubebench.yaml"),
                    None => finding.note(format!("kubebench.yaml switches {code} off")).help("delete it"),
                    Some(Severity::Warning | Severity::Info) => finding.help("delete it"),
                }
            })
            .collect()
    }
}
