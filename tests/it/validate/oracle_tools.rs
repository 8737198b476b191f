//! The outside tools agree with the judges in this program, and refuse what they ought to: a tool that nods at
//! everything would make every other oracle test worthless.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::judges::{self, oracle, schema, validate};
use crate::validate::oracle_crd::tf_job;

const TEMPLATE: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: kubebench, namespace: b}
spec:
  entrypoint: serial
  arguments: {parameters: [{name: runs}]}
  templates:
  - name: serial
    steps: [[{name: run, template: run, withParam: '{{workflow.parameters.runs}}'}]]
  - name: run
    container: {image: busybox, command: ['true']}
";

const WORKFLOW: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: x, namespace: b}
spec:
  workflowTemplateRef: {name: kubebench}
  entrypoint: serial
  arguments: {parameters: [{name: runs, value: '[\"a\"]'}]}
";

#[test]
fn oracle_argo_lints() {
    let Some(argo) = oracle("oracle_argo_lints", "argo") else { return };
    let folder = tempfile::tempdir().unwrap();
    let lint = |template: &str, workflow: &str| {
        let files = [("template.yaml", template), ("workflow.yaml", workflow)];
        let paths = files.map(|(name, text)| written(folder.path(), name, text));
        run(Command::new(&argo).args(["lint", "--offline", "-o", "simple"]).args(paths))
    };
    lint(TEMPLATE, WORKFLOW).unwrap();
    let fault = lint(TEMPLATE, &WORKFLOW.replace("entrypoint: serial", "entrypoint: seriel")).unwrap_err();
    assert!(fault.contains("kubebench.seriel not found"), "{fault}");
    let fault = lint(TEMPLATE, &WORKFLOW.replace("entrypoint:", "entrypiont:")).unwrap_err();
    assert!(fault.contains("unknown field \"spec.entrypiont\""), "{fault}");
}

#[test]
fn oracle_kubeconform_agrees() {
    let Some(kubeconform) = oracle("oracle_kubeconform_agrees", "kubeconform") else { return };
    let Some(schema) = schema("oracle_kubeconform_agrees", "kubeflow.org", "v1", "TFJob") else { return };
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "tfjob.json", &schema.to_string());
    let place = folder.path().join("{{ .ResourceKind }}.json");
    let judge = |object: &Value| {
        let file = written(folder.path(), "object.yaml", &object.to_string());
        run(Command::new(&kubeconform).args(["-strict", "-schema-location"]).arg(&place).arg(file))
    };
    let sound = tf_job();
    judge(&sound).unwrap();
    for (at, key, value) in [
        ("/spec", "tfReplicaSpec", json!({})),
        ("/spec/tfReplicaSpecs/Worker", "replicas", json!("2")),
        ("/spec/tfReplicaSpecs/Worker/template/spec/containers/0", "imagePullPolcy", json!("Never")),
        ("/spec/tfReplicaSpecs/Worker/template/spec/containers/0", "env", json!([{"name": "A", "value": 1}])),
    ] {
        let mut broken = sound.clone();
        broken.pointer_mut(at).unwrap()[key] = value;
        assert!(judge(&broken).is_err(), "kubeconform takes {at} {key}");
        assert!(!validate(&broken).is_empty(), "the judge in here takes {at} {key}");
    }
}

/// `kubectl apply --dry-run=client` asks a server for its kinds; `annotate --local` reads the same way and asks none.
#[test]
fn oracle_kubectl_reads() {
    let Some(kubectl) = oracle("oracle_kubectl_reads", "kubectl") else { return };
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str| {
        let file = written(folder.path(), "object.yaml", text);
        run(Command::new(&kubectl)
            .args(["annotate", "--local", "--dry-run=client", "-o", "json", "a=b", "-f"])
            .arg(file))
    };
    let read_back: Value = serde_json::from_str(&read(WORKFLOW).unwrap()).unwrap();
    assert_eq!(read_back["spec"]["entrypoint"], "serial");
    assert_eq!(read_back["metadata"]["annotations"]["a"], "b");
    read(&format!("{WORKFLOW}\tx: 1\n")).unwrap_err();
}

#[test]
fn oracle_kustomize_builds() {
    let Some(kustomize) = oracle("oracle_kustomize_builds", "kustomize") else { return };
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "kustomization.yaml", "resources: [workflow.yaml]\n");
    written(folder.path(), "workflow.yaml", WORKFLOW);
    let built = run(Command::new(&kustomize).arg("build").arg(folder.path())).unwrap();
    let as_value = |text: &str| -> Value { serde_yaml::from_str(text).unwrap() };
    assert_eq!(as_value(&built), as_value(WORKFLOW));
    written(folder.path(), "workflow.yaml", &WORKFLOW.replace("kind: Workflow\n", ""));
    run(Command::new(&kustomize).arg("build").arg(folder.path())).unwrap_err();
}

#[test]
fn oracle_pyyaml_reads() {
    let Some(python) = judges::python_with_yaml("oracle_pyyaml_reads") else { return };
    let program = "import json, sys, yaml; json.dump(yaml.safe_load(sys.argv[1]), sys.stdout)";
    let read = |text: &str| run(Command::new(&python).args(["-c", program, text]));
    assert_eq!(read("{a: y, b: no, c: 010}").unwrap(), r#"{"a": "y", "b": false, "c": 8}"#, "as YAML 1.1 has it");
    read("a: [").unwrap_err();
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    file
}

/// What a tool prints, as an error when it refuses; no server is within its reach.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).env_remove("KUBECONFIG").output().expect("the tool starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(printed) } else { Err(format!("{printed}{complaint}")) }
}
