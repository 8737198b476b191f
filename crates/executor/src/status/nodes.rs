//! What Argo says of the steps of a Workflow.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::text_at;

/// The steps of a Workflow.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// Those of runs, by benchmark and run id; the benchmark is empty where the Workflow has only one.
    pub(super) runs: BTreeMap<(String, String), Step>,
    /// The others, by the benchmark in the same way and the name of their template.
    pub(super) steps: BTreeMap<(String, String), Step>,
    /// The runs that the first step of a benchmark of a suite found to be made, by benchmark.
    pub(super) to_make: BTreeMap<String, Vec<String>>,
    /// Why they are unknown.
    pub(super) note: Option<String>,
}

/// One step.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    phase: String,
    /// What Argo says about it.
    pub(super) message: String,
    /// When it started.
    pub(super) started: String,
    /// When it ended.
    pub(super) finished: String,
}

impl Nodes {
    /// Reads `status.nodes`.
    pub(super) fn read(workflow: &Json) -> Self {
        let mut found = Self::default();
        let status = workflow.get("status");
        let has = |field: &str| status.is_some_and(|status| !text_at(status, &format!("/{field}")).is_empty());
        if has("compressedNodes") || has("offloadNodeStatusVersion") {
            let how = if has("compressedNodes") { "compressed" } else { "kept in a database" };
            found.note =
                Some(format!("Argo's record of its steps is {how}: run `argo get` to see which runs are done"));
        }
        let nodes = status.and_then(|status| status.get("nodes")).and_then(Json::as_object);
        let mut nodes: Vec<&Json> = nodes.into_iter().flat_map(serde_json::Map::values).collect();
        // Tries as they came, and behind them the steps whose tries they are.
        nodes.sort_by_key(|node| (text_at(node, "/type") == "Retry", text_at(node, "/startedAt")));
        for node in nodes {
            let step = Step {
                phase: text_at(node, "/phase").to_owned(),
                message: text_at(node, "/message").to_owned(),
                started: text_at(node, "/startedAt").to_owned(),
                finished: text_at(node, "/finishedAt").to_owned(),
            };
            let template = text_at(node, "/templateName");
            match (text_at(node, "/type"), template) {
                ("Retry" | "Pod", "run") => {
                    let run = input(node, "run");
                    if !run.is_empty() {
                        better(&mut found.runs, (input(node, "benchmark"), run), step);
                    }
                }
                ("Retry" | "Pod", "prepare") => {
                    let benchmark = input(node, "benchmark");
                    if let Some(runs) = handed_over(node) {
                        found.to_make.insert(benchmark.to_owned(), runs);
                    }
                    better(&mut found.steps, (benchmark, template), step);
                }
                ("Retry" | "Pod", "summary" | "suite-summary" | "cleanup" | "record") => {
                    better(&mut found.steps, (input(node, "benchmark"), template), step);
                }
                _ => {}
            }
        }
        found
    }
}

/// Returns the runs that a step has found to be made, once it has reported them.
fn handed_over(node: &Json) -> Option<Vec<String>> {
    let outputs = node.pointer("/outputs/parameters")?.as_array()?;
    let runs = outputs.iter().find(|output| text_at(output, "/name") == "runs")?;
    serde_json::from_str(text_at(runs, "/value")).ok()
}

/// Returns what a step was given as `name`; nothing where it takes no such input.
fn input<'n>(node: &'n Json, name: &str) -> &'n str {
    let parameters = node.pointer("/inputs/parameters").and_then(Json::as_array).into_iter().flatten();
    let found = parameters.into_iter().find(|parameter| text_at(parameter, "/name") == name);
    found.map_or("", |parameter| text_at(parameter, "/value"))
}

/// What Argo says of a step whose tries say more: one that was tried often enough, or that has ended.
const SAY_NOTHING: [&str; 3] = ["", "No more retries left", "retryStrategy.expression evaluated to false"];

/// Keeps what came last: the step itself, with the message of its last try where its own says nothing.
fn better(known: &mut BTreeMap<(String, String), Step>, (benchmark, name): (&str, &str), mut step: Step) {
    let name = (benchmark.to_owned(), name.to_owned());
    if let Some(before) = known.get(&name).filter(|_| SAY_NOTHING.contains(&step.message.as_str())) {
        step.message.clone_from(&before.message);
    }
    known.insert(name, step);
}

impl Step {
    pub(super) fn has_succeeded(&self) -> bool {
        self.phase == "Succeeded"
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase.as_str(), "Succeeded" | "Failed" | "Error")
    }

    pub(super) fn is_active(&self) -> bool {
        matches!(self.phase.as_str(), "Running" | "Pending")
    }
}
