//! `crates/compiler/src/api/fields.json` has the fields of custom kinds as their CRDs have them.
//!
//! `SNAPSHOTS=overwrite cargo test` writes the file where `tests/tools/build crds` made the CRDs, and nowhere else. A kind without
//! a CRD keeps what it has; a new kind is generated once its key is there with `{}`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use kubebench_testing::snapshot::assert_file;
use serde_json::{Map, Value, json};

use crate::support::judges::{are_crds_built, crd_schema, has_crds};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/compiler/src/api/fields.json");

/// Kinds of which the file knows fields of a release later than the one of the test cluster: `compare` in `patches.rs` lists them.
const OF_LATER_RELEASES: &[&str] = &["ray.io/v1 RayJob"];

/// What only a controller validates, by the end of the path that leads to it.
const ANY: &[&str] = &[
    ".archiveLocation",
    ".artifacts",
    ".autoScaling",
    ".templates.data",
    ".deploymentStrategy",
    ".explainer",
    ".graph",
    ".hooks",
    ".hpaSpec",
    ".http.spec",
    ".inline",
    ".kedaSpec",
    ".labelsFrom",
    ".lora",
    ".manifestFrom",
    ".memoize",
    ".parameters",
    ".plugin",
    ".podDisruptionBudget",
    ".retryStrategy.affinity",
    ".scaling",
    ".storageInitializer",
    ".svcOrchSpec",
    ".templateDefaults",
    ".withItems",
    ".workerSpec",
    "InferenceService.canary",
    "Workflow.metrics",
    "Workflow.templates.metrics",
];

/// Types of Kubernetes by the end of the path that leads to them; the first counts, and an empty one is no type of Kubernetes.
const TYPES: &[(&str, &str)] = &[
    ("Workflow.securityContext", "PodSecurityContext"),
    ("Workflow.templates", ""),
    ("Workflow.templates.initContainers", ""),
    ("Workflow.templates.securityContext", "PodSecurityContext"),
    ("Workflow.templates.sidecars", ""),
    ("Workflow.templates.volumes", "[Volume]"),
    ("Workflow.volumeClaimTemplates", "[PersistentVolumeClaim]"),
    ("Workflow.volumes", "[Volume]"),
    (".affinity", "Affinity"),
    (".dnsConfig", "PodDNSConfig"),
    (".egressRules", "[NetworkPolicyEgressRule]"),
    (".engineResources", "ResourceRequirements"),
    (".env", "[EnvVar]"),
    (".envFrom", "[EnvFromSource]"),
    (".envSecretKeyRefs", "{SecretKeySelector}"),
    (".headService", "Service"),
    (".ingressRules", "[NetworkPolicyIngressRule]"),
    (".initContainers", "[Container]"),
    (".lifecycle", "Lifecycle"),
    (".metadata", "ObjectMeta"),
    (".metrics", "[MetricSpec]"),
    (".podSecurityContext", "PodSecurityContext"),
    (".pvc.spec", "PersistentVolumeClaimSpec"),
    (".replicatedJobs.template", "JobTemplateSpec"),
    (".resources", "ResourceRequirements"),
    (".resourcesPerNode", "ResourceRequirements"),
    (".securityContext", "SecurityContext"),
    (".sidecars", "[Container]"),
    (".submitterPodTemplate", "PodTemplateSpec"),
    ("LLMInferenceService.template", "PodSpec"),
    (".prefill.template", "PodSpec"),
    (".scheduler.template", "PodSpec"),
    (".trainingRuntimeSpec.template", ""),
    (".template", "PodTemplateSpec"),
    (".templates", "[PersistentVolumeClaim]"),
    (".tolerations", "[Toleration]"),
    (".valueFrom", "EnvVarSource"),
    (".volumeClaim", "PersistentVolumeClaimSpec"),
    (".volumeMounts", "[VolumeMount]"),
    ("SparkApplication.volumes", "[Volume]"),
];

/// What the training operator takes of texts that its CRDs leave open: `common_types.go` of `kubeflow.org/v1`.
const WORDS: &[(&str, &[&str])] = &[
    ("ReplicaSpecs.restartPolicy", &["Always", "ExitCode", "Never", "OnFailure"]),
    ("Policy.cleanPodPolicy", &["All", "None", "Running"]),
];

