//! The WorkflowTemplate: prepare, the runs, a summary; and, whatever happens, clean-up and the record.
//!
//! Every step is one `kubebench step …` in one image; docs/reference/steps.md documents their arguments and environment.

use serde_json::{Value as Json, json};

use super::access::{RECORDER, RUNNER, WORKFLOW};
use super::{ARTIFACTS, SETTINGS, TEMPLATE, entrypoint, lock, pods};
use crate::manifest::{meta, pod};
use crate::model::Target;
use crate::model::target::{CertificateAuthorities, Holder, Settings};
use kubebench_contract::labels;

const CONFIG_DIR: &str = "/kubebench/config";
const RULES_DIR: &str = "/kubebench/rules";
const SETTINGS_DIR: &str = "/kubebench/settings";
const CREDENTIAL_DIR: &str = "/kubebench/credential";
const SIGNING_DIR: &str = "/kubebench/signing";
const CA_DIR: &str = "/kubebench/ca";
/// What the certificates are called there, whatever their key is.
const CA_FILE: &str = "ca.crt";
/// The steps that ask servers: git, and Prometheus for the results that they make.
const ASK_SERVERS: [&str; 3] = ["run", "cleanup", "record"];
/// What a step writes into `/tmp` at most: objects of the results that it records, and trees of their branch.
const TMP: &str = "2Gi";
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
    templates
        .extend(["prepare", "run", "summary", "cleanup", "record"].map(|step| step_template(step, target, settings)));
    let parameters: Vec<Json> = PARAMETERS.iter().map(|name| json!({ "name": name })).collect();
    let metadata = meta::applied(target, TEMPLATE, None);
    let mut volumes = vec![
        // Gone when the spec of a schedule changes during a session: the step then says so, instead of hanging.
        json!({ "name": "config", "configMap": { "name": "{{workflow.parameters.config}}", "optional": true } }),
        json!({ "name": "rules", "configMap": { "name": "{{workflow.parameters.rules}}", "optional": true } }),
    ];
    volumes.extend(shared_volumes(settings));
    workflow_template_of(target, &metadata, &parameters, &entrypoint(1), &templates, &volumes)
}

/// Returns the volumes that are the same for all benchmarks of a Workflow.
pub(super) fn shared_volumes(settings: &Settings) -> Vec<Json> {
    let mut volumes = vec![
        json!({ "name": "settings", "configMap": { "name": SETTINGS } }),
        json!({ "name": "experiments", "persistentVolumeClaim": { "claimName": "{{workflow.parameters.claim}}" } }),
        json!({ "name": "credential", "secret": { "optional": true, "secretName": settings.results.credential } }),
        json!({ "name": "tmp", "emptyDir": { "sizeLimit": TMP } }),
    ];
    let signing = |secret| json!({ "name": "signing", "secret": { "optional": true, "secretName": secret } });
    volumes.extend(settings.results.signing.as_ref().map(signing));
    volumes.extend(settings.results.ca.as_ref().map(authorities));
    volumes
}

/// Returns the volume of the certificates alone: a Secret may also contain a private key. If they are absent, the step says so
/// instead of hanging.
fn authorities(CertificateAuthorities { holder, key }: &CertificateAuthorities) -> Json {
    let items = [json!({ "key": key, "path": CA_FILE })];
    match holder {
        Holder::ConfigMap(name) => {
            json!({ "name": "ca", "configMap": { "items": items, "name": name, "optional": true } })
        }
        Holder::Secret(name) => {
            json!({ "name": "ca", "secret": { "items": items, "optional": true, "secretName": name } })
        }
    }
}

/// Returns the WorkflowTemplate of these parts; whatever happens, it ends with `finish`.
pub(super) fn workflow_template_of(
    target: &Target,
    metadata: &Json,
    parameters: &[Json],
    entrypoint: &str,
    templates: &[Json],
    volumes: &[Json],
) -> Json {
    let mut template = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "WorkflowTemplate",
        "metadata": metadata,
        "spec": {
            "arguments": { "parameters": parameters },
            // Otherwise Argo uses the ConfigMap `artifact-repositories` of the namespace, and anyone with write access to it could send the
            // logs of the steps, and Secrets of their choice, anywhere.
            "artifactRepositoryRef": { "configMap": SETTINGS, "key": ARTIFACTS },
            "entrypoint": entrypoint,
            "onExit": "finish",
            "podGC": { "deleteDelayDuration": "600s", "strategy": "OnWorkflowCompletion" },
            "serviceAccountName": WORKFLOW,
            "templates": templates,
            "volumes": volumes,
        },
    });
    if let Some(spec) = template.get_mut("spec").and_then(Json::as_object_mut) {
        spec.extend(pods::fields(target));
        spec.extend(lock::synchronization(target).map(|lock| ("synchronization".to_owned(), lock)));
    }
    template
}

/// The next run starts even if one fails; the summary then fails the Workflow, so that Argo CD shows it.
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
pub(super) fn step_template(step: &str, target: &Target, settings: &Settings) -> Json {
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
    let mut env = vec![
        json!({ "name": "KUBEBENCH_BENCHMARK", "value": "{{workflow.parameters.benchmark}}" }),
        json!({ "name": "KUBEBENCH_CONFIG_DIR", "value": CONFIG_DIR }),
        json!({ "name": "KUBEBENCH_CREDENTIAL_DIR", "value": CREDENTIAL_DIR }),
        json!({ "name": "KUBEBENCH_EXP_ROOT", "value": pod::EXPERIMENTS }),
        json!({ "name": "KUBEBENCH_NAMESPACE", "valueFrom": { "fieldRef": { "fieldPath": "metadata.namespace" } } }),
        json!({ "name": "KUBEBENCH_RULES_DIR", "value": RULES_DIR }),
        json!({ "name": "KUBEBENCH_SESSION", "value": "{{workflow.parameters.session}}" }),
        json!({ "name": "KUBEBENCH_SETTINGS_DIR", "value": SETTINGS_DIR }),
        json!({ "name": "KUBEBENCH_WORKFLOW", "value": "{{workflow.name}}" }),
        json!({ "name": "KUBEBENCH_WORKFLOW_CREATED", "value": "{{workflow.creationTimestamp}}" }),
        json!({ "name": "KUBEBENCH_WORKFLOW_UID", "value": "{{workflow.uid}}" }),
    ];
    if records {
        mounts.push(json!({ "name": "credential", "mountPath": CREDENTIAL_DIR, "readOnly": true }));
        if settings.results.signing.is_some() {
            mounts.push(json!({ "name": "signing", "mountPath": SIGNING_DIR, "readOnly": true }));
            env.push(json!({ "name": "KUBEBENCH_SIGNING_DIR", "value": SIGNING_DIR }));
        }
    }
    if settings.results.ca.is_some() && ASK_SERVERS.contains(&step) {
        mounts.push(json!({ "name": "ca", "mountPath": CA_DIR, "readOnly": true }));
        env.push(json!({ "name": "KUBEBENCH_CA_FILE", "value": format!("{CA_DIR}/{CA_FILE}") }));
    }
    env.extend(pods::variables(target));
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
            "env": env,
            "resources": pods::resources(target),
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
