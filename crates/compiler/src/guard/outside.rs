//! KB0329, KB0376: pods that an object of the cluster describes, of which neither git nor this program knows anything.

use super::{Bounds, Field};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node};

/// Says that a field leads to such an object, unless it comes with the benchmark.
pub(super) fn check(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, key_span, value }, of, .. } = field;
    let name = ["name", "configMapName"].iter().find_map(|field| value.get(field)).and_then(Node::as_text);
    let Some(name) = name else { return };
    if (of, key.as_str()) == ("trialTemplate", "configMap") {
        diagnostics.push(unseen(*key_span, "ConfigMap", name));
    }
    if bounds.brings(name) {
        return;
    }
    match (of, key.as_str()) {
        // The form of a TrainJob has a rule of its own, which knows the runtimes that are carried.
        ("trainJob", _) => {}
        (_, "templateRef" | "workflowTemplateRef") => diagnostics.push(template(*key_span, name)),
        (_, "runtimeRef") => diagnostics.push(unseen(*key_span, "runtime", name)),
        _ => {}
    }
}

fn template(at: Span, name: &str) -> Diagnostic {
    let message = format!("the WorkflowTemplate `{name}` of the cluster is outside git and outside the run digest");
    Diagnostic::at(&code::KB0329, at, message)
        .note("whoever changes it changes what is measured, under the same digest; its images and resources are in no plan and no budget")
        .help("write its templates into this Workflow")
}

fn unseen(at: Span, kind: &str, name: &str) -> Diagnostic {
    let message = format!("pods are described by the {kind} `{name}` of the cluster");
    Diagnostic::at(&code::KB0376, at, message)
        .info()
        .value(format!("{kind} {name}"))
        .note("neither git nor the run digest says what they are and may do")
}