/// Lists of roles, and the field by which an element is found.
const LISTS_OF_ROLES: &[(&str, &str)] = &[
    ("JobSet.replicatedJobs", "name"),
    ("Job.tasks", "name"),
    ("SeldonDeployment.predictors", "name"),
    (".workerGroupSpecs", "groupName"),
];

/// What KServe keeps for the specs of its first releases; `model` says the same, and no patch takes them.
const DEPRECATED: &[(&str, &[&str])] = &[(
    "InferenceService.predictor",
    &[
        "huggingface",
        "lightgbm",
        "name",
        "onnx",
        "paddle",
        "pmml",
        "pytorch",
        "sklearn",
        "tensorflow",
        "triton",
        "xgboost",
    ],
)];

fn by_path<T: Copy>(table: &[(&str, T)], path: &str) -> Option<T> {
    table.iter().find(|(end, _)| path.ends_with(end)).map(|(_, found)| *found)
}

/// Fields of types that custom kinds extend, as the operator embeds them elsewhere.
struct Embedded {
    container: BTreeSet<String>,
    pod: BTreeSet<String>,
}

/// The type of a whole number, and the least and the greatest that a schema allows where those are not the type's own.
fn integer(schema: &Value) -> String {
    let format = schema["format"].as_str().unwrap_or("int64");
    let is_own = |bound: &i64| [i32::MIN, i32::MAX].map(i64::from).contains(bound);
    let bound = |key: &str| schema[key].as_i64().filter(|bound| !is_own(bound)).map(|bound| bound.to_string());
    match (bound("minimum"), bound("maximum")) {
        (None, None) => format.to_owned(),
        (least, most) => format!("{format} {}..{}", least.unwrap_or_default(), most.unwrap_or_default()),
    }
}

/// The type of a text, which is one of a few words where a schema or [`WORDS`] has them.
fn words(schema: &Value, path: &str) -> String {
    let listed = schema["enum"].as_array().map(|words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    match listed.or_else(|| by_path(WORDS, path).map(<[_]>::to_vec)) {
        // Go writes a text that is not given as an empty one.
        Some(words) => {
            format!("= {}", words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" | "))
        }
        None => "string".to_owned(),
    }
}

