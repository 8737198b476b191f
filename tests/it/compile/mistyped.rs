//! Fields of given objects: what a server would refuse, or drop, is found where it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kubebench_compiler::compile::Compilation;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::read_manifest;
use kubebench_testing::snapshot::{assert_findings, str};
use serde_json::{Value, json};

use super::published;
use crate::support::judges;
use crate::support::project::{compile as compile_files, errors_at, mixed_created, walk};

/// Findings about a manifest with this object: code, the text pointed at, and the message.
fn findings(object: &str) -> Vec<(String, String)> {
    let spec = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: base}}\nspec:\n  timeout: 1h\n  parameters: {{word: two, count: 2}}\n  workload:\n    manifest:\n      object: {object}\n"
    );
    errors_at(&compile_files(&[("specs/a.yaml", &spec)]))
}

fn job(spec: &str, container: &str) -> String {
    format!(
        "{{apiVersion: batch/v1, kind: Job, spec: {{{spec} template: {{spec: {{restartPolicy: Never, containers: [{{name: main, image: 'r.example/a:1', {container}}}]}}}}}}}}"
    )
}

#[test]
fn a_mistyped_field_is_an_error_at_its_place() {
    for (object, place, message) in [
        (
            job("parallelism: two,", ""),
            "KB0316 at two",
            str! {"`parallelism` must be a whole number of at most 2147483647, not the string `two`"},
        ),
        (
            job("parallelism: '${{ parameters.word }}',", ""),
            "KB0316 at '${{ parameters.word }}'",
            str! {"`parallelism` must be a whole number of at most 2147483647, not the string `two`"},
        ),
        (
            job("suspend: 'false',", ""),
            "KB0316 at 'false'",
            str! {"`suspend` must be `true` or `false`, not the string `false`"},
        ),
        (job("", "command: run"), "KB0316 at run", str! {"`command` must be a list, not the string `run`"}),
        (job("", "args: [--n, 3]"), "KB0316 at 3", str! {"an element of `args` must be text, not the number `3`"}),
        (job("", "resources: [cpu]"), "KB0316 at [cpu]", str! {"`resources` must be a mapping, not a list"}),
        (
            job("", "resources: {limits: {cpu: 1, memory: [1Gi]}}"),
            "KB0316 at [1Gi]",
            str! {"`memory` must be a quantity, not a list"},
        ),
        (job("", "comand: [run]"), "KB0316 at comand", str! {"`comand` is not a field of an element of `containers`"}),
        (
            job("", "imagePullPolicy: always"),
            "KB0325 at always",
            str! {"`always` is not a value of `imagePullPolicy`"},
        ),
        (
            "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs: {Worker: {replicas: two, template: {spec: {containers: [{name: pytorch, image: 'r.example/a:1'}]}}}}}}".to_owned(),
            "KB0316 at two",
            str! {"`replicas` must be a whole number of at most 2147483647, not the string `two`"},
        ),
        (job("completionMode: indexed,", ""), "KB0325 at indexed", str! {"`indexed` is not a value of `completionMode`"}),
        (job("", "livenessProbe: {httpGet: {path: /, port: 70000}}"), "KB0325 at 70000", str! {"`70000` is not a port"}),
        (job("", "livenessProbe: {httpGet: {path: /, port: 80, scheme: https}}"), "KB0325 at https", str! {"`https` is not a value of `scheme`"}),
        (job("", "").replace("Never", "Always"), "KB0325 at Always", str! {"`Always` is not a value of `restartPolicy`"}),
        (
            job("", "").replace("kind: Job,", "kind: Job, metadata: {labels: {team: 'ml infra'}},"),
            "KB0325 at 'ml infra'",
            str! {"`ml infra` is not a label value: ` ` is not allowed in it"},
        ),
        (
            "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: clusterIP, ports: [{port: 80}]}}, JOB]}".replace("JOB", &job("", "")),
            "KB0325 at clusterIP",
            str! {"`clusterIP` is not a value of `type`"},
        ),
        (
            "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 70000}]}}, JOB]}".replace("JOB", &job("", "")),
            "KB0325 at 70000",
            str! {"`70000` is not a port"},
        ),
        (
            "{apiVersion: serving.kserve.io/v1alpha1, kind: LLMInferenceService, spec: {replicas: two, template: {containers: [{name: main, image: 'r.example/a:1'}]}}}".to_owned(),
            "KB0316 at two",
            str! {"`replicas` must be a whole number of at most 2147483647, not the string `two`"},
        ),
        (job("backoffLimit: -1,", ""), "KB0325 at -1", str! {"`backoffLimit` is -1"}),
        (job("", "").replace("Never", "never"), "KB0325 at never", str! {"`never` is not a value of `restartPolicy`"}),
        (
            "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {runPolicy: {cleanPodPolicy: all}, pytorchReplicaSpecs: {Worker: {restartPolicy: Never, template: {spec: {containers: [{name: pytorch, image: 'r.example/a:1'}]}}}}}}".to_owned(),
            "KB0325 at all",
            str! {"`all` is not a value of `cleanPodPolicy`"},
        ),
        (
            "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {ttlSecondsAfterFinished: -5, replicatedJobs: [{name: a, template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'r.example/a:1'}]}}}}}]}}".to_owned(),
            "KB0325 at -5",
            str! {"`ttlSecondsAfterFinished` is -5"},
        ),
        (
            "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {PORT: 80}}, JOB]}".replace("JOB", &job("", "")),
            "KB0316 at 80",
            str! {"`PORT` must be text, not the number `80`"},
        ),
    ] {
        assert_findings(&findings(&object), &[(place, message)]);
    }
}

