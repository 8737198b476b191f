//! What a benchmark may do that a plain one may not: findings of level `info`, which reviewers of a change want to know.
//!
//! Those whose codes have that level themselves are kept separate, for `plan`: a lint level makes them findings like any other.

use crate::model::Api;
use kubebench_format::plan::v1::What;
use kubebench_syntax::diag::{Code, Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

/// What permissions are, and the codes of their findings.
const KINDS: [(What, &[&Code]); 13] = [
    (What::Account, &[&code::KB0381]),
    (What::Gate, &[&code::KB0463]),
    (What::Image, &[&code::KB0384]),
    (What::Kind, &[&code::KB0385]),
    (What::Lint, &[&code::KB0395]),
    (What::Network, &[&code::KB0387]),
    (What::Placement, &[&code::KB0389, &code::KB0392, &code::KB0394]),
    (What::PodSecurity, &[&code::KB0388, &code::KB0419]),
    (What::Rule, &[&code::KB0386]),
    (What::Secret, &[&code::KB0380]),
    (What::Token, &[&code::KB0373, &code::KB0382]),
    (What::Unseen, &[&code::KB0329, &code::KB0376, &code::KB0391, &code::KB0440]),
    (What::Volume, &[&code::KB0383]),
];

/// Returns what a permission is.
pub fn what(finding: &Diagnostic) -> What {
    let mut kinds = KINDS.iter().filter(|(_, codes)| codes.contains(&finding.code));
    kinds.next().map_or(What::Unseen, |(what, _)| *what)
}

/// Returns what is permitted, such as the name of a Secret.
pub fn value(finding: &Diagnostic) -> &str {
    finding.value.as_deref().unwrap_or(&finding.message)
}

/// Returns what distinguishes the permissions of one benchmark, wherever they are requested.
pub fn key(finding: &Diagnostic) -> (What, &str) {
    (what(finding), value(finding))
}

/// Takes the permissions out of findings; those that are findings of `compile` as well stay there too.
pub(crate) fn split(found: &mut Diagnostics) -> Vec<Diagnostic> {
    let all = std::mem::take(found);
    let is_known = |finding: &&Diagnostic| KINDS.iter().any(|(_, codes)| codes.contains(&finding.code));
    let is_there = |finding: &&Diagnostic| finding.severity != Severity::Error && is_known(finding);
    let permissions = all.as_slice().iter().filter(is_there).cloned().collect();
    found.extend(all.into_iter().filter(|finding| !is_of_plan(finding)));
    permissions
}

/// Returns those permissions that `level`, the one that the project gives a finding, makes findings like any other.
pub(crate) fn raised<'p>(
    permissions: impl Iterator<Item = &'p Diagnostic>,
    level: impl Fn(&Diagnostic) -> Option<Severity>,
) -> impl Iterator<Item = Diagnostic> {
    let is_raised =
        move |finding: &&Diagnostic| is_of_plan(finding) && level(finding).is_some_and(|level| level != Severity::Info);
    permissions.filter(is_raised).cloned()
}

/// Returns whether `plan` alone shows a finding, unless a lint level says otherwise.
fn is_of_plan(finding: &Diagnostic) -> bool {
    finding.code.severity == Severity::Info
}

/// Returns the right to create and delete objects that a workload gives the pipeline, except for the Jobs that it always has.
pub(crate) fn rule(api: &Api, span: Span) -> Option<Diagnostic> {
    let (group, plural) = api.resource();
    if matches!((group, plural), ("batch", "jobs") | ("", "services")) {
        return None;
    }
    let value = if group.is_empty() { plural.to_owned() } else { format!("{group}/{plural}") };
    Some(permission(&code::KB0386, span, value, |value| format!("the pipeline may create and delete `{value}`")))
}

/// Returns a permission of a value, and its wording in a sentence.
pub(crate) fn permission(
    code: &'static Code,
    span: Span,
    value: String,
    said: impl FnOnce(&str) -> String,
) -> Diagnostic {
    let message = said(&value);
    Diagnostic::at(code, span, message).value(value)
}

/// Returns a text as it is, anything else as JSON.
pub(crate) fn shown(node: &Node) -> String {
    node.as_text().map_or_else(|| node.to_json().to_string(), str::to_owned)
}

pub(crate) fn text(node: &Node) -> String {
    node.as_text().unwrap_or_default().to_owned()
}
