//! What users may say over the emitted objects, and what is said to them when they may not.

use std::collections::BTreeSet;

use kubebench_testing::snapshot::{assert_findings, str};
use serde_json::Value;

use crate::support::judges::schema;
use crate::support::project::{compile, compile_sound, created, errors_at};

const KINDS: &[(&str, &str)] = &[
    ("job", ""),
    ("tfJob", ", ps: {}, worker: {replicas: 2}"),
    ("pytorchJob", ", master: {}, worker: {replicas: 2}"),
    ("mpiJob", ", launcher: {command: [mpirun, a]}, worker: {replicas: 2}"),
    ("xgboostJob", ", master: {}, worker: {replicas: 2}"),
    ("paddleJob", ", master: {}, worker: {replicas: 2}"),
    ("jaxJob", ", worker: {replicas: 2}"),
    ("jobSet", ", replicatedJobs: [{name: loader}, {name: worker, replicas: 2, parallelism: 3}]"),
    ("trainJob", ", runtime: {torch: {}}, trainer: {numNodes: 2}"),
    ("rayJob", ", entrypoint: [a], workerGroups: [{name: worker, replicas: 2}]"),
    (
        "sparkApplication",
        "type: R, sparkVersion: 4, mainApplicationFile: a, driver: {serviceAccount: spark}, executor: {instances: 2}",
    ),
    ("volcanoJob", ", tasks: [{name: master}, {name: worker, replicas: 2}]"),
    ("deployment", ", protocol: v2"),
    ("inferenceService", ", predictor: {}, protocol: v2"),
    ("llmInferenceService", ", model: {uri: 'hf://a/b'}"),
    ("seldonDeployment", ", predictors: [{name: worker, graph: {name: m}}]"),
];

fn spec(kind: &str, fields: &str) -> String {
    let roles = KINDS.iter().find(|(name, _)| *name == kind).unwrap().1;
    // Pods of Spark run Spark, and have the resources that it asks for.
    let program = if kind == "sparkApplication" { "" } else { "command: [a], resources: {cpu: 1, memory: 1Gi}" };
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: base}}\nspec:\n  timeout: 1h\n  workload:\n    {kind}: {{image: 'r.example/a:1', {program}{roles}, {fields}}}\n"
    )
}

/// The errors about a workload with these fields: code, the text pointed at, and the message.
fn faults(kind: &str, fields: &str) -> Vec<(String, String)> {
    faults_on("", kind, fields)
}

fn faults_on(target: &str, kind: &str, fields: &str) -> Vec<(String, String)> {
    let project = format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{a: {{{target}}}}}}}\n"
    );
    let spec = spec(kind, fields);
    let compilation = compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec)]);
    errors_at(&compilation)
}

/// What is created for a workload with these fields.
fn object(kind: &str, fields: &str) -> Value {
    let compilation = compile_sound(&[("specs/a.yaml", &spec(kind, fields))]);
    created(&compilation)[0].object.clone()
}

