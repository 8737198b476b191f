//! The judge of manifests is itself tested: it takes what people publish and refuses one wrong letter.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::judges::{self, has_crds, is_built_in, validate};
use crate::support::project::{mixed, rendered};

/// Published manifests that a server with strict validation refuses as well, each with a part of the reason.
const KNOWN_FAULTS: &[(&str, &str)] = &[
    ("inferenceservice/kserve-kserve-rollout-strategy.yaml", "'custom' was unexpected"),
    // 0400 is an octal number to YAML 1.1, which this reader is not
    ("job/googlecloudplatform-kubernetes-engine-samples-trtllm-gemma-octal-mode.yaml", "expected i32"),
    ("llminferenceservice/kserve-kserve-v1alpha1-latency-predictor.yaml", "/spec/router/scheduler/config/inline"),
    ("mpijob/kubeflow-mpi-operator-v2beta1-nccl-tests.yaml", "annotations: null is not of type"),
    ("mpijob/kubeflow-mpi-operator-v2beta1-pi-intel.yaml", "command: null is not of type"),
    ("mpijob/nvidia-k8s-dra-driver-gpu-v2beta1-nvbandwidth.yaml", "env: null is not of type"),
    ("pytorchjob/awslabs-awsome-distributed-ai-fsdp-nsight-null-gpu.yaml", "nvidia.com~1gpu: null is not"),
    ("workflow/argoproj-argo-workflows-k8s-jobs.yaml", "neither `name` nor `generateName`"),
];

/// Kinds besides the jobs in those files, or long gone, whose CRD is not kept.
const NO_CRD: &[&str] = &[
    "kubeflow.org/v1alpha1 MPIJob",
    "kubeflow.org/v1alpha2 MPIJob",
    "resource.nvidia.com/v1beta1 ComputeDomain",
    "scheduling.volcano.sh/v1beta1 Queue",
    "workload.codeflare.dev/v1beta2 AppWrapper",
];

/// Published files that this reader refuses.
const UNREAD: &[&str] = &["-dupkey.yaml"];

#[test]
fn published_manifests_are_taken() {
    const TEST: &str = "published_manifests_are_taken";
    let Some(folder) = judges::published(TEST, "manifests") else { return };
    let mut judged = 0;
    for (file, object) in published(&folder) {
        let faults = validate(&object);
        if KNOWN_FAULTS
            .iter()
            .any(|(known, reason)| *known == file && faults.iter().any(|fault| fault.contains(reason)))
        {
            continue;
        }
        let name = format!("{} {}", text(&object, "apiVersion"), text(&object, "kind"));
        if NO_CRD.contains(&name.as_str()) {
            assert_eq!(faults.len(), 1, "{file}: `{name}` has a CRD now: {faults:?}");
            continue;
        }
        assert!(faults.is_empty(), "{file}: {name}: {faults:#?}");
        judged += 1;
    }
    assert!(judged > 60, "only {judged} manifests were validated");
}

