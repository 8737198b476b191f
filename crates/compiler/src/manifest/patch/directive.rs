//! The `$patch` directives of a strategic merge patch; what would be passed over in silence is reported.

use super::merge_key;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::yaml::{Entry, Node};

const WORDS: [&str; 3] = ["replace", "delete", "merge"];

/// Where a mapping of the patch is.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// Under a field, or the patch itself.
    Field,
    /// In the list of this name.
    Element(&'a str),
}

/// Reports directives that have no effect in their place.
pub(super) fn check(patch: &Node, diagnostics: &mut Diagnostics) {
    below(patch, Place::Field, diagnostics);
}

fn below(node: &Node, place: Place<'_>, diagnostics: &mut Diagnostics) {
    for entry in node.entries() {
        if entry.key.starts_with('$') {
            diagnostics.extend(fault(node, entry, place));
        }
        for item in entry.value.items() {
            below(item, Place::Element(&entry.key), diagnostics);
        }
        below(&entry.value, Place::Field, diagnostics);
    }
}

fn fault(owner: &Node, entry: &Entry, place: Place<'_>) -> Option<Diagnostic> {
    let at_key = |message: String| Diagnostic::at(&code::KB0316, entry.key_span, message);
    if entry.key != "$patch" {
        let fault = at_key(format!("`{}` is not a directive that kubebench knows", entry.key));
        return Some(
            fault
                .note("the directive would be ignored, and the list or mapping would be merged without it")
                .help("write `$patch: replace` or `$patch: delete`; without them a patch merges"),
        );
    }
    let word = entry.value.as_text();
    let Some(word) = word.filter(|word| WORDS.contains(word)) else {
        let message = format!("`$patch` is one of `{}`", WORDS.join("`, `"));
        let fault = Diagnostic::at(&code::KB0316, entry.value.span, message);
        return Some(match word.and_then(|word| did_you_mean(word, WORDS)) {
            Some(close) => fault.did_you_mean(entry.value.span, close),
            None => fault.help("write `$patch: replace` or `$patch: delete`; without it a patch merges"),
        });
    };
    let others = || owner.entries().iter().filter(|other| other.key != entry.key);
    let ignored = |fault: Diagnostic| fault.note("the keys next to it would be ignored");
    match (word, place) {
        (_, Place::Element(list)) if merge_key(list).is_none() => {
            let fault = at_key(format!("`$patch` does nothing in `{list}`: that list is always replaced as a whole"));
            Some(fault.help("delete the element, and write the whole list"))
        }
        ("replace", Place::Element(_)) if others().next().is_some() => {
            let fault = at_key("`$patch: replace` must be the only key of a list element".to_owned());
            Some(ignored(fault).help(
                "write `{$patch: replace}` as a separate element; the other elements become the \
                 list",
            ))
        }
        ("delete", Place::Element(list)) => {
            let key = merge_key(list).expected("a list whose elements have a key");
            if owner.get(key).is_none() {
                let fault = at_key(format!("`$patch: delete` does not say which element of `{list}`"));
                return Some(fault.help(format!("write `{key}` of the element next to it")));
            }
            others().any(|other| other.key != key).then(|| {
                let fault = at_key(format!("`$patch: delete` may be combined with `{key}` only"));
                ignored(fault).help("delete the other fields")
            })
        }
        ("delete", Place::Field) if others().next().is_some() => {
            let fault = at_key("`$patch: delete` must be the only key of a mapping".to_owned());
            Some(ignored(fault).help("delete the other fields, or write `$patch: replace`"))
        }
        _ => None,
    }
}
