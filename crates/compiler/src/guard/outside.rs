//! KB0329, KB0376: pods that an object of the cluster describes, of which neither git nor this program knows anything.

use super::{Bounds, Field, owned};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node};

/// Says that a field leads to such an object, unless it comes with the benchmark.
pub(super) fn check(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, key_span, value }, of, .. } = field;
    match (of, key.as_str()) {
        (_, "clusterSelector") => diagnostics.push(unseen(*key_span, "cluster", "that its labels choose")),
        ("model", "runtime") => diagnostics.extend(value.as_text().map(|name| unseen(*key_span, "runtime", name))),
        ("templates", "http" | "plugin") => diagnostics.push(by_agent(*key_span, key)),
        (_, "artifactRepositoryRef") => {
            let name = value.get("configMap").and_then(Node::as_text).unwrap_or("artifact-repositories");
            diagnostics.extend((!bounds.brings(name)).then(|| unseen(*key_span, "artifact repository", name)));
        }
        _ => {}
    }
    let name = ["name", "configMapName"].iter().find_map(|field| value.get(field)).and_then(Node::as_text);
    let Some(name) = name else { return };
    if (of, key.as_str()) == ("trialTemplate", "configMap") {
        diagnostics.push(unseen(*key_span, "ConfigMap", name));
    }
    if bounds.brings(name) {
        return;
    }
    match (of, key.as_str()) {
        // The form of a TrainJob has a separate rule, which knows the runtimes that are carried.
        ("trainJob", _) => {}
        (_, "templateRef" | "workflowTemplateRef") if owned::is_own(name) => {
            diagnostics.push(owned::own_object(name, *key_span));
        }
        (_, "templateRef" | "workflowTemplateRef") => diagnostics.push(template(*key_span, name)),
        (_, "runtimeRef") => diagnostics.push(unseen(*key_span, "runtime", name)),
        _ => {}
    }
}

fn template(at: Span, name: &str) -> Diagnostic {
    let message = format!("the WorkflowTemplate `{name}` of the cluster is neither in git nor in the run digest");
    Diagnostic::at(&code::KB0329, at, message)
        .note(
            "a change of the template changes what is measured under the same digest; plans and budgets do not \
             include its images and resources",
        )
        .help("write its templates into this Workflow")
}

fn by_agent(at: Span, kind: &str) -> Diagnostic {
    Diagnostic::at(&code::KB0376, at, format!("Argo's agent runs this {kind} step, outside the pods of the benchmark"))
        .info()
        .value(format!("{kind} template"))
        .note("the cluster decides what the agent may reach, and with which account")
}

fn unseen(at: Span, kind: &str, name: &str) -> Diagnostic {
    let message = format!("pods are described by the {kind} `{name}` of the cluster");
    Diagnostic::at(&code::KB0376, at, message)
        .info()
        .value(format!("{kind} {name}"))
        .note("neither git nor the run digest shows what these pods are and may do")
}