#[test]
fn one_wrong_letter_is_refused() {
    const TEST: &str = "one_wrong_letter_is_refused";
    const JOBS: [&str; 9] =
        ["JAXJob", "Job", "JobSet", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "TrainJob", "XGBoostJob"];
    const OWN: [&str; 10] = [
        "batch.volcano.sh/v1alpha1 Job",
        "batch/v1 Job",
        "jobset.x-k8s.io/v1alpha2 JobSet",
        "kubeflow.org/v1 JAXJob",
        "kubeflow.org/v1 MPIJob",
        "kubeflow.org/v1 PaddleJob",
        "kubeflow.org/v1 PyTorchJob",
        "kubeflow.org/v1 TFJob",
        "kubeflow.org/v1 XGBoostJob",
        "kubeflow.org/v2beta1 MPIJob",
    ];
    let has_crds = has_crds(TEST);
    let own = rendered(mixed()).into_iter().map(|emitted| (emitted.path, emitted.object));
    let theirs = judges::published(TEST, "manifests").map(|folder| published(&folder));
    let mut refused = BTreeMap::new();
    for (file, object) in own.chain(theirs.into_iter().flatten()) {
        // Batch jobs are validated by Kubernetes' own types, the other kinds by their CRDs: both must see it.
        let (api_version, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
        let has_judge = has_crds || is_built_in(api_version, kind);
        // Some published manifests are invalid from the start.
        if !JOBS.contains(&kind) || !has_judge || !validate(&object).is_empty() {
            continue;
        }
        for key in ["replicas", "template", "containers", "image", "resources", "restartPolicy"] {
            let mut broken = object.clone();
            if rename_first(&mut broken["spec"], key) {
                let faults = validate(&broken);
                let named = |fault: &String| fault.contains(&format!("{key}x"));
                assert!(faults.iter().any(named), "{file}: nobody minds `{key}x`: {faults:?}");
                *refused.entry(format!("{api_version} {kind}")).or_insert(0) += 1;
            }
        }
    }
    // The TrainJobs of this repository say none of this: their runtimes do.
    let own: &[&str] = if has_crds { &OWN } else { &["batch/v1 Job"] };
    for name in own {
        assert!(refused.contains_key(*name), "no {name} was broken: {refused:?}");
    }
}

/// A job that people would write, of the kind with the oldest definition.
pub(crate) fn tf_job() -> Value {
    json!({
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": "simple", "namespace": "benchmarks"},
        "spec": {"tfReplicaSpecs": {"Worker": {
            "replicas": 2,
            "restartPolicy": "OnFailure",
            "template": {"spec": {"containers": [{
                "name": "tensorflow", "image": "registry.example/mnist:1", "command": ["python", "/mnist.py"],
            }]}},
        }}},
    })
}

#[test]
fn values_are_judged_as_a_server_does() {
    if !has_crds("values_are_judged_as_a_server_does") {
        return;
    }
    let sound = tf_job();
    assert_eq!(validate(&sound), Vec::<String>::new());
    let worker = "/spec/tfReplicaSpecs/Worker";
    let container = "/spec/tfReplicaSpecs/Worker/template/spec/containers/0";
    let faults_of = |at: &str, key: &str, value: Value| {
        let mut object = sound.clone();
        object.pointer_mut(at).unwrap_or_else(|| panic!("{at} stands in {sound}"))[key] = value;
        validate(&object)
    };
    let none = Vec::<String>::new();
    let port = json!([{"containerPort": 1, "name": "a"}, {"containerPort": 1, "name": "b"}]);
    let ports = json!([{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}]);
    assert_eq!(faults_of(container, "ports", ports), none, "`protocol` has a default, and it tells ports apart");
    assert_eq!(faults_of(container, "ports", port).len(), 1, "two ports with one key");
    let env = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
    assert_eq!(faults_of(container, "env", env).len(), 1, "two variables with one name");
    assert_eq!(faults_of(container, "env", json!([{"name": "A", "value": 1}])).len(), 1, "a number for a string");
    assert_eq!(faults_of(container, "resources", json!({"limits": {"cpu": 1, "memory": "1Gi"}})), none);
    assert_ne!(faults_of(container, "resources", json!({"limits": {"cpu": "1 core"}})), none);
    assert_eq!(faults_of(worker, "replicas", json!("2")).len(), 1, "a string for a number");
    assert_eq!(faults_of(worker, "replicas", json!(3_000_000_000_u32)).len(), 1, "over 32 bits");
    assert_eq!(faults_of("/metadata", "labels", json!({"a": true})).len(), 1, "a label is a string");
    assert_eq!(faults_of("/metadata", "lables", json!({})).len(), 1);
    assert_eq!(faults_of("", "sepc", json!({})).len(), 1);
}

#[test]
fn built_in_kinds_need_no_files() {
    let role = |rule: Value| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": [rule]});
    let sound = json!({"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]});
    assert_eq!(validate(&role(sound)), Vec::<String>::new());
    assert_ne!(
        validate(&role(json!({"apiGroups": ["batch"], "resources": ["jobs"], "verb": ["get"]}))),
        Vec::<String>::new()
    );
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    assert_eq!(validate(&claim), Vec::<String>::new());
    let mut nameless = claim;
    nameless["metadata"] = json!({"nmae": "c"});
    assert_eq!(validate(&nameless).len(), 2);
    assert_eq!(validate(&json!({"apiVersion": "v1", "kind": "ConfigMop"})).len(), 1);
}

#[test]
fn a_schema_is_found_by_group_version_and_kind() {
    if !has_crds("a_schema_is_found_by_group_version_and_kind") {
        assert!(judges::crd_schema("kubeflow.org", "v1", "MPIJob").is_none());
        return;
    }
    let pointer = "/properties/spec/properties";
    let fields =
        |version| judges::crd_schema("kubeflow.org", version, "MPIJob").unwrap().pointer(pointer).cloned().unwrap();
    assert!(fields("v1").get("mainContainer").is_some(), "the training operator's");
    assert!(fields("v2beta1").get("mpiImplementation").is_some(), "the MPI operator's");
    assert!(judges::crd_schema("kubeflow.org", "v3", "MPIJob").is_none());
}

/// Every object of the published manifests that is a manifest as it is, with its file.
fn published(folder: &Path) -> Vec<(String, Value)> {
    let mut objects = Vec::new();
    for kind in entries(folder).into_iter().filter(|entry| entry.is_dir()) {
        if kind.ends_with("invalid") || kind.ends_with("yaml-suite") {
            continue;
        }
        for file in entries(&kind) {
            let name = file.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
            if file.extension().is_some_and(|extension| extension == "yaml") && !name.contains(".tmpl.") {
                objects.extend(documents(&file).into_iter().map(|object| (name.clone(), object)));
            }
        }
    }
    objects
}

fn documents(file: &PathBuf) -> Vec<Value> {
    let read: Result<Vec<Value>, _> = serde_yaml::from_multiple(&fs::read_to_string(file).unwrap());
    let mut documents = read.unwrap_or_else(|error| {
        let name = file.to_string_lossy();
        assert!(UNREAD.iter().any(|unread| name.ends_with(unread)), "{name}: {error}");
        Vec::new()
    });
    documents.retain(|document| !document.is_null());
    documents
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Adds an `x` to the first key of this name, in the order of the document; false when there is none.
fn rename_first(value: &mut Value, key: &str) -> bool {
    match value {
        Value::Object(fields) => {
            if let Some(value) = fields.remove(key) {
                fields.insert(format!("{key}x"), value);
                return true;
            }
            fields.values_mut().any(|child| rename_first(child, key))
        }
        Value::Array(items) => items.iter_mut().any(|item| rename_first(item, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