#[test]
fn what_the_server_takes_is_taken() {
    for object in [
        job("parallelism: '2',", "").replace("'2'", "2"),
        job(
            "parallelism: null,",
            "env: null, command: [run], resources: {limits: {cpu: 1.5, memory: 1Gi, a.example/b: 1}}",
        ),
        job(
            "",
            "resources: {limits: {cpu: '1'}}, livenessProbe: {httpGet: {path: /, port: http}}, readinessProbe: {httpGet: {path: /, port: 80}}",
        ),
    ] {
        assert_eq!(findings(&object), [], "{object}");
    }
    // A later release of a controller may have it: a warning.
    assert_eq!(findings(&job("fieldOfTomorrow: 1,", "")), []);
    // A lookup that is not within quotes is the number itself.
    let object = "\n        apiVersion: batch/v1\n        kind: Job\n        spec:\n          parallelism: ${{ parameters.count }}\n          template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'r.example/a:1'}]}}";
    assert_eq!(findings(object), []);
}

/// Where a definition has types that Kubebench does not: what it leaves to the kind's controller.
const MISSED: &[(&str, &str)] =
    &[("argoproj.io/v1alpha1 Workflow", "/parameters/"), ("machinelearning.seldon.io/v1 SeldonDeployment", "/graph/")];

/// Each scalar and list of a valid object is replaced by a value of another type; what the kind's own definition refuses, the
/// compiler refuses.
#[test]
fn whatever_type_a_definition_refuses_the_compiler_refuses() {
    let test = "whatever_type_a_definition_refuses_the_compiler_refuses";
    let mut objects: Vec<(String, Value)> =
        mixed_created().into_iter().map(|emitted| (String::new(), emitted.object)).collect();
    if let Some(root) = judges::published(test, "manifests") {
        for path in published::files(&root) {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let source = Source::new(name.as_str(), &fs::read(&path).unwrap());
            let documents = read_manifest(SourceId::default(), &source).documents;
            objects.extend(documents.iter().map(|document| (name.clone(), document.to_json())));
        }
    }
    let (mut counts, mut missed) = (BTreeMap::<String, (u32, u32)>::new(), BTreeSet::new());
    let mut seen = BTreeSet::new();
    for (name, object) in objects {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let kind = format!("{} {}", text("apiVersion"), text("kind"));
        if !judges::has_definition(&text("apiVersion"), &text("kind"))
            || !judges::validate(&object).is_empty()
            || compile(&object, &name).has_errors()
        {
            continue;
        }
        let mut places = Vec::new();
        walk(&object, "", &mut |place, value| places.push((place.to_owned(), value.clone())));
        for (place, value) in places {
            let is_identity = |place: &str| ["", "/apiVersion", "/kind", "/metadata/name", "/status"].contains(&place);
            let field: String =
                place.split('/').filter(|step| step.parse::<u32>().is_err()).collect::<Vec<_>>().join("/");
            // A field is mutated once a kind.
            if is_identity(&place) || !seen.insert((kind.clone(), field)) {
                continue;
            }
            // Of another type; and of the same, where a definition has words or a range.
            let wrong = match value {
                Value::Number(_) => vec![json!("two"), json!(-1), json!(2_000_000_000)],
                Value::Bool(_) | Value::Array(_) | Value::Object(_) => vec![json!("two")],
                Value::String(_) => vec![json!({"a": "b"}), json!("a-word-of-no-list")],
                Value::Null => continue,
            };
            for wrong in wrong {
                let mut mutated = object.clone();
                *mutated.pointer_mut(&place).unwrap() = wrong.clone();
                if judges::validate(&mutated).is_empty() {
                    continue;
                }
                let (refused, found) = counts.entry(kind.clone()).or_default();
                *refused += 1;
                if compile(&mutated, &name).has_errors() {
                    *found += 1;
                } else if !MISSED.iter().any(|(of, part)| kind == *of && place.contains(part)) {
                    missed.insert(format!("{kind}: {place}: {wrong}"));
                }
            }
        }
    }
    for (kind, (refused, found)) in &counts {
        println!("{kind}: {found} of {refused}");
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

fn compile(object: &Value, name: &str) -> Compilation {
    published::compile(object.to_string().into_bytes(), name)
}
