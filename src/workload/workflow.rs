//! `workflow`: an Argo Workflow as the thing that is measured, from a file of the project; so a Kubeflow pipeline as well, in the
//! Workflow that its compiler makes.

mod arguments;
mod outside;

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value as Json};

use super::manifest::{self, Document, refuse_placeholders};
use super::status::{self, Outcome, PodSet, text_at};
use super::{Kind, Lowering};
use crate::api::Type;
use crate::diag::{Diagnostic, Severity, code};
use crate::model::{Api, Given, Workload};
use crate::spec::v1::project::RelativePath;
use crate::text::Span;
use crate::yaml::Node;

pub(super) const KIND: Kind = Kind {
    key: "workflow",
    api: Api::known(API_VERSION, "Workflow", "workflows", Type::Object(&[])),
    schema,
    lower,
    container: "main",
    outcome,
    // Argo decides which of its pods are needed, and which are tried again.
    deciders: |_| status::all_of([]),
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
workflow:
  # A Workflow of Argo, read as kubectl reads it; its `{{…}}` are Argo's, `${{ }}` are looked up.
  file: pipelines/train.yaml
  arguments: {epochs: 3}
";

const API_VERSION: &str = "argoproj.io/v1alpha1";
/// What a template has that runs as a pod of its own.
const OF_PODS: [&str; 5] = ["container", "script", "containerSet", "resource", "data"];

/// An Argo Workflow, of which nothing is changed but what a run needs: name, namespace, labels, and its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"file": "pipelines/train.yaml", "arguments": {"epochs": 3}}]))]
struct Workflow {
    /// The file with the Workflow, relative to the project root and outside the folders of specs; read as kubectl reads it.
    /// Lookups may stand in it as in a spec.
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
    outside::warn(document.node, cx.diagnostics);
    let mut object = document.node.to_json();
    arguments::fill(cx, document.node, &mut object);
    let roles = manifest::roles(document.node, &object, Some(&KIND), cx.diagnostics);
    let is_sound = !cx.diagnostics.as_slice().iter().skip(found_before).any(|fault| fault.severity == Severity::Error);
    let given = Given { body: manifest::body(object, &[]), name: None };
    is_sound.then(|| Workload { given: Some(given), ..cx.workload(KIND.api, Map::new(), roles) })
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
        let message = format!("the file holds {} objects, and `workflow` measures one", documents.len());
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
            let message = format!("`{version}` is no version of Workflow that its controller serves");
            cx.report(Diagnostic::at(&code::KB0339, at, message).help(format!("write `apiVersion: {API_VERSION}`")));
        }
        (_, kind @ ("CronWorkflow" | "WorkflowTemplate" | "ClusterWorkflowTemplate")) => {
            let fault = Diagnostic::at(&code::KB0335, place, format!("a {kind} runs nothing by itself"));
            cx.report(match kind {
                "CronWorkflow" => fault
                    .note("Kubebench creates what is measured once a run, and has a schedule of its own")
                    .help("write its `workflowSpec` as the `spec` of a Workflow, and `schedule: {cron: …}` in the spec of the benchmark"),
                _ => fault
                    .note("its templates run as a Workflow")
                    .help("write `kind: Workflow` with the same `spec` and an `entrypoint`"),
            });
        }
        (version, kind) => {
            let message = format!("this is a {kind} ({version}), and `workflow` measures a Workflow of Argo");
            cx.report(
                Diagnostic::at(&code::KB0335, place, message)
                    .help("write `manifest: {file: …}` for objects of other kinds"),
            );
        }
    }
    None
}

/// Reports what waits for somebody to start it, or to let it go on.
fn refuse_suspension(cx: &mut Lowering<'_>, workflow: &Node) {
    let Some(spec) = workflow.get("spec") else { return };
    let is_true = |node: &&Node| matches!(node.value, crate::yaml::Value::Bool(true));
    if let Some(suspend) = spec.get("suspend").filter(is_true) {
        cx.report(suspended(suspend.span, "the Workflow is suspended, and nobody would start it", "delete this field"));
    }
    for template in spec.get("templates").map(Node::items).unwrap_or_default() {
        let Some(entry) = template.entry("suspend").filter(|entry| entry.value.get("duration").is_none()) else {
            continue;
        };
        let message = "this template waits until somebody lets the Workflow go on";
        cx.report(suspended(
            entry.key_span,
            message,
            "say how long it waits: `suspend: {duration: 30s}`, or delete it",
        ));
    }
}

fn suspended(at: Span, message: &str, help: &str) -> Diagnostic {
    let note = "a run that waits for a person ends by its timeout";
    Diagnostic::at(&code::KB0349, at, message).note(note).help(help)
}

/// Reads a Workflow by its phase.
pub(super) fn outcome(object: &Json) -> Outcome {
    match text_at(object, "/status/phase") {
        "Succeeded" => Outcome::Succeeded,
        phase @ ("Failed" | "Error") => {
            Outcome::Failed { reason: phase.to_owned(), message: text_at(object, "/status/message").to_owned() }
        }
        "Running" => Outcome::Running,
        _ => Outcome::Pending,
    }
}

/// Returns the templates that run as pods, that of the entry point as the first. How many pods each gets, nobody knows before.
fn pods(object: &Json) -> Vec<PodSet> {
    let templates = object.pointer("/spec/templates").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let has_pods = |template: &&Json| OF_PODS.iter().any(|field| template.get(field).is_some());
    let of_pods = templates.iter().enumerate().filter(|(_, template)| has_pods(template));
    let mut sets: Vec<PodSet> = of_pods
        .map(|(index, template)| PodSet {
            role: text_at(template, "/name").to_owned(),
            replicas: 0,
            completions: 0,
            template: format!("/spec/templates/{index}"),
        })
        .collect();
    let entrypoint = text_at(object, "/spec/entrypoint");
    sets.sort_by_key(|set| set.role != entrypoint);
    sets
}

#[cfg(test)]
mod tests;
