//! KB0328: the values that a spec gives a Workflow's parameters.

use serde_json::{Map, Value as Json, json};

use super::super::Lowering;
use super::super::status::text_at;
use kubebench_syntax::diag::{Diagnostic, code, did_you_mean};
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Puts the spec's `arguments` into the Workflow `object`, which `node` is with its places; reports those that it does not have,
/// and parameters that have no value then.
pub(super) fn fill(cx: &mut Lowering<'_>, node: &Node, object: &mut Json) {
    let said: Vec<Entry> = cx.entry.value.entries_of("arguments").to_vec();
    let is_of_template = object.pointer("/spec/workflowTemplateRef").is_some();
    let mut parameters = match object.pointer("/spec/arguments/parameters") {
        Some(Json::Array(list)) => list.clone(),
        _ => Vec::new(),
    };
    for entry in &said {
        let Some(value) = text_of(&entry.value) else { continue };
        let known = parameters.iter_mut().find(|parameter| text_at(parameter, "/name") == entry.key);
        match known.and_then(Json::as_object_mut) {
            Some(parameter) => set(cx, parameter, entry, value),
            // The parameters of the cluster's template are unknown here.
            None if is_of_template => parameters.push(json!({ "name": entry.key, "value": value })),
            None => report_unknown(cx, entry, &parameters),
        }
    }
    let nodes = node.get("spec").and_then(|spec| spec.get("arguments")?.get("parameters"));
    for (parameter, node) in parameters.iter().zip(nodes.map(Node::items).unwrap_or_default()) {
        if ["value", "valueFrom", "default"].iter().all(|field| parameter.get(field).is_none_or(Json::is_null)) {
            let name = text_at(parameter, "/name");
            let at = node.get("name").map_or(node.span, |name| name.span);
            let fault = Diagnostic::at(&code::KB0328, at, format!("the parameter `{name}` has no value"))
                .note("Argo would refuse the Workflow when the run starts");
            cx.report(
                fault.help(format!("write `arguments: {{{name}: …}}` next to `file` in the spec, or a `value` here")),
            );
        }
    }
    if !said.is_empty()
        && let Some(Json::Object(spec)) = object.get_mut("spec")
        && let Some(arguments) = spec.entry("arguments").or_insert_with(|| Json::Object(Map::new())).as_object_mut()
    {
        arguments.insert("parameters".to_owned(), Json::Array(parameters));
    }
}

fn set(cx: &mut Lowering<'_>, parameter: &mut Map<String, Json>, entry: &Entry, value: String) {
    let choices = parameter.get("enum").and_then(Json::as_array);
    if let Some(choices) = choices.filter(|choices| !choices.iter().any(|choice| choice.as_str() == Some(&value))) {
        let shown: Vec<&str> = choices.iter().filter_map(Json::as_str).collect();
        let message = format!("`{value}` is not one of the values that `{}` accepts", entry.key);
        cx.report(
            Diagnostic::at(&code::KB0328, entry.value.span, message)
                .note("its `enum` in the Workflow lists them, and Argo refuses others")
                .help(format!("write one of {}", shown.join(", "))),
        );
    }
    parameter.remove("valueFrom");
    parameter.insert("value".to_owned(), value.into());
}

fn report_unknown(cx: &mut Lowering<'_>, entry: &Entry, parameters: &[Json]) {
    let names: Vec<&str> = parameters.iter().map(|parameter| text_at(parameter, "/name")).collect();
    let fault = Diagnostic::at(&code::KB0328, entry.key_span, format!("the Workflow has no parameter `{}`", entry.key));
    cx.report(match did_you_mean(&entry.key, names.iter().copied()) {
        Some(close) => fault.did_you_mean(entry.key_span, close),
        None if names.is_empty() => fault
            .note("it has no parameters: `spec.arguments.parameters` is empty")
            .help("declare it there, or delete it here"),
        None => fault
            .note(format!("its parameters: {}", names.join(", ")))
            .help("write one of them, or declare it in `spec.arguments.parameters` of the Workflow"),
    });
}

/// Returns what Argo gets.
fn text_of(node: &Node) -> Option<String> {
    match &node.value {
        Value::Bool(flag) => Some(flag.to_string()),
        _ => node.as_text().map(str::to_owned),
    }
}
