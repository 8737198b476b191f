//! Published manifests as workloads: each compiles, or is refused for what it is, and arrives with nothing changed but what a run
//! needs. They lie in `$KUBEBENCH_SHARED`, with their sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kubebench_compiler::compile::{Compilation, Input, Workspace};
use kubebench_compiler::lower::Unreadable;
use kubebench_syntax::diag::Severity;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{Node, read_manifest};
use serde_json::Value;

use crate::support::judges;
use crate::support::project::{created, errors, files_below};

/// What the spec of a file says besides its path, by the beginning of that.
const SAID: &[(&str, &str)] = &[
    ("appwrapper/", PHASE),
    ("inferenceservice/kserve-kserve-rollout", "main: InferenceService/rollout-strategy-example"),
    ("job/awslabs-benchmark-ai-inference-server-metrics.yaml", "main: Job/benchmark-job-id"),
    (
        "mpijob/awslabs-benchmark-ai-v1alpha2",
        "preinstalled: [RoleBinding/metrics-pusher-benchmark-job-id]\nsuccess: condition=Succeeded\nfailure: condition=Failed",
    ),
    (
        "mpijob/kubeflow-kubebench-v1alpha1",
        "success: \"jsonpath={.status.launcherStatus}=Succeeded\"\nfailure: \"jsonpath={.status.launcherStatus}=Failed\"",
    ),
    (
        "rayjob/ray-project-kuberay-volcano-queue.yaml",
        "preinstalled: [Queue/kuberay-test-queue]\nsuccess: \"jsonpath={.status.jobStatus}=SUCCEEDED\"\nfailure: \"jsonpath={.status.jobStatus}=FAILED\"",
    ),
    (
        "sparkapplication/kubeflow-spark-operator-spark-pi-pod-template",
        "preinstalled: [Secret/test-secret, Secret/test-secret-2]\nsuccess: \"jsonpath={.status.applicationState.state}=COMPLETED\"\nfailure: \"jsonpath={.status.applicationState.state}=FAILED\"",
    ),
    (
        "sparkapplication/",
        "success: \"jsonpath={.status.applicationState.state}=COMPLETED\"\nfailure: \"jsonpath={.status.applicationState.state}=FAILED\"",
    ),
    ("trainjob/kubeflow-trainer-volcano.yaml", "preinstalled: [ClusterTrainingRuntime/torch-distributed-volcano]"),
    (
        "volcanojob/",
        "success: \"jsonpath={.status.state.phase}=Completed\"\nfailure: \"jsonpath={.status.state.phase}=Failed\"",
    ),
];
const PHASE: &str = "success: \"jsonpath={.status.phase}=Succeeded\"\nfailure: \"jsonpath={.status.phase}=Failed\"";

/// Files that are refused, and the codes.
const REFUSED: &[(&str, &[&str])] = &[
    ("invalid/awslabs-awsome-distributed-ai-pytorchjob-flow-map-placeholder.yaml", &["KB0117"]),
    ("invalid/googlecloudplatform-kubernetes-engine-samples-model-armor-producer-job.yaml", &["KB0104"]),
    ("invalid/kserve-kserve-torchserve-gpu-brace-placeholder.yaml", &["KB0117"]),
    ("invalid/kubeflow-spark-operator-spark-pi-prometheus.yaml", &["KB0117"]),
    ("invalid/seldonio-seldon-core-openvino-ensemble.yaml", &["KB0104"]),
    ("job/awslabs-awsome-distributed-ai-nvrx-ft-launcher.tmpl.yaml", &["KB0337", "KB0372"]),
    ("job/googlecloudplatform-kubernetes-engine-samples-a100-jax-indexed.yaml", FILL_IN),
    ("jobset/googlecloudplatform-container-engine-accelerators-nccl-a4x-max-dupkey.yaml", FILL_IN),
    // Its `inline` is a text, and the CRD takes an object.
    ("llminferenceservice/kserve-kserve-v1alpha1-latency-predictor.yaml", &["KB0316"]),
    ("mpijob/awslabs-awsome-distributed-ai-v2beta1-deepep-internode.tmpl.yaml", FILL_IN),
    ("mpijob/awslabs-awsome-distributed-ai-v2beta1-nccl-tests-efa.yaml", FILL_IN),
    ("mpijob/googlecloudplatform-kubernetes-engine-samples-v2beta1-hpl.tmpl.yaml", FILL_IN),
    ("pytorchjob/awslabs-awsome-distributed-ai-llama2-7b-fsdp.tmpl.yaml", FILL_IN),
    ("pytorchjob/awslabs-awsome-distributed-ai-llama3-fsdp-nsight.yaml", FILL_IN),
    ("pytorchjob/awslabs-awsome-distributed-ai-vjepa2-benchmark.yaml", FILL_IN),
    ("pytorchjob/foundation-model-stack-fms-hf-tuning-kfto-kueue-sft.tmpl.yaml", FILL_IN),
    ("rayjob/awslabs-awsome-distributed-ai-nemo-rl-anchors.yaml", FILL_IN),
    // The image in the text of its `resource` template is a sentence.
    ("workflow/argoproj-argo-workflows-tfjob-resource.yaml", &["KB0205"]),
    ("rayjob/ray-project-kuberay-historyserver-anchors.yaml", &["KB0407"]),
];
const FILL_IN: &[&str] = &["KB0337"];

