//! KB0372: Kubebench's own Secret, accounts and labels.

use super::{Bounds, Field};
use kubebench_contract::labels::{BENCHMARK, CASE, PREFIX, ROLE, RUN};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node};

/// What the template of a target's pipeline is called.
const NAME: &str = "kubebench";
/// What accounts and other objects of Kubebench begin with.
const ACCOUNTS: &str = "kubebench-";
/// Fields that choose among objects by their labels.
const SELECTORS: [&str; 3] = ["matchExpressions", "matchLabels", "selector"];
/// The labels by which a benchmark may choose among its own pods.
const SELECTABLE: [&str; 4] = [BENCHMARK, CASE, ROLE, RUN];

/// Reports a label or annotation of Kubebench that the user gives, and its Secret where a property names it.
pub(super) fn check_key(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, key_span, value }, of, .. } = field;
    if names(key, bounds.credential) {
        diagnostics.push(credential(*key_span, bounds));
    }
    if is_decided_later(key) {
        diagnostics.push(decided_later(key, *key_span, "what this is called"));
    }
    let label = if key == "key" && of == "matchExpressions" {
        value.as_text().filter(|label| label.starts_with(PREFIX)).map(|label| (label, value.span))
    } else {
        key.contains(PREFIX).then_some((key.as_str(), *key_span))
    };
    let Some((label, span)) = label else { return };
    let chooses = SELECTORS.contains(&of) && SELECTABLE.contains(&label);
    if !chooses {
        let fault = Diagnostic::at(&code::KB0372, span, format!("`{label}` belongs to kubebench"))
            .note("policies, steps and `status` know pods by these labels: with another one a pod would pass for what it is not");
        diagnostics.push(fault.help("delete it, or use a name of your own"));
    } else if label == BENCHMARK && value.as_text().is_some_and(|name| name != bounds.benchmark && name != BENCHMARK) {
        let name = value.as_text().unwrap_or_default();
        let fault =
            Diagnostic::at(&code::KB0372, value.span, format!("this chooses the pods of the benchmark `{name}`"))
                .note("what one benchmark measures is not for another to reach");
        diagnostics.push(fault.help(format!("write `{}`, the name of this benchmark", bounds.benchmark)));
    }
}

/// Reports an object that is called like those which the pipeline of a target has.
pub(super) fn check_object(object: &Node, diagnostics: &mut Diagnostics) {
    let name = object.get("metadata").and_then(|metadata| metadata.get("name"));
    let Some((name, span)) = name.and_then(|name| Some((name.as_text()?, name.span))) else { return };
    if name == NAME || name.starts_with(ACCOUNTS) {
        let fault = Diagnostic::at(&code::KB0372, span, format!("an object called `{name}` belongs to kubebench"));
        diagnostics.push(
            fault
                .note("a run creates and deletes the objects of its manifest, and this one is the pipeline's")
                .help("call it otherwise"),
        );
    }
}

/// Reports the Secret of Kubebench, or one of its accounts, as the value of a field.
pub(super) fn check_value(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, value, .. }, of, .. } = field;
    check_text(value, key, bounds, diagnostics);
    let Some(text) = value.as_text() else { return };
    let says = |word: &str| [key.as_str(), of].iter().any(|name| name.to_ascii_lowercase().contains(word));
    if text.starts_with(ACCOUNTS) && says("serviceaccount") {
        diagnostics.push(own_account(text, value.span));
    } else if is_decided_later(text) && key != "key" && (says("serviceaccount") || says("secret")) {
        diagnostics.push(decided_later(text, value.span, "whose Secret or account it is"));
    }
}

fn decided_later(text: &str, span: Span, what: &str) -> Diagnostic {
    Diagnostic::at(&code::KB0372, span, format!("`{text}` is decided only when it runs"))
        .note(format!("nobody who reviews the change sees {what}"))
        .help("write the name")
}

/// Reports the Secret of Kubebench in a text of the field `of`.
pub(super) fn check_text(node: &Node, of: &str, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    if !["image", "mountPath", "workingDir", "description"].contains(&of)
        && node.as_text().is_some_and(|text| names(text, bounds.credential))
    {
        diagnostics.push(credential(node.span, bounds));
    }
}

fn own_account(name: &str, span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0372, span, format!("the account `{name}` belongs to kubebench"))
        .note("a measured program could do with it what the pipeline may do")
        .help("use an account of your own, or delete it")
}

fn credential(span: Span, bounds: &Bounds<'_>) -> Diagnostic {
    let message = format!("the Secret `{}` belongs to kubebench", bounds.credential);
    Diagnostic::at(&code::KB0372, span, message)
        .note("it holds the credential by which results are recorded: whoever reads it can write to the repository")
        .help("use a Secret of your own, with another name")
}

/// Returns whether a text has a name as a word of its own, or as the last part of a property.
fn names(text: &str, name: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != '-');
    words.any(|word| word.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// Returns whether Argo or Katib makes the text what it is.
pub(super) fn is_decided_later(text: &str) -> bool {
    ["{{", "<<", "${"].iter().any(|opening| text.contains(opening))
}