#[test]
fn a_patch_over_the_object_is_compared_with_its_kind() {
    for (kind, patch, expected) in [
        ("job", "{metadata: {lables: {a: b}}}", ("KB0316 at lables", str! {"`lables` is not a field of `metadata`"})),
        ("job", "{metadata: {labels: {a: true}}}", ("KB0316 at true", str! {"`a` must be text, not a boolean"})),
        (
            "job",
            "{spec: {succesPolicy: {}}}",
            ("KB0316 at succesPolicy", str! {"`succesPolicy` is not a field of `spec`"}),
        ),
        (
            "job",
            "{spec: {podReplacementPolicy: []}}",
            ("KB0316 at []", str! {"`podReplacementPolicy` must be text, not a list"}),
        ),
        ("job", "{status: {}}", ("KB0316 at status", str! {"`status` is not a field of a Job"})),
        (
            "job",
            "{spec: {template: {spec: {hostNetwrk: true}}}}",
            ("KB0316 at hostNetwrk", str! {"`hostNetwrk` is not a field of `spec`"}),
        ),
        (
            "tfJob",
            "{spec: {successPolicy: {}}}",
            ("KB0316 at {}", str! {"`successPolicy` must be text, not a mapping"}),
        ),
        (
            "tfJob",
            "{spec: {elasticPolicy: {}}}",
            ("KB0316 at elasticPolicy", str! {"`elasticPolicy` is not a field of `spec`"}),
        ),
        (
            "tfJob",
            "{spec: {tfReplicaSpecs: {worker: {template: {}}}}}",
            ("KB0316 at worker", str! {"`worker` is not a role of this workload"}),
        ),
        (
            "pytorchJob",
            "{spec: {runPolicy: {schedulingPolicy: {scheduleTimeoutSeconds: all}}}}",
            (
                "KB0316 at all",
                str! {"`scheduleTimeoutSeconds` must be a whole number of at most 2147483647, not the string `all`"},
            ),
        ),
        (
            "pytorchJob",
            "{spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {tolerations: [{key: a, operator: Exist}]}}}}}}",
            ("KB0325 at Exist", str! {"`Exist` is not a value of `operator`"}),
        ),
        (
            "mpiJob",
            "{spec: {sshAuthMountPth: a}}",
            ("KB0316 at sshAuthMountPth", str! {"`sshAuthMountPth` is not a field of `spec`"}),
        ),
    ] {
        assert_findings(&faults(kind, &format!("patch: {patch}")), &[expected]);
    }
    let v1 = faults_on("apis: {mpiJob: v1}", "mpiJob", "patch: {spec: {sshAuthMountPath: /a}}");
    assert_findings(&v1, &[("KB0316 at sshAuthMountPath", str! {"`sshAuthMountPath` is not a field of `spec`"})]);
}

#[test]
fn what_kubebench_sets_is_refused_once_and_with_another_way() {
    for (kind, fields, expected) in [
        ("job", "patch: {spec: {parallelism: 3}}", "parallelism: `spec.parallelism`"),
        ("job", "patch: {metadata: {finalizers: [a]}}", "finalizers: `metadata.finalizers`"),
        ("job", "patch: {metadata: {name: x}}", "name: `metadata.name`"),
        ("job", "patch: {metadata: {labels: null}}", "labels: `metadata.labels.kubebench.dev/benchmark`"),
        (
            "tfJob",
            "patch: {spec: {tfReplicaSpecs: {Worker: {replicas: 9}}}}",
            "replicas: `spec.tfReplicaSpecs.Worker.replicas`",
        ),
        (
            "pytorchJob",
            "patch: {spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch, resources: {limits: {nvidia.com/gpu: 8}}}]}}}}}}",
            "limits: `spec.pytorchReplicaSpecs.Worker.template.spec.containers.resources.limits`",
        ),
        ("job", "container: {resources: {limits: {nvidia.com/gpu: 8}}}", "limits: `resources`"),
        ("job", "container: {resources: null}", "resources: `resources`"),
        ("job", "pod: {containers: [{name: main, resources: {requests: {cpu: 8}}}]}", "requests: `resources`"),
        ("job", "pod: {resources: {requests: {cpu: 8}}}", "requests: `resources`"),
    ] {
        let (place, field) = expected.split_once(": ").unwrap();
        let mut found = faults(kind, fields);
        assert!(found[0].1.contains(field), "{kind} {fields}: {found:?}");
        found[0].1 = found[0].1.replace(field, "…");
        let code_and_place = format!("KB0315 at {place}");
        assert_findings(&found, &[(&code_and_place, str! {"… is set by kubebench and cannot be patched"})]);
    }
    let replaced = faults("job", "patch: {spec: {template: {spec: {$patch: replace, hostname: a}}}}");
    assert_eq!(replaced.len(), 1, "{replaced:#?}");
    assert_findings(
        &faults("job", "pod: {containers: [{name: main, env: [{name: KUBEBENCH_EXP_ROOT, value: /x}]}]}"),
        &[("KB0372 at KUBEBENCH_EXP_ROOT", str! {"the variable `KUBEBENCH_EXP_ROOT` belongs to kubebench"})],
    );
    assert_findings(
        &faults("mpiJob", "patch: {spec: {runPolicy: {schedulingPolicy: {minAvailable: 99}}}}"),
        &[(
            "KB0315 at minAvailable",
            str! {"`spec.runPolicy.schedulingPolicy.minAvailable` is set by kubebench and cannot be patched"},
        )],
    );
    assert_eq!(faults("job", "container: {resources: {claims: [{name: gpu}]}}"), []);
    assert_eq!(faults("job", "pod: {containers: [{name: other, image: b, resources: {limits: {cpu: 1}}}]}"), []);
}

