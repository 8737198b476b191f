//! The WorkflowTemplate of suites: the steps of each benchmark, one benchmark after another, then what became of all; and,
//! whatever happens, clean-up of each and one record.
//!
//! The steps are those of a benchmark outside of suites. What differs from benchmark to benchmark is an input of theirs, and
//! not a parameter of the Workflow.

use serde_json::{Value as Json, json};

use super::template::{shared_volumes, step_template, workflow_template_of};
use super::{SUITE_ENTRYPOINT, SUITE_TEMPLATE};
use crate::manifest::meta;
use crate::model::Target;
use crate::model::target::Settings;

const SUITE_DIR: &str = "/kubebench/suite";
/// Where the first step of a benchmark writes the list of runs.
const RUNS_PATH: &str = "/tmp/runs.json";

const PARAMETERS: [&str; 7] =
    ["benchmarks", "claim", "prepare-deadline", "run-deadline", "session", "suite", "suite-config"];
/// The inputs that identify the benchmark of a step.
const INPUTS: [&str; 2] = ["benchmark", "config"];

/// Returns the WorkflowTemplate, for benchmarks with these numbers of runs at once.
pub(super) fn workflow_template(target: &Target, settings: &Settings, lanes: &[u32]) -> Json {
    let mut templates = vec![suite(), benchmark(lanes)];
    templates.extend(lanes.iter().map(|lanes| runs(*lanes)));
    templates.push(finish());
    templates.extend(["prepare", "run", "summary", "cleanup"].map(|step| of_benchmark(step, target, settings)));
    templates.push(of_suite("suite-summary", target, settings));
    templates.push(of_suite("record", target, settings));
    let parameters = PARAMETERS.map(|name| json!({ "name": name }));
    let suite_config =
        json!({ "name": "suite", "configMap": { "name": "{{workflow.parameters.suite-config}}", "optional": true } });
    let volumes: Vec<Json> = shared_volumes(settings).into_iter().chain([suite_config]).collect();
    let metadata = meta::applied(target, SUITE_TEMPLATE, None);
    workflow_template_of(target, &metadata, &parameters, SUITE_ENTRYPOINT, &templates, &volumes)
}

/// The next benchmark runs even if one fails; the last step then fails the Workflow.
fn suite() -> Json {
    json!({
        "name": SUITE_ENTRYPOINT,
        "parallelism": 1,
        "steps": [
            [for_each("benchmark", &["benchmark", "config", "lanes"])],
            [{ "name": "suite-summary", "template": "suite-summary" }],
        ],
    })
}

/// Returns the step that runs `template` once for each benchmark and continues even if one fails.
fn for_each(template: &str, inputs: &[&str]) -> Json {
    let item = |name: &&str| json!({ "name": name, "value": format!("{{{{item.{name}}}}}") });
    json!({
        "name": template,
        "template": template,
        "arguments": { "parameters": inputs.iter().map(item).collect::<Vec<_>>() },
        "continueOn": { "error": true, "failed": true },
        "withParam": "{{workflow.parameters.benchmarks}}",
    })
}

/// Argo does not accept a parameter for the number of runs at once, so there is a template for each, one of which is used.
fn benchmark(lanes: &[u32]) -> Json {
    let runs = lanes.iter().map(|lanes| {
        let mut arguments = passed_on();
        arguments.push(json!({ "name": "runs", "value": "{{steps.prepare.outputs.parameters.runs}}" }));
        json!({
            "name": runs_name(*lanes),
            "template": runs_name(*lanes),
            "arguments": { "parameters": arguments },
            "when": format!("{{{{inputs.parameters.lanes}}}} == {lanes}"),
        })
    });
    let step = |name: &str| json!([{ "name": name, "template": name, "arguments": { "parameters": passed_on() } }]);
    json!({
        "name": "benchmark",
        "inputs": { "parameters": inputs(&["lanes"]) },
        "steps": [step("prepare"), runs.collect::<Vec<_>>(), step("summary")],
    })
}

fn runs_name(lanes: u32) -> String {
    format!("runs-{lanes}")
}

