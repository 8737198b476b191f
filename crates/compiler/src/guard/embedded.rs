//! KB0376: texts that hold objects, as Argo and Katib have them.

use super::owned::is_decided_later;
use super::{Bounds, Field, kind};
use crate::api::{self, POD_SPEC};
use crate::workload::{Embedded, pod_sets, read_embedded};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Returns what the text of a field holds; nothing where it is no such field. What cannot be read is reported.
pub(super) fn read(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) -> Option<Vec<Node>> {
    let Field { entry: Entry { key, key_span, value }, of, .. } = field;
    match (of, key.as_str()) {
        ("resource", "manifestFrom") => {
            diagnostics.push(unseen(*key_span, "this object is read only at run time").help("write it as `manifest`"));
            Some(Vec::new())
        }
        ("resource", "flags") if !value.items().is_empty() => {
            let fault = unseen(*key_span, "these options of kubectl may name other objects");
            diagnostics.push(fault.help("delete them, and write what is created as `manifest`"));
            Some(Vec::new())
        }
        ("feasibleSpace", "list") => {
            value.items().iter().filter(|item| adds_fields(item)).for_each(|item| diagnostics.push(raw(item.span)));
            None
        }
        ("trialTemplate" | "artifactRepositoryRef", "configMap") => Some(of_config_map(value, bounds, diagnostics)),
        ("resource", "manifest") => {
            let objects = text(key, value, diagnostics)?;
            if objects.iter().any(|object| !pod_sets(&object.to_json()).is_empty()) {
                diagnostics.push(unlabeled(*key_span));
            }
            Some(objects)
        }
        (_, "podSpecPatch") => {
            let patches = text(key, value, diagnostics)?;
            // Argo reads field names in any case, and the checks know one spelling: any other is an unknown field.
            for patch in &patches {
                let _ = api::read_patch(&said_now(patch), POD_SPEC, "the patch of a pod", diagnostics);
            }
            Some(patches)
        }
        _ => None,
    }
}

fn text(key: &str, value: &Node, diagnostics: &mut Diagnostics) -> Option<Vec<Node>> {
    value.as_text()?;
    let Some(Embedded { documents, is_open }) = read_embedded(value) else {
        let fault = unseen(value.span, &format!("the text of `{key}` is not YAML until its parameters are filled in"));
        diagnostics.push(
            fault.help("write it as YAML in which parameters are values: `memory: \"{{inputs.parameters.memory}}\"`"),
        );
        return Some(Vec::new());
    };
    if is_open {
        let message = format!("Argo fills in the text of `{key}`, so the value of a parameter could add fields");
        diagnostics.push(unseen(value.span, &message).info());
    }
    Some(documents)
}

/// Returns a document without the values that Argo fills in, of which nothing is known.
fn said_now(node: &Node) -> Node {
    let is_said = |node: &Node| node.as_text().is_none_or(|text| !is_decided_later(text));
    let value = match &node.value {
        Value::Map(entries) => {
            let entries = entries.iter().filter(|entry| is_said(&entry.value));
            Value::Map(entries.map(|entry| Entry { value: said_now(&entry.value), ..entry.clone() }).collect())
        }
        Value::Seq(items) => Value::Seq(items.iter().filter(|item| is_said(item)).map(said_now).collect()),
        other => other.clone(),
    };
    Node { value, span: node.span }
}

/// Returns the content of the ConfigMap that a field names, if it is in the manifest.
fn of_config_map(value: &Node, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) -> Vec<Node> {
    let named = value.get("configMapName").unwrap_or(value).as_text().unwrap_or_default();
    let is_it = |object: &&Node| {
        object.get("kind").and_then(Node::as_text) == Some("ConfigMap") && kind::name_of(object) == Some(named)
    };
    let texts = bounds.objects.iter().filter(is_it).flat_map(|object| object.entries_of("data"));
    texts.filter_map(|entry| text(&entry.key, &entry.value, diagnostics)).flatten().collect()
}

/// Returns whether Katib, which puts values into the text of a trial as they are, could add fields with this one.
fn adds_fields(value: &Node) -> bool {
    value.as_text().is_some_and(|text| text.contains(['"', '\\', '\n', '\r']))
}

fn raw(span: Span) -> Diagnostic {
    let message = "this value could add fields to the trials";
    unseen(span, message).help(
        "write it without quotes, backslashes and line breaks: Katib inserts it into the text of a trial unescaped",
    )
}

fn unlabeled(span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0376, span, "these pods have no label of the benchmark")
        .info()
        .note("Argo creates the pods from a text, so the network policy of the target does not select them")
}

fn unseen(span: Span, message: &str) -> Diagnostic {
    Diagnostic::at(&code::KB0376, span, message).note("a review must show what a pod may do")
}