#[test]
fn directives_that_would_do_nothing_are_refused() {
    for (fields, place, message) in [
        ("pod: {$foo: 1}", "$foo", str! {"`$foo` is not a directive that kubebench knows"}),
        (
            "pod: {$setElementOrder/volumes: [{name: a}]}",
            "$setElementOrder/volumes",
            str! {"`$setElementOrder/volumes` is not a directive that kubebench knows"},
        ),
        (
            "container: {$deleteFromPrimitiveList/args: [a]}",
            "$deleteFromPrimitiveList/args",
            str! {"`$deleteFromPrimitiveList/args` is not a directive that kubebench knows"},
        ),
        (
            "patch: {spec: {$retainKeys: [template]}}",
            "$retainKeys",
            str! {"`$retainKeys` is not a directive that kubebench knows"},
        ),
        (
            "pod: {securityContext: {$patch: relpace}}",
            "relpace",
            str! {"`$patch` is one of `replace`, `delete`, `merge`"},
        ),
        ("pod: {securityContext: {$patch: true}}", "true", str! {"`$patch` is one of `replace`, `delete`, `merge`"}),
        (
            "pod: {tolerations: [{$patch: replace}]}",
            "$patch",
            str! {"`$patch` does nothing in `tolerations`: that list is always replaced as a whole"},
        ),
        (
            "pod: {volumes: [{$patch: replace, name: a, emptyDir: {}}]}",
            "$patch",
            str! {"`$patch: replace` must be the only key of a list element"},
        ),
        (
            "pod: {volumes: [{$patch: delete}]}",
            "$patch",
            str! {"`$patch: delete` does not say which element of `volumes`"},
        ),
        (
            "pod: {volumes: [{$patch: delete, name: a, emptyDir: {}}]}",
            "$patch",
            str! {"`$patch: delete` may be combined with `name` only"},
        ),
        (
            "pod: {affinity: {$patch: delete, nodeAffinity: {}}}",
            "$patch",
            str! {"`$patch: delete` must be the only key of a mapping"},
        ),
    ] {
        assert_findings(&faults("job", fields), &[(&format!("KB0316 at {place}"), message)]);
    }
    for fields in [
        "pod: {securityContext: {$patch: merge, runAsUser: 1000}}",
        "pod: {securityContext: {$patch: replace, runAsNonRoot: true, runAsUser: 1}}",
        "pod: {volumes: [{name: a, emptyDir: {}}, {$patch: merge, name: b, emptyDir: {}}]}",
    ] {
        assert_eq!(faults("job", fields), [], "{fields}");
    }
}

#[test]
fn neither_null_nor_directives_are_emitted() {
    let fields = "pod: {volumes: [{name: a, $patch: merge, emptyDir: {medium: null}}], dnsConfig: {options: null, searches: [a]}, affinity: {podAffinity: {$patch: delete}}}, container: {env: [{name: A, value: null}]}";
    let object = object("job", fields);
    let spec = &object["spec"]["template"]["spec"];
    assert_eq!(spec["volumes"], serde_json::json!([{"name": "a", "emptyDir": {}}]));
    assert_eq!(spec["dnsConfig"], serde_json::json!({"searches": ["a"]}));
    assert_eq!(spec["affinity"], serde_json::json!({}));
    let text = object.to_string();
    assert!(!text.contains("null") && !text.contains("$patch"), "{text}");
}

#[test]
fn the_account_of_a_driver_of_spark_is_a_field() {
    let fields = "pod: {serviceAccountName: b}";
    assert_findings(
        &faults("sparkApplication", fields),
        &[("KB0315 at b", str! {"a patch cannot set the account of the `driver`"})],
    );
    let fields = "patch: {spec: {driver: {serviceAccount: b}, executor: {instances: 9}}}";
    assert_eq!(faults("sparkApplication", fields).len(), 2);
    let object = object("sparkApplication", "env: {}");
    assert_eq!(object["spec"]["driver"]["template"]["spec"]["serviceAccountName"], "spark");
    assert!(object["spec"]["executor"]["template"]["spec"].get("serviceAccountName").is_none());
}