/// All that is different in what is created, as patterns: `+` was added, `-` removed, `~` replaced.
const DIFFERENCES: &[&str] = &[
    "+ /metadata/annotations",
    "+ /metadata/labels",
    "+ /metadata/labels/kubebench.dev/benchmark",
    "+ /metadata/labels/kubebench.dev/case",
    "+ /metadata/namespace",
    "+ /spec/labels",
    "+ /spec/podMetadata",
    "+ /spec/predictor/labels",
    "+ /spec/predictor/model/env",
    "+ /spec/transformer/labels",
    "+ /spec/trialTemplate/trialSpec/spec/podMetadata",
    "+ POD/metadata",
    "+ POD/metadata/labels",
    "+ POD/metadata/labels/kubebench.dev/benchmark",
    "+ POD/metadata/labels/kubebench.dev/case",
    "+ POD/metadata/labels/kubebench.dev/role",
    "+ POD/spec/containers[]/env",
    "+ POD/spec/containers[]/env[KUBEBENCH_DATA_ROOT]",
    "+ POD/spec/containers[]/env[KUBEBENCH_EXP_CONFIG_PATH]",
    "+ POD/spec/containers[]/env[KUBEBENCH_EXP_ID]",
    "+ POD/spec/containers[]/env[KUBEBENCH_EXP_OUTPUT_PATH]",
    "+ POD/spec/containers[]/env[KUBEBENCH_EXP_PATH]",
    "+ POD/spec/containers[]/env[KUBEBENCH_EXP_RESULT_PATH]",
    "+ POD/spec/containers[]/env[KUBEBENCH_EXP_ROOT]",
    "- /metadata/generateName",
    "- /metadata/name",
    // `false` says what holds without it; `true` is refused.
    "- /spec/suspend",
    "~ /metadata/namespace",
    "~ POD/spec/containers[]/env",
];