/// The next run starts even if one fails; the summary then fails the benchmark.
fn runs(lanes: u32) -> Json {
    let mut arguments = passed_on();
    arguments.push(json!({ "name": "run", "value": "{{item}}" }));
    json!({
        "name": runs_name(lanes),
        "inputs": { "parameters": inputs(&["runs"]) },
        "parallelism": lanes,
        "steps": [[{
            "name": "run",
            "template": "run",
            "arguments": { "parameters": arguments },
            "continueOn": { "error": true, "failed": true },
            "withParam": "{{inputs.parameters.runs}}",
        }]],
    })
}

fn finish() -> Json {
    json!({
        "name": "finish",
        "parallelism": 1,
        "steps": [[for_each("cleanup", &INPUTS)], [{ "name": "record", "template": "record" }]],
    })
}

fn inputs(more: &[&str]) -> Vec<Json> {
    INPUTS.iter().chain(more).map(|name| json!({ "name": name })).collect()
}

fn passed_on() -> Vec<Json> {
    INPUTS.iter().map(|name| json!({ "name": name, "value": format!("{{{{inputs.parameters.{name}}}}}") })).collect()
}

/// Returns the template of a step of one benchmark: that of a benchmark outside of suites, with inputs instead of parameters.
fn of_benchmark(step: &str, target: &Target, settings: &Settings) -> Json {
    let mut template = step_template(step, target, settings);
    replace(&mut template, "{{workflow.parameters.benchmark}}", "{{inputs.parameters.benchmark}}");
    push(
        &mut template,
        "/container/env",
        json!({ "name": "KUBEBENCH_SUITE", "value": "{{workflow.parameters.suite}}" }),
    );
    let own = if step == "run" { &["run"][..] } else { &[] };
    let config_map = |name: &str| json!({ "name": name, "optional": true });
    if let Some(template) = template.as_object_mut() {
        template.insert("inputs".to_owned(), json!({ "parameters": inputs(own) }));
        let volumes = json!([
            { "name": "config", "configMap": config_map("{{inputs.parameters.config}}") },
            { "name": "rules", "configMap": config_map("{{inputs.parameters.benchmark}}-rules") },
        ]);
        template.insert("volumes".to_owned(), volumes);
        if step == "prepare" {
            let runs = json!({ "name": "runs", "valueFrom": { "path": RUNS_PATH } });
            template.insert("outputs".to_owned(), json!({ "parameters": [runs] }));
        }
    }
    if step == "prepare" {
        push(&mut template, "/container/env", json!({ "name": "KUBEBENCH_RUNS_PATH", "value": RUNS_PATH }));
        mount_suite(&mut template);
    }
    template
}

/// Returns the template of a step of the whole suite, which has neither the manifests nor the rules of a benchmark.
fn of_suite(step: &str, target: &Target, settings: &Settings) -> Json {
    let mut template = step_template(step, target, settings);
    let has_name = |object: &Json, names: &[&str]| names.iter().any(|name| object.get("name") == Some(&json!(name)));
    for (list, names) in [
        ("/container/env", &["KUBEBENCH_BENCHMARK", "KUBEBENCH_CONFIG_DIR", "KUBEBENCH_RULES_DIR"][..]),
        ("/container/volumeMounts", &["config", "rules"]),
    ] {
        if let Some(list) = template.pointer_mut(list).and_then(Json::as_array_mut) {
            list.retain(|object| !has_name(object, names));
        }
    }
    push(
        &mut template,
        "/container/env",
        json!({ "name": "KUBEBENCH_SUITE", "value": "{{workflow.parameters.suite}}" }),
    );
    mount_suite(&mut template);
    template
}

/// Lets a step see the list of the suite's benchmarks.
fn mount_suite(template: &mut Json) {
    push(template, "/container/env", json!({ "name": "KUBEBENCH_SUITE_DIR", "value": SUITE_DIR }));
    let mount = json!({ "name": "suite", "mountPath": SUITE_DIR, "readOnly": true });
    push(template, "/container/volumeMounts", mount);
}

fn push(template: &mut Json, list: &str, value: Json) {
    if let Some(list) = template.pointer_mut(list).and_then(Json::as_array_mut) {
        list.push(value);
    }
}

/// Replaces every text that is `before` with `now`.
fn replace(value: &mut Json, before: &str, now: &str) {
    match value {
        Json::String(text) if text == before => now.clone_into(text),
        Json::Array(items) => items.iter_mut().for_each(|item| replace(item, before, now)),
        Json::Object(fields) => fields.values_mut().for_each(|item| replace(item, before, now)),
        _ => {}
    }
}