/// The lists of fields are those of the CRDs: not one more, not one less.
#[test]
fn custom_kinds_have_the_fields_of_their_crds() {
    for (kind, target, group, version, name) in [
        ("tfJob", "", "kubeflow.org", "v1", "TFJob"),
        ("pytorchJob", "", "kubeflow.org", "v1", "PyTorchJob"),
        ("mpiJob", "apis: {mpiJob: v1}", "kubeflow.org", "v1", "MPIJob"),
        ("mpiJob", "", "kubeflow.org", "v2beta1", "MPIJob"),
        ("jobSet", "", "jobset.x-k8s.io", "v1alpha2", "JobSet"),
        ("trainJob", "", "trainer.kubeflow.org", "v1alpha1", "TrainJob"),
        ("xgboostJob", "", "kubeflow.org", "v1", "XGBoostJob"),
        ("paddleJob", "", "kubeflow.org", "v1", "PaddleJob"),
        ("jaxJob", "", "kubeflow.org", "v1", "JAXJob"),
        ("rayJob", "", "ray.io", "v1", "RayJob"),
        ("sparkApplication", "", "sparkoperator.k8s.io", "v1beta2", "SparkApplication"),
        ("volcanoJob", "", "batch.volcano.sh", "v1alpha1", "Job"),
        ("llmInferenceService", "", "serving.kserve.io", "v1alpha2", "LLMInferenceService"),
        ("seldonDeployment", "", "machinelearning.seldon.io", "v1", "SeldonDeployment"),
    ] {
        let test = "custom_kinds_have_the_fields_of_their_crds";
        let Some(schema) = schema(test, group, version, name) else { continue };
        let mut compared = 0;
        compare(&schema["properties"]["spec"], &mut vec!["spec".to_owned()], &mut compared, &|patch| {
            let project = format!(
                "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{a: {{{target}}}}}}}\n"
            );
            let compilation =
                compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec(kind, &format!("patch: {patch}")))]);
            let unknown = compilation.diagnostics.iter().filter(|fault| fault.code.id == "KB0316");
            unknown.map(|fault| format!("{}: {}", fault.message, fault.help.clone().unwrap_or_default())).collect()
        });
        assert!(compared >= 5, "{name} {version}: {compared}");
    }
}

/// What KServe keeps besides `model` for each format of the first releases.
const FORMATS: [&str; 9] =
    ["huggingface", "lightgbm", "onnx", "paddle", "pmml", "pytorch", "sklearn", "tensorflow", "xgboost"];

/// A component of an InferenceService has the fields of a pod and those that the CRD adds, and no others.
#[test]
fn components_of_kserve_have_the_fields_of_their_crd() {
    let test = "components_of_kserve_have_the_fields_of_their_crd";
    let Some(schema) = schema(test, "serving.kserve.io", "v1beta1", "InferenceService") else { return };
    let unknown = |place: &str, field: &str| {
        let patch = place
            .rsplit('.')
            .fold(format!("{{{field}: null, qqqqqqqqqqqq: 1}}"), |inner, step| format!("{{{step}: {inner}}}"));
        let patch = patch.replacen("null", "1", 1);
        let found = faults("inferenceService", &format!("patch: {patch}"));
        assert!(found.iter().any(|fault| fault.1.contains("`qqqqqqqqqqqq` is not a field")), "{place}: {found:?}");
        found.iter().any(|fault| fault.1.contains(&format!("`{field}` is not a field")))
    };
    let predictor = &schema["properties"]["spec"]["properties"]["predictor"]["properties"];
    for field in predictor.as_object().unwrap().keys().filter(|field| !matches!(field.as_str(), "name" | "triton")) {
        assert_eq!(unknown("spec.predictor", field), FORMATS.contains(&field.as_str()), "{field}");
    }
    for field in predictor["model"]["properties"].as_object().unwrap().keys() {
        assert!(!unknown("spec.predictor.model", field), "{field}");
    }
}

/// Fields whose types are those of `k8s-openapi`, or that only a controller judges.
const TYPES_OF_KUBERNETES: &[&str] = &[
    "baseRefs",
    "componentSpecs",
    "confidential",
    "engineResources",
    "explainer",
    "graph",
    "kvCacheOffloading",
    "lora",
    "router",
    "scaling",
    "ssl",
    "storageInitializer",
    "svcOrchSpec",
    "tracing",
    "worker",
    "template",
    "templates",
    "metrics",
    "volumeClaim",
    "submitterPodTemplate",
    "env",
    "envFrom",
    "valueFrom",
    "resources",
    "securityContext",
    "volumeMounts",
    "headService",
    "egressRules",
    "ingressRules",
    "size",
    "affinity",
    "podSecurityContext",
    "volumes",
    "sidecars",
    "initContainers",
    "tolerations",
    "lifecycle",
    "dnsConfig",
    "envSecretKeyRefs",
];

