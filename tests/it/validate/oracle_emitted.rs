//! Everything the compiler emits, compared with what clusters and tools say: CRD schemas, kubectl, kubeconform, kustomize,
//! argo, `PyYAML`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::judges::{has_crds, is_built_in, oracle, python_with_yaml, schema, validate};
use crate::support::project::{
    Emitted, Folder, assert_yes, files_below, mixed, mixed_created, mixed_files, mixed_objects, rendered,
};

const TARGETS: [&str; 2] = ["gpu-eu", "old"];

#[test]
fn every_applied_object_is_taken() {
    for emitted in mixed_objects() {
        assert_eq!(validate(&emitted.object), Vec::<String>::new(), "{}", emitted.path);
    }
}

#[test]
fn every_created_object_is_taken() {
    let mut kinds = BTreeSet::new();
    for mut emitted in mixed_created() {
        // Named when it is created.
        emitted.object["metadata"]["name"] = json!("x");
        if let Some(reference) = emitted.object["spec"].get_mut("runtimeRef") {
            reference["name"] = json!("x");
        }
        assert_eq!(validate(&emitted.object), Vec::<String>::new(), "{}", emitted.path);
        kinds.insert(kind(&emitted.object));
    }
    for emitted in rendered(mixed()) {
        assert_eq!(validate(&emitted.object), Vec::<String>::new(), "{}", emitted.path);
    }
    let expected = [
        "apps/v1 Deployment",
        "argoproj.io/v1alpha1 Workflow",
        "argoproj.io/v1alpha1 WorkflowTemplate",
        "batch.volcano.sh/v1alpha1 Job",
        "batch/v1 Job",
        "jobset.x-k8s.io/v1alpha2 JobSet",
        "kubeflow.org/v1 JAXJob",
        "kubeflow.org/v1 MPIJob",
        "kubeflow.org/v1 PaddleJob",
        "kubeflow.org/v1 PyTorchJob",
        "kubeflow.org/v1 TFJob",
        "kubeflow.org/v1 XGBoostJob",
        "kubeflow.org/v1beta1 Experiment",
        "kubeflow.org/v2beta1 MPIJob",
        "machinelearning.seldon.io/v1 SeldonDeployment",
        "mlops.seldon.io/v1alpha1 Model",
        "ray.io/v1 RayJob",
        "serving.kserve.io/v1alpha2 LLMInferenceService",
        "serving.kserve.io/v1beta1 InferenceService",
        "sparkoperator.k8s.io/v1beta2 SparkApplication",
        "trainer.kubeflow.org/v1alpha1 TrainJob",
        "trainer.kubeflow.org/v1alpha1 TrainingRuntime",
        "v1 Service",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
}

/// The variables of a load whose values no ConfigMap holds.
const OF_SERVER: [&str; 2] = ["KUBEBENCH_ENDPOINT", "KUBEBENCH_MODEL"];

/// What `render` prints is what the ConfigMaps hold, with the name and labels of a run, and the files that it mounts.
#[test]
fn render_prints_the_jobs_of_the_config_maps() {
    let printed = compiled().run(&["render"]);
    assert_yes(&printed);
    let printed: Vec<Value> = serde_yaml::from_multiple(std::str::from_utf8(&printed.stdout).unwrap()).unwrap();
    let (files, printed): (Vec<_>, Vec<_>) = printed.into_iter().partition(|object| object["kind"] == "ConfigMap");
    let in_git = mixed_objects().into_iter().filter(|emitted| emitted.path.ends_with("/files.yaml"));
    assert_eq!(files, in_git.map(|emitted| emitted.object).collect::<Vec<_>>());
    assert!(!files.is_empty());
    let expected: Vec<Value> = rendered(mixed()).into_iter().map(|emitted| emitted.object).collect();
    assert_eq!(printed, expected);
    let created = mixed_created().into_iter().map(|Emitted { mut object, .. }| {
        strip(&mut object, &Value::Null);
        object
    });
    let created: Vec<Value> = created.collect();
    for mut object in printed {
        unname(&mut object);
        assert!(created.contains(&object), "{object:#}");
    }
}

#[test]
fn the_files_on_disk_are_the_tree() {
    let folder = compiled();
    let files = folder.tree("generated");
    assert_eq!(files.len(), mixed().tree.len());
    for (path, bytes) in files {
        let text = String::from_utf8(bytes).unwrap();
        let body = &mixed().tree.get(&path).unwrap_or_else(|| panic!("{path}")).body();
        assert!(text.ends_with(body), "{path}");
        let header: Vec<&str> = text[..text.len() - body.len()].lines().collect();
        assert!(header.len() == 2 && header.iter().all(|line| line.starts_with("# ")), "{path}: {header:?}");
    }
}

#[test]
fn oracle_kubectl_reads_every_file() {
    let Some(kubectl) = oracle("oracle_kubectl_reads_every_file", "kubectl") else { return };
    let folder = compiled();
    let output = Command::new(kubectl)
        .args([
            "annotate",
            "--local",
            "--dry-run=client",
            "-o",
            "json",
            "--overwrite",
            "a=b",
            "--recursive",
            "-f",
            "generated",
        ])
        .current_dir(folder.path())
        .env_remove("KUBECONFIG")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_yes(&output);
    let read = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().map(Result::unwrap);
    let mut read: Vec<Value> = read
        .flat_map(|value| value["items"].as_array().cloned().unwrap_or_else(|| vec![value]))
        .map(|mut object| {
            object["metadata"]["annotations"].as_object_mut().unwrap().remove("a");
            object
        })
        .collect();
    let mut expected: Vec<Value> = mixed_objects().into_iter().map(|emitted| emitted.object).collect();
    for list in [&mut read, &mut expected] {
        list.sort_by_key(identity);
    }
    assert_eq!(read.len(), expected.len());
    for (read, expected) in read.iter().zip(&expected) {
        assert_eq!(read, expected);
    }
}

#[test]
fn oracle_kubeconform_takes_every_object() {
    const TEST: &str = "oracle_kubeconform_takes_every_object";
    let Some(kubeconform) = oracle(TEST, "kubeconform") else { return };
    if !has_crds(TEST) {
        return;
    }
    let schemas = tempfile::tempdir().unwrap();
    let folder = compiled();
    let mut all: Vec<Emitted> = mixed_objects();
    all.extend(rendered(mixed()));
    let mut made = BTreeMap::new();
    let mut judged = 0;
    for (index, emitted) in all.iter().enumerate() {
        let version = emitted.object["apiVersion"].as_str().unwrap();
        let kind = emitted.object["kind"].as_str().unwrap();
        // The kinds of Kubernetes itself have no CRD.
        let Some((group, version)) = version.split_once('/').filter(|_| !is_built_in(version, kind)) else { continue };
        let known = *made.entry((group, version, kind)).or_insert_with(|| {
            let schema = schema(TEST, group, version, kind);
            let file = schemas.path().join(format!("{}_{version}.json", kind.to_lowercase()));
            schema.inspect(|schema| fs::write(file, schema.to_string()).unwrap()).is_some()
        });
        if known {
            folder.write(&format!("judged/{index}.yaml"), kubebench_syntax::yaml::write(&emitted.object));
            judged += 1;
        }
    }
    assert!(judged > 20, "{judged}");
    let place = schemas.path().join("{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json");
    let mut command = Command::new(kubeconform);
    command.args(["-strict", "-schema-location"]).arg(place).arg("judged").current_dir(folder.path());
    assert_yes(&command.output().unwrap());
}

#[test]
fn oracle_kustomize_gives_the_same_objects() {
    let Some(kustomize) = oracle("oracle_kustomize_gives_the_same_objects", "kustomize") else { return };
    for target in TARGETS {
        let folder = compiled();
        let root = folder.path().join("generated").join(target);
        let resources: Vec<String> =
            files_below(&root).iter().map(|path| crate::support::project::relative(&root, path)).collect();
        folder.write(&format!("generated/{target}/kustomization.yaml"), json!({"resources": resources}).to_string());
        let output = Command::new(&kustomize).arg("build").arg(&root).output().unwrap();
        assert_yes(&output);
        let built: Vec<Value> = serde_yaml::from_multiple(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
        let of_target = mixed_objects().into_iter().filter(|emitted| emitted.path.starts_with(target));
        let expected: BTreeMap<String, Value> =
            of_target.map(|emitted| (identity(&emitted.object), emitted.object)).collect();
        let built: BTreeMap<String, Value> = built.into_iter().map(|object| (identity(&object), object)).collect();
        assert_eq!(built, expected);
    }
}

#[test]
fn oracle_argo_takes_every_workflow() {
    let Some(argo) = oracle("oracle_argo_takes_every_workflow", "argo") else { return };
    let folder = compiled();
    for target in TARGETS {
        let root = folder.path().join("generated").join(target);
        let names = ["workflow.yaml", "workflow-template.yaml", "suite-template.yaml"];
        let files: Vec<_> = files_below(&root)
            .into_iter()
            .filter(|path| names.iter().any(|name| path.file_name().is_some_and(|file| file == *name)))
            .collect();
        assert!(files.len() > 5);
        let mut command = Command::new(&argo);
        command.args(["lint", "--offline", "-o", "simple"]).args(&files).env_remove("KUBECONFIG").stdin(Stdio::null());
        assert_yes(&command.output().unwrap());
    }
}

#[test]
fn oracle_pyyaml_reads_the_same_of_every_file() {
    let Some(python) = python_with_yaml("oracle_pyyaml_reads_the_same_of_every_file") else { return };
    let folder = compiled();
    let program = "import json, pathlib, sys, yaml
read = {}
for path in sorted(pathlib.Path('generated').rglob('*.yaml')):
    value = yaml.safe_load(path.read_text(encoding='utf-8'))
    for key, text in (value.get('data') or {}).items():
        if key.endswith('.yaml'):
            value['data'][key] = list(yaml.safe_load_all(text))
    read[path.relative_to('generated').as_posix()] = value
json.dump(read, sys.stdout)";
    let output = Command::new(python).args(["-c", program]).current_dir(folder.path()).output().unwrap();
    assert_yes(&output);
    let read: BTreeMap<String, Value> = serde_json::from_slice(&output.stdout).unwrap();
    let expected: BTreeMap<String, Value> = mixed_objects()
        .into_iter()
        .map(|Emitted { path, mut object }| {
            let data = object.get_mut("data").and_then(Value::as_object_mut);
            for (_, text) in data.into_iter().flatten().filter(|(key, _)| key.ends_with(".yaml")) {
                *text = Value::Array(serde_yaml::from_multiple(text.as_str().unwrap()).unwrap());
            }
            (path, object)
        })
        .collect();
    assert_eq!(read, expected);
}

fn compiled() -> Folder {
    let folder = Folder::with(mixed_files());
    assert_yes(&folder.run(&["compile"]));
    assert!(Path::new(&folder.path().join("generated")).is_dir());
    folder
}

fn kind(object: &Value) -> String {
    format!("{} {}", object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap())
}

fn identity(object: &Value) -> String {
    format!("{} {} {}", kind(object), object["metadata"]["namespace"], object["metadata"]["name"])
}

/// Removes what `step run` adds: the name, the label of the run, the subdomain.
fn unname(value: &mut Value) {
    if let Some(name) = value.pointer("/metadata/name").cloned() {
        value["metadata"].as_object_mut().unwrap().remove("name");
        for reference in ["runtimeRef", "workflowTemplateRef"] {
            if let Some(reference) = value["spec"].get_mut(reference).and_then(Value::as_object_mut) {
                assert_eq!(reference.remove("name").as_ref(), Some(&name));
            }
        }
        strip(value, &name);
    }
}

/// What a step adds to the pods that it creates.
const CARRIED: [&str; 6] = [
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "cost-center",
    "example.com/contact",
    "karpenter.sh/do-not-disrupt",
    "linkerd.io/inject",
    "sidecar.istio.io/inject",
];

fn strip(value: &mut Value, name: &Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("name").is_some_and(|name| OF_SERVER.iter().any(|of_server| name == of_server)) {
                fields.remove("value");
            }
            fields.retain(|key, value| !(matches!(key.as_str(), "kubebench.dev/run" | "subdomain") && value == name));
            fields.retain(|key, _| !CARRIED.contains(&key.as_str()));
            fields.values_mut().for_each(|child| strip(child, name));
            fields.retain(|key, value| key != "annotations" || *value != serde_json::json!({}));
        }
        Value::Array(items) => items.iter_mut().for_each(|child| strip(child, name)),
        _ => {}
    }
}
