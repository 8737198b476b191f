//! What pods see of the volume of results: the output of their own run, and never the place of a result.

use serde_json::{Value as Json, json};

use kubebench_compiler::compile::Compilation;

use crate::compiled::{compile_sound, created};

const HEAD: &str = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: base}\nspec:\n  timeout: 1h\n  metrics: [{name: s, unit: s, better: lower, primary: true, from: {duration: run}}]\n";
const STEP: &str = "{image: 'r.example/s:1', command: [x], resources: {cpu: 1, memory: 1Gi}}";

/// The mounts of the volume of results in every container that is created, as `path subPath`, with `ro` where it is read-only.
fn mounts(fields: &str, manifest: &str) -> Vec<String> {
    let spec = format!("{HEAD}{fields}\n");
    let compilation = compile_sound(&[("specs/a.yaml", &spec), ("jobs/x.yaml", manifest)]);
    let mut found = Vec::new();
    for object in objects(&compilation) {
        gather(&object, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

fn objects(compilation: &Compilation) -> Vec<Json> {
    created(compilation).into_iter().map(|emitted| emitted.object).collect()
}

fn gather(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Json::as_str).unwrap_or_default();
            if fields.contains_key("mountPath") && text("name") == "kubebench-results" {
                let below = ["subPath", "subPathExpr"].map(text).concat();
                let mode = if fields.get("readOnly") == Some(&json!(true)) { " ro" } else { "" };
                found.push(format!("{} {below}{mode}", text("mountPath")));
            }
            fields.values().for_each(|value| gather(value, found));
        }
        Json::Array(items) => items.iter().for_each(|item| gather(item, found)),
        _ => {}
    }
}

const OUTPUT: &str = "/kubebench/experiments/run/output $(KUBEBENCH_EXP_ID)/output";
const RESULT: &str = "/kubebench/experiments/run/result $(KUBEBENCH_EXP_ID)/result";
const DATA: &str = "/kubebench/data data/base ro";
const DATA_OF_PREPARE: &str = "/kubebench/data data/base";

#[test]
fn a_pod_sees_the_output_of_its_run_alone() {
    let job = "  workload: {job: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}}}\n";
    let mounted = "  results: {mountInJob: true, claim: {accessModes: [ReadWriteMany]}}\n";
    assert_eq!(mounts(job, ""), [""; 0]);
    assert_eq!(mounts(&format!("{job}{mounted}"), ""), [OUTPUT]);
    let shared = "  results: {claim: {accessModes: [ReadWriteMany]}}\n";
    assert_eq!(mounts(&format!("{job}{shared}  postprocess: {STEP}"), ""), [OUTPUT, RESULT]);
    assert_eq!(mounts(&format!("{job}{shared}  prepare: {STEP}"), ""), [DATA_OF_PREPARE, OUTPUT]);
    let all = format!("{job}{mounted}  prepare: {STEP}\n  postprocess: {STEP}");
    assert_eq!(mounts(&all, ""), [DATA_OF_PREPARE, DATA, OUTPUT, RESULT]);
}

/// Data of the user's own, where images of the first Kubebench look for them.
#[test]
fn what_a_patch_mounts_takes_the_place_of_what_prepare_leaves() {
    let own = "{mountPath: /kubebench/data, name: mine}";
    let patches = [
        format!("container: {{volumeMounts: [{own}]}}"),
        format!(
            "pod: {{containers: [{{name: main, volumeMounts: [{own}]}}], volumes: [{{name: mine, emptyDir: {{}}}}]}}"
        ),
    ];
    for patch in patches {
        let pod = if patch.starts_with("pod") { "" } else { ", pod: {volumes: [{name: mine, emptyDir: {}}]}" };
        let job = format!(
            "  workload: {{job: {{image: 'r.example/a:1', resources: {{cpu: 1, memory: 1Gi}}, {patch}{pod}}}}}\n"
        );
        let all =
            format!("{job}  results: {{mountInJob: true, claim: {{accessModes: [ReadWriteMany]}}}}\n  prepare: {STEP}");
        assert_eq!(mounts(&all, ""), [DATA_OF_PREPARE, OUTPUT], "{patch}");
    }
}

#[test]
fn pods_of_a_manifest_see_no_more_and_may_write_it_whoever_they_are() {
    let manifest = "{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: {spec: {restartPolicy: Never, securityContext: {runAsUser: 1000, runAsGroup: 1000, supplementalGroups: [7]}, containers: [{name: main, image: 'r.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}}]}}}}\n";
    let fields = format!(
        "  workload: {{manifest: {{file: jobs/x.yaml}}}}\n  results: {{mountInJob: true, claim: {{accessModes: [ReadWriteMany]}}}}\n  prepare: {STEP}"
    );
    assert_eq!(mounts(&fields, manifest), [DATA_OF_PREPARE, DATA, OUTPUT]);
    let compilation = compile_sound(&[("specs/a.yaml", &format!("{HEAD}{fields}\n")), ("jobs/x.yaml", manifest)]);
    let jobs = objects(&compilation);
    let workload =
        jobs.iter().find(|job| job.pointer("/spec/template/spec/securityContext/runAsUser") == Some(&json!(1000)));
    let groups = workload.unwrap().pointer("/spec/template/spec/securityContext/supplementalGroups");
    assert_eq!(groups, Some(&json!([7, 65532])));
}

/// Of a Workflow, every template sees it, also one that says something of its own about users.
#[test]
fn containers_and_scripts_of_a_workflow_see_no_more() {
    let manifest = "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: x}, spec: {entrypoint: a, templates: [{name: a, securityContext: {runAsUser: 1000}, container: {image: 'r.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}}}, {name: b, script: {image: 'r.example/a:1', source: x, resources: {limits: {cpu: 1, memory: 1Gi}}}}]}}\n";
    let fields = "  workload: {workflow: {file: jobs/x.yaml}}\n  results: {mountInJob: true, claim: {accessModes: [ReadWriteMany]}}";
    assert_eq!(mounts(fields, manifest), [OUTPUT]);
    let compilation = compile_sound(&[("specs/a.yaml", &format!("{HEAD}{fields}\n")), ("jobs/x.yaml", manifest)]);
    let objects = objects(&compilation);
    let workflow = objects.iter().find(|object| object["kind"] == "WorkflowTemplate").unwrap();
    for at in ["/spec", "/spec/templates/0"] {
        let groups = workflow.pointer(&format!("{at}/securityContext/supplementalGroups"));
        assert_eq!(groups, Some(&json!([65532])), "{at}");
    }
    assert_eq!(workflow.pointer("/spec/templates/1/securityContext"), None);
}