/// Lists of roles, and the field by which an element is found.
const LISTS_OF_ROLES: &[(&str, &str)] =
    &[("predictors", "[name]"), ("tasks", "[name]"), ("replicatedJobs", "[name]"), ("workerGroupSpecs", "[groupName]")];

/// Fields that Kubebench knows of a release that is later than the one of the test cluster, by the field that holds them.
const OF_LATER_RELEASES: &[(&str, &[&str])] = &[
    // KubeRay 1.7
    ("rayClusterSpec", &["historyServerOptions", "networkPolicy", "tlsOptions"]),
    ("autoscalerOptions", &["args", "command"]),
    ("gcsFaultToleranceOptions", &["backend", "storage"]),
    ("headGroupSpec", &["ingressOptions"]),
    ("[groupName]", &["priority"]),
];

/// Compares the fields at `path` with those that a finding lists, and the types of their values, and continues below.
fn compare(schema: &Value, path: &mut Vec<String>, compared: &mut usize, ask: &dyn Fn(&str) -> Vec<String>) {
    if path.last().is_some_and(|field| TYPES_OF_KUBERNETES.contains(&field.as_str())) {
        return;
    }
    // The element of a list of roles is found by a field.
    let wrap = |inner: &str| {
        path.iter().rev().fold(inner.to_owned(), |inner, step| match step.as_str() {
            "[]" => format!("[{inner}]"),
            "[name]" | "[groupName]" => format!("[{{{}: worker, {}]", step.trim_matches(['[', ']']), &inner[1..]),
            field => format!("{{{field}: {inner}}}"),
        })
    };
    if schema["items"]["properties"].is_object() {
        let of_roles = LISTS_OF_ROLES.iter().find(|(list, _)| path.last().is_some_and(|field| field == list));
        path.push(of_roles.map_or("[]", |(_, element)| element).to_owned());
        compare(&schema["items"], path, compared, ask);
        path.pop();
        return;
    }
    if let Some(fields) = schema["properties"].as_object() {
        let found = ask(&wrap("{qqqqqqqqqqqqqqqqqqqqqqqqqq: 1}"));
        let mut listed: BTreeSet<&str> = found[0]
            .split_once("write one of its fields: ")
            .unwrap_or_else(|| panic!("{path:?}: {found:?}"))
            .1
            .split(", ")
            .collect();
        let later = OF_LATER_RELEASES.iter().find(|(place, _)| path.last().is_some_and(|last| last == place));
        for field in later.into_iter().flat_map(|(_, later)| *later) {
            assert!(listed.contains(field), "{path:?} has no {field}");
            if !fields.contains_key(*field) {
                listed.remove(field);
            }
        }
        assert_eq!(listed, fields.keys().map(String::as_str).collect(), "{path:?}");
        *compared += 1;
        let key = path.last().map_or("", |step| step.trim_matches(['[', ']'])).to_owned();
        for (field, inner) in fields.iter().filter(|(field, _)| **field != key) {
            path.push(field.clone());
            compare(inner, path, compared, ask);
            path.pop();
        }
    } else if path.last().is_some_and(|field| field.ends_with("ReplicaSpecs")) {
        path.push("Worker".to_owned());
        compare(&schema["additionalProperties"], path, compared, ask);
        path.pop();
    } else {
        let (right, wrong) = match schema["type"].as_str() {
            Some("integer" | "number") => ("1", "a"),
            Some("string") => ("a", "true"),
            Some("boolean") => ("true", "a"),
            Some("array") => ("[a]", "{a: b}"),
            Some("object") if schema["additionalProperties"]["type"] == "array" => ("{cpu: [a]}", "a"),
            Some("object") => ("{cpu: 1}", "a"),
            other => panic!("{path:?}: {other:?}"),
        };
        assert_eq!(ask(&wrap(right)), [""; 0], "{path:?}");
        assert_eq!(ask(&wrap(wrong)).len(), 1, "{path:?}");
        *compared += 1;
    }
}
