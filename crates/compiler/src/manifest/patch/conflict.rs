//! Lists that a target and a spec both write, and that no merge can make one of.

use super::merge_key;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Reports lists of `own`, which Kubernetes replaces as a whole, over lists of `base`: the target's settings would be lost.
pub(in crate::manifest) fn report(base: &Node, own: &Node, diagnostics: &mut Diagnostics) {
    if own.get("$patch").is_some() {
        return;
    }
    for entry in own.entries() {
        let Some(below) = base.entry(&entry.key) else { continue };
        match (&below.value.value, &entry.value.value) {
            (Value::Map(_), Value::Map(_)) => report(&below.value, &entry.value, diagnostics),
            (Value::Seq(before), Value::Seq(now)) => match merge_key(&entry.key) {
                Some(key) => report_elements(before, now, key, diagnostics),
                None if below.value.to_json() == entry.value.to_json() => {}
                None => diagnostics.push(conflict(below, entry)),
            },
            _ => {}
        }
    }
}

fn report_elements(before: &[Node], now: &[Node], key: &str, diagnostics: &mut Diagnostics) {
    for item in now {
        let id = item.get(key).and_then(Node::as_text);
        let same = before.iter().find(|item| id.is_some() && item.get(key).and_then(Node::as_text) == id);
        if let Some(same) = same {
            report(same, item, diagnostics);
        }
    }
}

fn conflict(base: &Entry, own: &Entry) -> Diagnostic {
    let message = format!("the target has a list `{}` too, and the two cannot be merged", own.key);
    Diagnostic::at(&code::KB0378, own.key_span, message)
        .related(Place::Span(base.key_span), "what the target sets for all pods")
        .note("Kubernetes replaces this list as a whole, so the pods would lack what the target sets")
        .help("write the whole list in one of the two places; `$patch: replace` next to it replaces the list of the target")
}
