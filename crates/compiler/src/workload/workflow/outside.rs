//! KB0329: templates of a Workflow that stand in the cluster, where nothing says which version of them was measured.

use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Node, Value};

/// Reports every reference to a template that is not in the Workflow itself.
pub(super) fn warn(workflow: &Node, diagnostics: &mut Diagnostics) {
    let Some(spec) = workflow.get("spec") else { return };
    if let Some(reference) = spec.entry("workflowTemplateRef") {
        diagnostics.push(finding(reference.key_span, name_of(&reference.value)));
    }
    search(spec, diagnostics);
}

/// Looks for `templateRef` at every depth: steps, tasks and hooks have it.
fn search(node: &Node, diagnostics: &mut Diagnostics) {
    match &node.value {
        Value::Seq(items) => items.iter().for_each(|item| search(item, diagnostics)),
        Value::Map(entries) => {
            for entry in entries {
                if entry.key == "templateRef" && !entry.value.entries().is_empty() {
                    diagnostics.push(finding(entry.key_span, name_of(&entry.value)));
                } else {
                    search(&entry.value, diagnostics);
                }
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn name_of(reference: &Node) -> &str {
    reference.get("name").and_then(Node::as_text).unwrap_or_default()
}

fn finding(at: Span, name: &str) -> Diagnostic {
    let message = format!("the WorkflowTemplate `{name}` of the cluster is outside git and outside the run digest");
    Diagnostic::at(&code::KB0329, at, message)
        .note("whoever changes it changes what is measured, under the same digest; its images and resources are in no plan and no budget")
        .help("write its templates into this Workflow")
}
