//! `workflow`: an Argo Workflow as the thing that is measured, from a file of the project; so a Kubeflow pipeline as well, in the
//! Workflow that its compiler makes.

mod arguments;

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value as Json, json};

use super::manifest::{self, Document, refuse_placeholders};
use super::status::{self, Outcome, PodSet, text_at};
use super::{Kind, Lowering, Purpose};
use crate::model::{Api, Given, Supporting, Workload};
use kubebench_format::spec::v1::project::RelativePath;
use kubebench_syntax::diag::{Diagnostic, Severity, code};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

pub(super) const KIND: Kind = Kind {
    key: "workflow",
    api: Api::known(API_VERSION, "Workflow", "workflows"),
    schema,
    lower,
    purpose: Purpose::Works,
    container: "main",
    outcome,
    // Argo decides which of its pods are needed, and which are tried again.
    deciders: |_| status::all_of([]),
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
workflow:
  # An Argo Workflow, read as kubectl reads it; its `{{…}}` are Argo's, `${{ }}` are expressions of the benchmark.
  file: pipelines/train.yaml
  arguments: {epochs: 3}
";

const API_VERSION: &str = "argoproj.io/v1alpha1";
/// The fields of a template that runs as a pod.
const OF_PODS: [&str; 5] = ["container", "script", "containerSet", "resource", "data"];

/// An Argo Workflow. Kubebench changes only what a run needs: name, namespace, labels and arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"file": "pipelines/train.yaml", "arguments": {"epochs": 3}}]))]
struct Workflow {
    /// The file with the Workflow, relative to the project root and outside the folders of specs; read as kubectl reads it.
    /// Expressions work in it as in a spec.
    #[schemars(extend("examples" = ["pipelines/train.yaml"]))]
    #[expect(dead_code, reason = "read before any spec is lowered, by `lower::Manifests`")]
    file: RelativePath,
    /// Values for the Workflow's parameters (`spec.arguments.parameters`), by name.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"epochs": 3}]))]
    #[expect(dead_code, reason = "read with its places, by `arguments`")]
    arguments: BTreeMap<String, Argument>,
}

/// A value of a parameter, which is text to Argo.
#[derive(Debug)]
struct Argument;

impl JsonSchema for Argument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Argument".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

fn schema(generator: &mut SchemaGenerator) -> Schema {
    Workflow::json_schema(generator)
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let _: Workflow = cx.form()?;
    let nodes = cx.documents?;
    let found_before = cx.diagnostics.as_slice().len();
    let document = only(cx, nodes)?;
    refuse_placeholders(document.node, cx.diagnostics);
    manifest::warn_of_namespace(cx, &document);
    refuse_suspension(cx, document.node);
    refuse_upper_case(cx, document.node);
    let mut object = document.node.to_json();
    arguments::fill(cx, document.node, &mut object);
    let mut roles = manifest::roles(document.node, &object, Some(&KIND), cx.diagnostics);
    let beside = manifest::pods_of_resources(document.node, cx.diagnostics);
    manifest::check_fields(document.node, cx.target.trainer, cx.diagnostics);
    let is_sound = !cx.diagnostics.as_slice().iter().skip(found_before).any(|fault| fault.severity == Severity::Error);
    let (body, supporting, name_at) = apart(manifest::body(object, &[]));
    for role in roles.iter_mut().filter(|_| !supporting.is_empty()) {
        role.template_at.object = 1;
    }
    let given = Some(Given { body, name: None });
    is_sound.then(|| Workload { beside, name_at, supporting, given, ..cx.workload(KIND.api, Map::new(), roles) })
}

/// Takes the `spec` out of a Workflow into a WorkflowTemplate that it refers to, which is created before it: a controller with
/// `templateReferencing: Strict` takes no other. One that refers to a template already stays as it is.
fn apart(mut body: Map<String, Json>) -> (Map<String, Json>, Vec<Supporting>, Vec<String>) {
    if body.get("spec").is_none_or(|spec| spec.get("workflowTemplateRef").is_some()) {
        return (body, Vec::new(), Vec::new());
    }
    let spec = body
        .insert("spec".to_owned(), json!({ "workflowTemplateRef": {} }))
        .expected("the `spec` that was just looked at");
    let api = Api::known(API_VERSION, "WorkflowTemplate", "workflowtemplates");
    let template = Supporting::new(api, Map::from_iter([("spec".to_owned(), spec)]));
    (body, vec![template], vec!["/spec/workflowTemplateRef/name".to_owned()])
}

/// Returns the Workflow of the file; what else there is is reported.
fn only<'n>(cx: &mut Lowering<'_>, nodes: &'n [Node]) -> Option<Document<'n>> {
    let documents: Vec<Document<'n>> = nodes.iter().filter_map(|node| Document::read(node, cx.diagnostics)).collect();
    if documents.len() < nodes.len() {
        return None;
    }
    let at = cx.entry.value.get("file").map_or(cx.entry.key_span, |file| file.span);
    let [document] = documents.as_slice() else {
        let shown: Vec<String> = documents.iter().map(|document| format!("`{}`", document.shown())).collect();
        let message = format!("the file holds {} objects, but `workflow` measures one", documents.len());
        cx.report(
            Diagnostic::at(&code::KB0335, at, message)
                .note(format!("it holds {}", shown.join(", ")))
                .help("write `manifest: {file: …, main: Workflow/NAME}`, which creates the others before it and deletes them after it"),
        );
        return None;
    };
    let place = document.place();
    match (document.api_version, document.kind) {
        (API_VERSION, "Workflow") => return Some(*document),
        (version, "Workflow") if version.starts_with("argoproj.io/") => {
            let at = document.node.get("apiVersion").map_or(place, |node| node.span);
            let message = format!("`{version}` is not a version of Workflow that its controller serves");
            cx.report(Diagnostic::at(&code::KB0339, at, message).help(format!("write `apiVersion: {API_VERSION}`")));
        }
        (_, kind @ ("CronWorkflow" | "WorkflowTemplate" | "ClusterWorkflowTemplate")) => {
            let fault = Diagnostic::at(&code::KB0335, place, format!("a {kind} runs nothing by itself"));
            cx.report(match kind {
                "CronWorkflow" => fault
                    .note("Kubebench creates the measured object once for each run, and has its own schedule")
                    .help("write its `workflowSpec` as the `spec` of a Workflow, and `schedule: {cron: …}` in the spec of the benchmark"),
                _ => fault
                    .note("its templates run as a Workflow")
                    .help("write `kind: Workflow` with the same `spec` and an `entrypoint`"),
            });
        }
        (version, kind) => {
            let message = format!("this is a {kind} ({version}), but `workflow` measures an Argo Workflow");
            cx.report(
                Diagnostic::at(&code::KB0335, place, message)
                    .help("write `manifest: {file: …}` for objects of other kinds"),
            );
        }
    }
    None
}

/// Reports what waits for somebody to start or resume it.
fn refuse_suspension(cx: &mut Lowering<'_>, workflow: &Node) {
    let Some(spec) = workflow.get("spec") else { return };
    let is_true = |node: &&Node| matches!(node.value, kubebench_syntax::yaml::Value::Bool(true));
    if let Some(suspend) = spec.get("suspend").filter(is_true) {
        cx.report(suspended(
            suspend.span,
            "the Workflow is suspended, and nothing would resume it",
            "delete this field",
        ));
    }
    for template in spec.items_of("templates") {
        let Some(entry) = template.entry("suspend").filter(|entry| entry.value.get("duration").is_none()) else {
            continue;
        };
        let message = "this template waits until somebody resumes the Workflow";
        cx.report(suspended(
            entry.key_span,
            message,
            "say how long it waits: `suspend: {duration: 30s}`, or delete it",
        ));
    }
}

/// Reports templates that Argo accepts and whose pods the API server refuses.
fn refuse_upper_case(cx: &mut Lowering<'_>, workflow: &Node) {
    let templates = workflow.get("spec").and_then(|spec| spec.get("templates")).map(Node::items).unwrap_or_default();
    for template in templates.iter().filter(|template| OF_PODS.iter().any(|field| template.get(field).is_some())) {
        let Some((name, at)) = template.get("name").and_then(|name| Some((name.as_text()?, name.span))) else {
            continue;
        };
        if name.chars().any(|letter| letter.is_ascii_uppercase()) {
            let message = format!("`{name}` has upper-case letters, and its pods are named after it");
            cx.report(
                Diagnostic::at(&code::KB0325, at, message)
                    .note("Argo accepts the Workflow, but the API server refuses every pod of this template")
                    .help(format!("write `{}` here, and where the template is called", name.to_lowercase())),
            );
        }
    }
}

fn suspended(at: Span, message: &str, help: &str) -> Diagnostic {
    let note = "a run that waits for a person would end only by its timeout";
    Diagnostic::at(&code::KB0349, at, message).note(note).help(help)
}

/// Reads a Workflow by its phase.
pub(super) fn outcome(object: &Json) -> Outcome {
    match text_at(object, "/status/phase") {
        "Succeeded" => Outcome::Succeeded,
        phase @ ("Failed" | "Error") => Outcome::Failed { reason: phase.to_owned(), message: why(object).to_owned() },
        "Running" => Outcome::Running,
        _ => Outcome::Pending,
    }
}

/// Returns why a Workflow failed: its own words, or, where it has none, those of the node that failed first.
fn why(object: &Json) -> &str {
    let own = text_at(object, "/status/message");
    if !own.is_empty() {
        return own;
    }
    let nodes = object.pointer("/status/nodes").and_then(Json::as_object).into_iter().flatten().map(|(_, node)| node);
    let failed = nodes.filter(|node| matches!(text_at(node, "/phase"), "Failed" | "Error"));
    let said = failed.filter(|node| !text_at(node, "/message").is_empty());
    let first = said.min_by_key(|node| (text_at(node, "/finishedAt"), text_at(node, "/name")));
    first.map_or("", |node| text_at(node, "/message"))
}

/// Returns the templates that run as pods, the entry point first. How many pods each gets is unknown before the run.
fn pods(object: &Json) -> Vec<PodSet> {
    // Of one that refers to a template Argo writes down what that was.
    const SPECS: [&str; 2] = ["/spec", "/status/storedWorkflowTemplateSpec"];
    let of = |at: &&str| object.pointer(&format!("{at}/templates")).is_some();
    let at = SPECS.into_iter().find(of).unwrap_or_default();
    let templates = object.pointer(&format!("{at}/templates")).and_then(Json::as_array);
    let templates = templates.map(Vec::as_slice).unwrap_or_default();
    let has_pods = |template: &&Json| OF_PODS.iter().any(|field| template.get(field).is_some());
    let of_pods = templates.iter().enumerate().filter(|(_, template)| has_pods(template));
    let mut sets: Vec<PodSet> = of_pods
        .map(|(index, template)| PodSet::new(text_at(template, "/name"), 0, 0, format!("{at}/templates/{index}")))
        .collect();
    let entrypoint = text_at(object, &format!("{at}/entrypoint"));
    sets.sort_by_key(|set| set.role != entrypoint);
    sets
}

#[cfg(test)]
mod tests;