#[test]
fn published_manifests_compile_or_are_refused_for_what_they_are() {
    let Some(root) = manifests("published_manifests_compile_or_are_refused_for_what_they_are") else { return };
    let mut wrong = Vec::new();
    for path in files(&root) {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let compilation = compile(fs::read(&path).unwrap(), &name);
        let codes: BTreeSet<&str> = compilation
            .diagnostics
            .iter()
            .filter(|fault| fault.severity == Severity::Error)
            .map(|fault| fault.code.id)
            .collect();
        let wanted: BTreeSet<&str> =
            REFUSED.iter().filter(|(file, _)| *file == name).flat_map(|(_, codes)| codes.iter().copied()).collect();
        if codes != wanted {
            wrong.push(format!("{name}: {codes:?} {:#?}", errors(&compilation)));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn published_manifests_arrive_as_they_are() {
    let Some(root) = manifests("published_manifests_arrive_as_they_are") else { return };
    let mut found = BTreeSet::new();
    let mut compared = 0;
    for path in files(&root) {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let compilation = compile(fs::read(&path).unwrap(), &name);
        if compilation.has_errors() {
            continue;
        }
        let source = Source::new(name.as_str(), &fs::read(&path).unwrap());
        let documents: Vec<Value> =
            read_manifest(SourceId::default(), &source).documents.iter().map(Node::to_json).collect();
        for object in created(&compilation).into_iter().map(|emitted| emitted.object) {
            let is_same = |document: &&Value| {
                let keeps = object["metadata"].get("name").is_none();
                document["kind"] == object["kind"]
                    && (keeps || document["metadata"]["name"] == object["metadata"]["name"])
            };
            let of_main = said(&name).lines().find_map(|line| line.trim().strip_prefix("main: "));
            let named = |document: &&Value| {
                of_main.is_none_or(|main| {
                    object["metadata"].get("name").is_some()
                        || main
                            == format!(
                                "{}/{}",
                                document["kind"].as_str().unwrap(),
                                document["metadata"]["name"].as_str().unwrap_or_default()
                            )
                })
            };
            let source = documents.iter().filter(is_same).find(named);
            let source = source.unwrap_or_else(|| panic!("{name}: no source of {object}"));
            compare(source, &object, "", &mut |difference| {
                found.insert(of_pod(&difference));
            });
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), DIFFERENCES, "{found:#?}");
}

/// Says what is different in `after`; elements of lists are known by their names where all have one.
fn compare(before: &Value, after: &Value, at: &str, tell: &mut impl FnMut(String)) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                match new.get(key) {
                    Some(now) => compare(value, now, &format!("{at}/{key}"), tell),
                    None => tell(format!("- {at}/{key}")),
                }
            }
            for key in new.keys().filter(|key| !old.contains_key(*key)) {
                tell(format!("+ {at}/{key}"));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            let id = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned);
            let is_set = |list: &[Value]| list.iter().filter_map(id).collect::<BTreeSet<_>>().len() == list.len();
            if is_set(old) && is_set(new) {
                for value in old {
                    match new.iter().find(|other| id(other) == id(value)) {
                        Some(now) => compare(value, now, &format!("{at}[]"), tell),
                        None => tell(format!("- {at}[{}]", id(value).unwrap())),
                    }
                }
                for value in new.iter().filter(|value| !old.iter().any(|other| id(other) == id(value))) {
                    tell(format!("+ {at}[{}]", id(value).unwrap()));
                }
                let kept = |list: &[Value], other: &[Value]| -> Vec<Option<String>> {
                    list.iter().map(id).filter(|name| other.iter().any(|other| id(other) == *name)).collect()
                };
                assert_eq!(kept(old, new), kept(new, old), "the order at {at}");
            } else {
                assert_eq!(old.len(), new.len(), "elements at {at}");
                old.iter().zip(new).for_each(|(old, new)| compare(old, new, &format!("{at}[]"), tell));
            }
        }
        _ if before == after => {}
        _ => tell(format!("~ {at}")),
    }
}

/// Returns a difference of a pod template by its place in the template, wherever that is.
fn of_pod(difference: &str) -> String {
    let (sign, place) = difference.split_at(2);
    let of_container = place.rfind("/containers[]").map(|at| format!("{sign}POD/spec{}", &place[at..]));
    let of_metadata = || place.rfind("/metadata").filter(|at| *at > 0).map(|at| format!("{sign}POD{}", &place[at..]));
    of_container.or_else(of_metadata).unwrap_or_else(|| difference.to_owned())
}

fn manifests(test: &str) -> Option<PathBuf> {
    judges::published(test, "manifests")
}

/// Every manifest, but the suite of YAML itself.
pub(super) fn files(root: &Path) -> Vec<PathBuf> {
    let files = files_below(root).into_iter();
    let files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .filter(|path| !path.starts_with(root.join("yaml-suite")))
        .collect();
    assert!(files.len() >= 82);
    files
}

fn said(name: &str) -> &'static str {
    SAID.iter().find(|(file, _)| name.starts_with(file)).map_or("", |(_, said)| said)
}

/// Compiles a benchmark of the manifest with these bytes.
pub(super) fn compile(bytes: Vec<u8>, name: &str) -> Compilation {
    let version = if String::from_utf8_lossy(&bytes).contains("kubeflow.org/v2beta1") { "v2beta1" } else { "v1" };
    let project = format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec:\n  allowKinds: [workload.codeflare.dev/AppWrapper]\n  targets:\n    t: {{namespace: bench, apis: {{mpiJob: {version}}}, podSecurity: privileged}}\n"
    );
    let said = said(name).replace('\n', "\n      ");
    let spec = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: x}}\nspec:\n  timeout: 1h\n  workload:\n    manifest:\n      file: jobs/x.yaml\n      {said}\n  metrics: [{{name: seconds, unit: s, better: lower, from: {{duration: startup}}}}]\n"
    );
    let input = |path: &str, text: String| Input { path: path.to_owned(), bytes: text.into_bytes() };
    let read = move |path: &str| {
        if path == "jobs/x.yaml" { Ok(bytes.clone()) } else { Err(Unreadable::Absent { beside: Vec::new() }) }
    };
    Workspace::open(Some(input("kubebench.yaml", project)), env!("CARGO_PKG_VERSION"))
        .carrying(read)
        .compile(vec![input("specs/x.yaml", spec)])
}
