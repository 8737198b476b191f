//! The WorkflowTemplate: prepare, the runs, a summary; and, whatever happens, clean-up and the record.
//!
//! Every step is one `kubebench step …` in one image; docs/steps.md documents their arguments and environment.

use serde_json::{Value as Json, json};

use super::access::{RECORDER, RUNNER, WORKFLOW};
use super::{SETTINGS, TEMPLATE, entrypoint};
use crate::manifest::{meta, pod};
use crate::model::Target;
use crate::model::target::Settings;
use crate::model::workload::NON_ROOT;
use kubebench_contract::labels;

const CONFIG_DIR: &str = "/kubebench/config";
const RULES_DIR: &str = "/kubebench/rules";
const SETTINGS_DIR: &str = "/kubebench/settings";
const CREDENTIAL_DIR: &str = "/kubebench/credential";
/// Seconds for a step that starts no job. A pod that never starts must not keep a CronWorkflow from its next session.
const SHORT_STEP_DEADLINE: u32 = 3600;

/// When a step is started again: its pod was lost (`Error`), never ran it (-1: evicted, or refused by the node), or a signal
/// ended it (over 128: killed, out of memory, the node shuts down). Another status is an answer, and a deadline is the end.
const LOST: &str = "(lastRetry.status == \"Error\" || lastRetry.exitCode == \"-1\" || asInt(lastRetry.exitCode) > 128) && \
    not (lastRetry.message matches \"the specified deadline|exceeded its deadline\")";

const PARAMETERS: [&str; 8] =
    ["benchmark", "claim", "config", "prepare-deadline", "rules", "run-deadline", "runs", "session"];

/// Returns the WorkflowTemplate with an entry point for one run at a time and one for each of `lanes`.
pub(super) fn workflow_template(target: &Target, settings: &Settings, lanes: &[u32]) -> Json {
    let mut templates = vec![main(1)];
    templates.extend(lanes.iter().map(|lanes| main(*lanes)));
    templates.push(finish());
    templates.extend(["prepare", "run", "summary", "cleanup", "record"].map(|step| step_template(step, settings)));
    let parameters: Vec<Json> = PARAMETERS.iter().map(|name| json!({ "name": name })).collect();
    let metadata = meta::applied(target, TEMPLATE, None);
    let mut volumes = vec![
        // Gone when the spec of a schedule changes during a session: the step then says so, instead of hanging.
        json!({ "name": "config", "configMap": { "name": "{{workflow.parameters.config}}", "optional": true } }),
        json!({ "name": "rules", "configMap": { "name": "{{workflow.parameters.rules}}", "optional": true } }),
    ];
    volumes.extend(shared_volumes(settings));
    workflow_template_of(&metadata, &parameters, &entrypoint(1), &templates, &volumes)
}

/// Returns the volumes that are the same for all benchmarks of a Workflow.
pub(super) fn shared_volumes(settings: &Settings) -> [Json; 4] {
    [
        json!({ "name": "settings", "configMap": { "name": SETTINGS } }),
        json!({ "name": "experiments", "persistentVolumeClaim": { "claimName": "{{workflow.parameters.claim}}" } }),
        json!({ "name": "credential", "secret": { "optional": true, "secretName": settings.results.credential } }),
        json!({ "name": "tmp", "emptyDir": {} }),
    ]
}

/// Returns the WorkflowTemplate of these parts; whatever happens, it ends with `finish`.
pub(super) fn workflow_template_of(
    metadata: &Json,
    parameters: &[Json],
    entrypoint: &str,
    templates: &[Json],
    volumes: &[Json],
) -> Json {
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "WorkflowTemplate",
        "metadata": metadata,
        "spec": {
            "arguments": { "parameters": parameters },
            "entrypoint": entrypoint,
            "onExit": "finish",
            "podSpecPatch": restricted_executor().to_string(),
            "podGC": { "deleteDelayDuration": "600s", "strategy": "OnWorkflowCompletion" },
            "securityContext": {
                "fsGroup": NON_ROOT,
                "runAsGroup": NON_ROOT,
                "runAsNonRoot": true,
                "runAsUser": NON_ROOT,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            "serviceAccountName": WORKFLOW,
            "templates": templates,
            "volumes": volumes,
        },
    })
}