fn names(schema: &Value) -> BTreeSet<String> {
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

impl Embedded {
    fn new() -> Self {
        let of_servers = crd_schema("serving.kserve.io", "v1alpha2", "LLMInferenceService").expect("KServe's CRDs");
        let pod = &of_servers["properties"]["spec"]["properties"]["template"];
        Self { container: names(&pod["properties"]["containers"]["items"]), pod: names(pod) }
    }

    /// The type that has most of the fields of an object, and what else the object has.
    fn of(&self, fields: &BTreeSet<String>) -> Option<(&'static str, BTreeSet<String>)> {
        let all = [("Container", &self.container, "livenessProbe"), ("PodSpec", &self.pod, "enableServiceLinks")];
        let (name, known, _) = all.into_iter().find(|(_, _, telling)| fields.contains(*telling))?;
        Some((name, fields - known))
    }

    fn type_of(&self, schema: &Value, path: &str) -> Value {
        let element = ["items", "additionalProperties"].into_iter().map(|key| &schema[key]).find(|of| of.is_object());
        let is_structured =
            |of: &Value| of["properties"].is_object() || of["x-kubernetes-preserve-unknown-fields"] == true;
        if is_structured(schema) || element.is_some_and(is_structured) {
            let shape = match schema["type"].as_str() {
                Some("object") => "{any}",
                Some("array") => "[any]",
                _ => "any",
            };
            let any = ANY.iter().any(|end| path.ends_with(end)).then_some(shape);
            if let Some(known) = any.or_else(|| by_path(TYPES, path)).filter(|known| !known.is_empty()) {
                return known.into();
            }
        }
        if schema["properties"].is_object() {
            return self.fields_of(schema, path);
        }
        let element = element.map(|element| self.type_of(element, path));
        match (schema["type"].as_str(), element) {
            (Some("array"), Some(Value::String(element))) => format!("[{element}]").into(),
            (Some("array"), Some(mut element)) => {
                if let Some(key) = by_path(LISTS_OF_ROLES, path) {
                    element["$role"] = key.into();
                }
                json!([element])
            }
            (Some("object"), Some(role)) if path.ends_with("ReplicaSpecs") => json!({ "$role": role }),
            (Some("object"), Some(Value::String(element))) => format!("{{{element}}}").into(),
            (Some("integer"), None) => integer(schema).into(),
            (Some("string"), None) => words(schema, path).into(),
            (Some(plain @ ("boolean" | "number")), None) => plain.into(),
            // Only a quantity has a pattern.
            (None, None) if schema["x-kubernetes-int-or-string"] == true => {
                if schema["pattern"].is_string() { "quantity" } else { "IntOrString" }.into()
            }
            other => panic!("{path}: {other:?}: add its type to `TYPES`"),
        }
    }

    fn fields_of(&self, schema: &Value, path: &str) -> Value {
        let all = names(schema);
        let embedded = self.of(&all);
        let mut fields = Map::new();
        if let Some((name, beside)) = &embedded {
            if beside.is_empty() {
                return (*name).into();
            }
            fields.insert("$beside".to_owned(), (*name).into());
        }
        let deprecated = by_path(DEPRECATED, path).unwrap_or_default();
        let own = embedded.map_or(all, |(_, beside)| beside);
        for name in own {
            let of = self.type_of(&schema["properties"][&name], &format!("{path}.{name}"));
            let is_deprecated = deprecated.contains(&name.as_str());
            fields.insert(name, if is_deprecated { json!({ "$deprecated": of }) } else { of });
        }
        Value::Object(fields)
    }
}

/// Adds the fields that `known` has and `fields` does not.
fn add_missing(fields: &mut Value, known: &Value) {
    match (fields, known) {
        (Value::Object(fields), Value::Object(known)) => {
            for (name, known) in known {
                add_missing(fields.entry(name).or_insert_with(|| known.clone()), known);
            }
        }
        (Value::Array(fields), Value::Array(known)) => {
            fields.iter_mut().zip(known).for_each(|(fields, known)| add_missing(fields, known));
        }
        _ => {}
    }
}

/// Writes one field a line, and on one line what has room there.
fn write(of: &Value, indent: usize) -> String {
    let line = of.to_string().replace("\":", "\": ").replace(",\"", ", \"");
    let fields = match of {
        Value::Array(elements) => return format!("[{}]", write(&elements[0], indent)),
        Value::Object(fields) if indent == 0 || indent + line.len() > 118 => fields,
        _ => return line,
    };
    let inner = " ".repeat(indent + 2);
    let fields = fields.iter().map(|(name, of)| format!("{inner}\"{name}\": {}", write(of, indent + 2)));
    format!("{{\n{}\n{}}}", fields.collect::<Vec<_>>().join(",\n"), " ".repeat(indent))
}

#[test]
fn fields_are_those_of_the_crds() {
    if !has_crds("fields_are_those_of_the_crds") {
        return;
    }
    let embedded = Embedded::new();
    let text = fs::read_to_string(FILE).unwrap();
    let committed: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let mut generated = Map::new();
    for (key, known) in committed {
        let schema = match *key.split([' ', '/']).collect::<Vec<_>>() {
            [group, version, kind] => crd_schema(group, version, kind),
            _ => None,
        };
        // Katib's definition of an Experiment says nothing of its fields.
        let mut fields = match schema.filter(|schema| schema["properties"]["spec"]["properties"].is_object()) {
            Some(schema) => embedded.type_of(&schema["properties"]["spec"], key.rsplit(' ').next().unwrap()),
            None => known.clone(),
        };
        if OF_LATER_RELEASES.contains(&key.as_str()) {
            add_missing(&mut fields, &known);
        }
        generated.insert(key, fields);
    }
    let generated = write(&Value::Object(generated), 0) + "\n";
    if are_crds_built() {
        assert_file(Path::new(FILE), &generated);
    } else {
        assert_eq!(text, generated, "`tests/tools/build crds`, then `SNAPSHOTS=overwrite` updates it");
    }
}

/// A kind that the file lacks would have every patch refused, and no field of a manifest checked.
#[test]
fn every_kind_has_fields() {
    let known: BTreeMap<String, Value> = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
    for api in kubebench_compiler::workload::KINDS.iter().map(|kind| &kind.api) {
        assert!(known.contains_key(&format!("{} {}", api.api_version, api.kind)), "{}", api.kind);
    }
}
