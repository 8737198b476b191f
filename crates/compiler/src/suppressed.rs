//! How the suppressions of a spec or a target affect findings.
//!
//! Only warnings can be suppressed: what the project makes an error stays one, whatever a spec says.

use std::collections::BTreeSet;

use crate::lower::Project;
use crate::model::suppressions::{Suppression, Suppressions};
use crate::permission::permission;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};

/// Returns what is left of findings, and notes the codes of those that are not.
pub(crate) fn apply(
    Suppressions(list): &Suppressions,
    found: Diagnostics,
    project: &Project,
    used: &mut BTreeSet<String>,
) -> Diagnostics {
    let is_left = |finding: &Diagnostic| {
        let id = finding.code.id;
        let is_named = list.iter().any(|suppression| suppression.code == id);
        let is_suppressed = is_named && project.level(finding) == Some(Severity::Warning);
        if is_suppressed {
            used.insert(id.to_owned());
        }
        !is_suppressed
    };
    found.into_iter().filter(is_left).collect()
}

/// Returns what a reviewer wants to know of each.
pub(crate) fn shown(Suppressions(list): &Suppressions) -> Vec<Diagnostic> {
    let shown = |Suppression { code, span, reason }: &Suppression| {
        permission(&code::KB0395, *span, format!("{code}: {reason}"), |_| format!("{code} is suppressed: {reason}"))
    };
    list.iter().map(shown).collect()
}

/// Returns a finding about each that suppressed nothing.
pub(crate) fn unused(Suppressions(list): &Suppressions, used: &BTreeSet<String>, project: &Project) -> Vec<Diagnostic> {
    let unused = list.iter().filter(|suppression| !used.contains(&suppression.code));
    unused
        .map(|Suppression { code, span, .. }| {
            let finding = Diagnostic::at(&code::KB0469, *span, format!("unused suppression of {code}"));
            let level = code::find(code).and_then(|code| project.level(&Diagnostic::at(code, *span, "")));
            match level {
                Some(Severity::Error) => finding
                    .note(format!("{code} is an error in this project, and errors cannot be suppressed"))
                    .help("fix what it reports, or set its level to `warning` in kubebench.yaml"),
                None => finding.note(format!("kubebench.yaml switches {code} off")).help("delete it"),
                Some(Severity::Warning | Severity::Info) => finding
                    .note(format!("there is no warning {code} here, and a suppression would hide the next one"))
                    .help("delete it"),
            }
        })
        .collect()
}