/// What Argo's own containers of a pod lack where the namespace enforces Pod Security `restricted`, unless whoever set up Argo
/// thought of it.
fn restricted_executor() -> Json {
    let context = json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } });
    json!({
        "containers": [{ "name": "wait", "securityContext": context }],
        "initContainers": [{ "name": "init", "securityContext": context }],
    })
}

/// A failed run goes on to the next one; the summary then fails the Workflow, so that Argo CD shows it.
fn main(lanes: u32) -> Json {
    json!({
        "name": entrypoint(lanes),
        "parallelism": lanes,
        "steps": [
            [{ "name": "prepare", "template": "prepare" }],
            [{
                "name": "run",
                "template": "run",
                "arguments": { "parameters": [{ "name": "run", "value": "{{item}}" }] },
                "continueOn": { "error": true, "failed": true },
                "withParam": "{{workflow.parameters.runs}}",
            }],
            [{ "name": "summary", "template": "summary" }],
        ],
    })
}

fn finish() -> Json {
    json!({
        "name": "finish",
        "steps": [
            [{ "name": "cleanup", "template": "cleanup", "continueOn": { "error": true, "failed": true } }],
            [{ "name": "record", "template": "record" }],
        ],
    })
}

/// Returns the template of a step.
pub(super) fn step_template(step: &str, settings: &Settings) -> Json {
    let records = step == "record";
    let mut args = vec![json!("step"), json!(step)];
    if step == "run" {
        args.push(json!("{{inputs.parameters.run}}"));
    }
    let mut mounts = vec![
        json!({ "name": "config", "mountPath": CONFIG_DIR, "readOnly": true }),
        json!({ "name": "rules", "mountPath": RULES_DIR, "readOnly": true }),
        json!({ "name": "settings", "mountPath": SETTINGS_DIR, "readOnly": true }),
        json!({ "name": "experiments", "mountPath": pod::EXPERIMENTS }),
        json!({ "name": "tmp", "mountPath": "/tmp" }),
    ];
    if records {
        mounts.push(json!({ "name": "credential", "mountPath": CREDENTIAL_DIR, "readOnly": true }));
    }
    let deadline = match step {
        "run" => json!("{{workflow.parameters.run-deadline}}"),
        "prepare" => json!("{{workflow.parameters.prepare-deadline}}"),
        _ => json!(SHORT_STEP_DEADLINE),
    };
    let mut template = json!({
        "name": step,
        "activeDeadlineSeconds": deadline,
        "container": {
            "image": settings.image,
            "command": ["kubebench"],
            "args": args,
            "env": [
                { "name": "KUBEBENCH_BENCHMARK", "value": "{{workflow.parameters.benchmark}}" },
                { "name": "KUBEBENCH_CONFIG_DIR", "value": CONFIG_DIR },
                { "name": "KUBEBENCH_CREDENTIAL_DIR", "value": CREDENTIAL_DIR },
                { "name": "KUBEBENCH_EXP_ROOT", "value": pod::EXPERIMENTS },
                { "name": "KUBEBENCH_NAMESPACE", "valueFrom": { "fieldRef": { "fieldPath": "metadata.namespace" } } },
                { "name": "KUBEBENCH_RULES_DIR", "value": RULES_DIR },
                { "name": "KUBEBENCH_SESSION", "value": "{{workflow.parameters.session}}" },
                { "name": "KUBEBENCH_SETTINGS_DIR", "value": SETTINGS_DIR },
                { "name": "KUBEBENCH_WORKFLOW", "value": "{{workflow.name}}" },
                { "name": "KUBEBENCH_WORKFLOW_UID", "value": "{{workflow.uid}}" },
            ],
            "resources": { "limits": { "memory": "1Gi" }, "requests": { "cpu": "100m", "memory": "128Mi" } },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
                "readOnlyRootFilesystem": true,
                "runAsNonRoot": true,
            },
            "volumeMounts": mounts,
        },
        "metadata": { "labels": { labels::STEP: step } },
        "retryStrategy": {
            "backoff": { "cap": "1m", "duration": "5s", "factor": 3 },
            "expression": LOST,
            "limit": 4,
            "retryPolicy": "Always",
        },
        "serviceAccountName": if records { RECORDER } else { RUNNER },
    });
    if let (Some(template), "run") = (template.as_object_mut(), step) {
        template.insert("inputs".to_owned(), json!({ "parameters": [{ "name": "run" }] }));
    }
    template
}
