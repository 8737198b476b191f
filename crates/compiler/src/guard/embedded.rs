//! KB0376: texts that hold objects, as Argo has them.

use super::Field;
use crate::workload::{pod_sets, read_embedded};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node};

/// Returns what the text of a field holds; nothing where it is no such field. What cannot be read is reported.
pub(super) fn read(field: Field<'_>, diagnostics: &mut Diagnostics) -> Option<Vec<Node>> {
    let Field { entry: Entry { key, key_span, value }, of, .. } = field;
    if of == "resource" && key == "manifestFrom" {
        diagnostics.push(unseen(*key_span, "this object is read only when it runs").help("write it as `manifest`"));
        return Some(Vec::new());
    }
    let holds = key == "podSpecPatch" || of == "resource" && key == "manifest";
    value.as_text().filter(|_| holds)?;
    let read = read_embedded(value);
    if read.is_none() {
        let fault = unseen(value.span, &format!("the text of `{key}` is no YAML before it runs"));
        diagnostics.push(
            fault.help("write it as YAML in which parameters are values: `memory: \"{{inputs.parameters.memory}}\"`"),
        );
    }
    let objects = read.unwrap_or_default();
    if key == "manifest" && objects.iter().any(|object| !pod_sets(&object.to_json()).is_empty()) {
        let mut fault = Diagnostic::at(&code::KB0376, *key_span, "these pods carry no label of the benchmark");
        fault.severity = Severity::Info;
        diagnostics.push(
            fault.note("Argo creates them from a text, so the network policy of the target does not hold for them"),
        );
    }
    Some(objects)
}

fn unseen(span: Span, message: &str) -> Diagnostic {
    Diagnostic::at(&code::KB0376, span, message).note("what a pod may do has to be seen in the review")
}
