//! The committed JSON Schemas: what the program generates, valid, fully described, and telling the truth about defaults.

mod sparse;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kubebench_compiler::compile::{Compilation, document_schemas};
use kubebench_compiler::workload;
use kubebench_format::schema::{DocumentKind, generate, generate_result};
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;
use kubebench_testing::snapshot::assert_file;
use serde_json::{Value, json};

use crate::house::printed_schema;
use crate::support::project::{Folder, compile, errors, files_below, mixed_files, repository};

/// Optional fields that mean something else when they are left out, so that no value says the same.
const WITHOUT_DEFAULT: &[(&str, &str)] = &[
    ("Ack /definitions/AckSpec", "benchmark expires from maxChange metric target until"),
    ("Benchmark /definitions/Artifact", "revision sha256"),
    ("Benchmark /definitions/BenchmarkSpec", "targets variants"),
    ("Benchmark /definitions/Budget", "cost gpuHours"),
    ("Benchmark /definitions/Check", "finite max metric min restarts"),
    ("Benchmark /definitions/Claim", "storageClass"),
    ("Benchmark /definitions/ElasticPolicy", "maxReplicas minReplicas rdzvHost rdzvPort"),
    ("Benchmark /definitions/EnvValue", "field"),
    ("Benchmark /definitions/FeasibleSpace", "distribution list max min step"),
    ("Benchmark /definitions/Gate", "confirm max maxRegression min"),
    ("Benchmark /definitions/GateBaseline", "branch tag value"),
    ("Benchmark /definitions/Inputs", "seed"),
    ("Benchmark /definitions/KeyValueSource", "index role"),
    ("Benchmark /definitions/LogSource", "index role"),
    ("Benchmark /definitions/Metric", "better name unit"),
    ("Benchmark /definitions/Objective", "goal"),
    ("Benchmark /definitions/OpenMetricsSource", "file url"),
    ("Benchmark /definitions/PodNetwork", "subdomain"),
    ("Benchmark /definitions/ReplicatedJob", "completions image"),
    ("Benchmark /definitions/Resources", "limits requests"),
    ("Benchmark /definitions/PaddleElasticPolicy", "maxReplicas minReplicas"),
    ("Benchmark /definitions/PrometheusSource", "preset query reduce"),
    ("Benchmark /definitions/RoleBlock", "image"),
    ("Benchmark /definitions/Runtime", "jax torch xgboost"),
    ("Benchmark /definitions/SchedulingPolicy", "minAvailable minResources priorityClass queue scheduleTimeoutSeconds"),
    ("Benchmark /definitions/Source", "duration process"),
    ("Benchmark /definitions/StorageSource", "secret"),
    ("Benchmark /definitions/ToolSource", "file index metrics prefix role"),
    ("Benchmark /definitions/Trainer", "image numProcPerNode"),
    ("Benchmark /definitions/Window", "lastN skipFirst steps"),
    (
        "Benchmark /definitions/Workload/properties/experiment",
        "maxFailedTrialCount metricsCollector parallelTrialCount",
    ),
    ("Benchmark /definitions/Workload/properties/jaxJob", "image"),
    ("Benchmark /definitions/Workload/properties/job", "completions image"),
    ("Benchmark /definitions/Workload/properties/jobSet", "image replicatedJobs"),
    ("Benchmark /definitions/Workload/properties/manifest", "failure file main object success"),
    ("Benchmark /definitions/Workload/properties/mpiJob", "image"),
    ("Benchmark /definitions/Workload/properties/notebook", "image kernel"),
    ("Benchmark /definitions/Workload/properties/paddleJob", "image"),
    ("Benchmark /definitions/Workload/properties/pytorchJob", "image"),
    ("Benchmark /definitions/Workload/properties/tfJob", "image successPolicy"),
    ("Benchmark /definitions/RayHead", "image"),
    ("Benchmark /definitions/SparkDriver", "image memoryOverhead"),
    ("Benchmark /definitions/SparkExecutor", "image memoryOverhead"),
    ("Benchmark /definitions/Workload/properties/sparkApplication", "image mainClass"),
    ("Benchmark /definitions/RayWorkerGroup", "image"),
    ("Benchmark /definitions/Placement", "spread"),
    ("Benchmark /definitions/Variant", "placement timeout"),
    ("Benchmark /definitions/VolcanoTask", "image"),
    ("Benchmark /definitions/Workload/properties/rayJob", "image rayVersion"),
    ("Benchmark /definitions/Workload/properties/volcanoJob", "image minAvailable queue"),
    ("Benchmark /definitions/Workload/properties/xgboostJob", "image"),
    ("Benchmark /definitions/Workload/properties/trainJob", "image"),
    ("Benchmark /definitions/KServeModel", "runtime storageUri"),
    ("Benchmark /definitions/KServePredictor", "image"),
    ("Benchmark /definitions/KServeTransformer", "image"),
    ("Benchmark /definitions/LanguageModel", "name"),
    ("Benchmark /definitions/Load", "image"),
    ("Benchmark /definitions/ModelParallelism", "data dataLocal pipeline tensor"),
    ("Benchmark /definitions/PrefillPods", "image"),
    ("Benchmark /definitions/Ready", "path"),
    ("Benchmark /definitions/SeldonPredictor", "image traffic"),
    ("Benchmark /definitions/Workload/properties/deployment", "image model protocol"),
    ("Benchmark /definitions/Workload/properties/inferenceService", "image protocol"),
    ("Benchmark /definitions/Workload/properties/llmInferenceService", "image router"),
    ("Benchmark /definitions/Workload/properties/seldonDeployment", "image predictors"),
    ("Benchmark /definitions/Workload/properties/seldonModel", "memory secret server"),
    ("Project /definitions/CertificateAuthorities", "configMap secret"),
    ("Project /definitions/EnvValue", "field"),
    ("Project /definitions/NetworkPolicySettings", "apiServer dns git prometheus"),
    ("Project /definitions/Pods", "priorityClass runtimeClass schedulerName"),
    ("Project /definitions/ProjectSpec", "judgeFrom requiredVersion"),
    ("Project /definitions/Queue", "frameworks kueue volcano"),
    ("Project /definitions/ReportSettings", "url"),
    ("Project /definitions/Resources", "limits requests"),
    ("Project /definitions/ResultKey", "notAfter notBefore"),
    ("Project /definitions/ResultsSettings", "remote"),
    ("Project /definitions/StepPods", "priorityClass runtimeClass schedulerName"),
    ("Project /definitions/Target", "concurrencyGroup priorityClass storageClass"),
    ("Suite /definitions/Claim", "storageClass"),
    ("Suite /definitions/SuiteDefaults", "queueTimeout repeats timeout warmups"),
    ("Suite /definitions/SuiteSpec", "targets"),
];

/// A project that says nothing, in every place where something could be said.
const PROJECT: &str = "\
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: p}
spec:
  results: {}
  defaults: {}
  targets:
    default: {apis: {}, networkPolicy: {}, pods: {}, steps: {}, queue: {kueue: ml}, prometheus: {url: 'http://p:9090'}, prices: {currency: EUR}}
";

#[test]
fn committed_schemas_are_the_generated_ones() {
    let files = fs::read_dir(repository().join("schema")).unwrap().map(|file| file.unwrap().path());
    let kinds: BTreeSet<String> = files
        .map(|file| file.file_name().unwrap().to_str().unwrap().strip_suffix(".v1.json").unwrap().to_owned())
        .collect();
    for kind in &kinds {
        assert_file(&repository().join(format!("schema/{kind}.v1.json")), &printed_schema(kind));
    }
    let known = Folder::with::<&str, &str>([]).run(&["schema", "another"]);
    let known = String::from_utf8(known.stderr).unwrap();
    let (_, known) = known.split_once("[possible values: ").unwrap();
    let known: BTreeSet<String> = known.split(']').next().unwrap().split(", ").map(str::to_owned).collect();
    assert_eq!(kinds, known);
    let sweep = ("sweep.v1.json", kubebench_results::scaling::v1::schema());
    let report = ("report.v1.json", kubebench_report::v1::schema());
    let result = ("result.v1.json", generate_result());
    for (file, generated) in kubebench_results::compare::v1::schemas().into_iter().chain([sweep, report, result]) {
        assert_eq!(printed_schema(file.split('.').next().unwrap()), format!("{generated:#}\n"));
    }
}

#[test]
fn schemas_are_valid_draft_7() {
    for kind in DocumentKind::ALL {
        let schema = schema(kind);
        assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
        assert!(jsonschema::draft7::meta::validate(&schema).is_ok(), "{}", kind.name());
        let mut unresolved = Vec::new();
        each(&schema, "", &mut |pointer, value| {
            if let Some(reference) = value.get("$ref").and_then(Value::as_str)
                && schema.pointer(reference.trim_start_matches('#')).is_none()
            {
                unresolved.push(format!("{pointer}: {reference}"));
            }
        });
        assert_eq!(unresolved, Vec::<String>::new());
    }
}

#[test]
fn the_schemas_of_answers() {
    let mut wrong = Vec::new();
    for file in ["attestation", "compare", "diff", "gate", "history", "plan", "report", "sweep", "verify"] {
        let schema: Value = serde_json::from_str(&printed_schema(file)).unwrap();
        assert!(jsonschema::draft7::meta::validate(&schema).is_ok());
        for (pointer, property) in properties(&schema) {
            let layers = layers(&schema, property);
            let description = layers.iter().find_map(|layer| layer.get("description").and_then(Value::as_str));
            let is_described = description.is_some_and(|text| text.len() >= 8 && text.ends_with(['.', '`']));
            wrong.extend((!is_described).then(|| format!("{file} {pointer}: the description is {description:?}")));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Programs of other languages read result files by this schema; nothing in it is open but what must be.
#[test]
fn the_schema_of_results() {
    let schema = generate_result();
    assert!(jsonschema::draft7::meta::validate(&schema).is_ok());
    let mut wrong = Vec::new();
    for (pointer, property) in properties(&schema) {
        let layers = layers(&schema, property);
        let description = layers.iter().find_map(|layer| layer.get("description").and_then(Value::as_str));
        let is_described = description.is_some_and(|text| text.len() >= 8 && text.ends_with(['.', '`']));
        wrong.extend((!is_described).then(|| format!("{pointer}: the description is {description:?}")));
    }
    each(&schema, "", &mut |pointer, value| {
        let is_object = value.get("type").is_some_and(|name| name == "object");
        let says = value.get("additionalProperties").is_some_and(|more| more != true);
        let is_open = ["inputs", "params"].iter().any(|name| {
            pointer == format!("/properties/{name}") || pointer.ends_with(&format!("/Metadata/properties/{name}"))
        });
        wrong.extend((is_object && says == is_open).then(|| format!("{pointer}: open or closed?")));
    });
    assert_eq!(wrong, Vec::<String>::new());
    let metric = &schema["definitions"]["Metric"];
    assert_eq!(metric["properties"]["value"]["type"], json!(["number", "null"]));
    assert!(metric["required"].as_array().unwrap().contains(&json!("value")));
}

#[test]
fn every_property_is_described_and_has_examples() {
    let mut wrong = Vec::new();
    for kind in DocumentKind::ALL {
        let schema = schema(kind);
        for (pointer, property) in properties(&schema) {
            let layers = layers(&schema, property);
            let text = |key: &str| layers.iter().find_map(|layer| layer.get(key).and_then(Value::as_str));
            let description = text("description").unwrap_or_default();
            if description.len() < 8 || !description.ends_with('.') {
                wrong.push(format!("{} {pointer}: the description is `{description}`", kind.name()));
            }
            let listed =
                |key: &str| layers.iter().any(|layer| layer[key].as_array().is_some_and(|list| !list.is_empty()));
            if !listed("examples") && !listed("enum") && !layers.iter().any(|layer| layer["type"] == "boolean") {
                wrong.push(format!("{} {pointer}: no examples", kind.name()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_object_is_closed() {
    let mut wrong = Vec::new();
    for kind in DocumentKind::ALL {
        each(&schema(kind), "", &mut |pointer, value| {
            let is_schema = value.get("properties").is_some_and(Value::is_object) && value.get("type").is_some();
            if is_schema && value.get("additionalProperties").is_none_or(|more| more == true) {
                wrong.push(format!("{} {pointer}", kind.name()));
            }
        });
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn optional_leaves_say_their_default() {
    let mut silent = BTreeSet::new();
    // Nothing in a fragment is required, and what it omits another document may say.
    for kind in DocumentKind::ALL.into_iter().filter(|kind| *kind != DocumentKind::Fragment) {
        let schema = schema(kind);
        for (pointer, property) in properties(&schema) {
            let (owner, name) = pointer.rsplit_once("/properties/").unwrap();
            let required = schema.pointer(owner).unwrap()["required"].as_array().cloned().unwrap_or_default();
            let layers = layers(&schema, property);
            let is_block = layers.iter().any(|layer| layer.get("properties").is_some());
            let has_default = layers.iter().any(|layer| layer.get("default").is_some());
            if !required.iter().any(|required| required == name) && !is_block && !has_default {
                silent.insert(format!("{} {pointer}", kind.name()));
            }
        }
    }
    let listed: BTreeSet<String> = WITHOUT_DEFAULT
        .iter()
        .flat_map(|(owner, names)| names.split(' ').map(move |name| format!("{owner}/properties/{name}")))
        .collect();
    let differ: Vec<&String> = silent.symmetric_difference(&listed).collect();
    assert_eq!(differ, [""; 0]);
}

#[test]
fn a_default_written_out_changes_nothing() {
    let project = read(PROJECT);
    let of_kueue = read(&PROJECT.replace("apis: {}", "apis: {}, values: {dataDir: /mnt}"));
    // Kueue knows neither a Job of Volcano nor what Seldon serves.
    let of_volcano = read(&PROJECT.replace("kueue: ml", "volcano: ml"));
    let mut tried = BTreeMap::<String, bool>::new();
    let mut wrong = Vec::new();
    let schema = schema(DocumentKind::Benchmark);
    for spec in specs() {
        let past_kueue = ["volcanoJob", "seldonDeployment", "seldonModel"];
        let is_volcano = past_kueue.iter().any(|kind| spec["spec"]["workload"].get(kind).is_some());
        let with_values = if is_volcano { &of_volcano } else { &of_kueue };
        let base = compile_values(with_values, &spec);
        if base.has_errors() {
            // It looks up a value of its own target.
            continue;
        }
        let base = tree(&base);
        for place in places(&schema, &spec).into_iter().filter(|place| !place.is_present) {
            let Some(default) = place.of(&schema, "default") else { continue };
            let tried = tried.entry(place.schema.clone()).or_default();
            if *tried {
                continue;
            }
            let compilation = compile_values(with_values, &place.with(&spec, default.clone()));
            if !compilation.has_errors() {
                *tried = true;
                if tree(&compilation) != base {
                    wrong.push(format!("{}: {default} is not the default of {}", place.schema, place.instance));
                }
            }
        }
    }
    let spec = &specs()[0];
    let of_project = self::schema(DocumentKind::Project);
    let with_operators = read(&PROJECT.replace("networkPolicy: {}", "networkPolicy: {operatorNamespaces: {}}"));
    let with_authorities = read(&PROJECT.replace("results: {}", "results: {ca: {configMap: corporate-ca}}"));
    for project in [&project, &with_operators, &with_authorities] {
        let base = tree(&compile_values(project, spec));
        for place in places(&of_project, project) {
            let Some(default) = place.of(&of_project, "default") else { continue };
            if place.is_present && project.pointer(&place.instance) != Some(default) {
                continue;
            }
            let compilation = compile_values(&place.with(project, default.clone()), spec);
            let same = !compilation.has_errors() && tree(&compilation) == base;
            if !same {
                wrong.push(format!("{}: {default} is not the default {:?}", place.schema, errors(&compilation)));
            }
            tried.insert(format!("project {}", place.schema), true);
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let defaults = |schema: &Value| -> BTreeSet<String> {
        let all = properties(schema).into_iter();
        all.filter(|(_, property)| property.get("default").is_some()).map(|(pointer, _)| pointer).collect()
    };
    let untried: Vec<String> =
        defaults(&schema).into_iter().filter(|pointer| !tried.get(pointer).copied().unwrap_or_default()).collect();
    assert_eq!(untried, Vec::<String>::new(), "defaults that no spec of this test leaves unsaid");
    let untried: Vec<String> = defaults(&of_project)
        .into_iter()
        .filter(|pointer| !tried.contains_key(&format!("project {pointer}")))
        .collect();
    assert_eq!(untried, ["/definitions/ProjectSpec/properties/targets", "/properties/spec"]);
}

/// Every example of a property can be written where the property is.
#[test]
fn examples_can_be_used() {
    let schema = schema(DocumentKind::Benchmark);
    let mut seen = BTreeSet::new();
    let mut variants = Vec::new();
    for spec in specs() {
        for place in places(&schema, &spec) {
            if !seen.insert(place.schema.clone()) {
                continue;
            }
            for example in place.of(&schema, "examples").and_then(Value::as_array).into_iter().flatten() {
                variants.push((format!("{} = {example}", place.instance), place.with(&spec, example.clone())));
            }
        }
    }
    // Not KB0202 and KB0207, which depend on what is next to the example.
    let codes = ["KB0201", "KB0203", "KB0204", "KB0205", "KB0206", "KB0208", "KB0314"];
    assert_eq!(refused(variants, &codes), Vec::<String>::new());
}

/// What the schema accepts the wire types accept: no value that an editor finds right is a riddle to the program.
#[test]
fn what_the_schema_accepts_is_read() {
    let schema = schema(DocumentKind::Benchmark);
    let schemas = document_schemas();
    let candidates = [
        json!(-1),
        json!(0),
        json!(1),
        json!(1.5),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("a"),
        json!("1"),
        json!("é\n☃"),
        json!(true),
        json!([]),
        json!({}),
        json!(["a"]),
        json!([1]),
        json!({"a": 1}),
        json!({"a": "b"}),
        json!([{}]),
        json!([{"a": 1}]),
    ];
    let mut seen = BTreeSet::new();
    let mut variants = Vec::new();
    for spec in specs() {
        for place in places(&schema, &spec) {
            if !seen.insert(place.schema.clone()) {
                continue;
            }
            for candidate in &candidates {
                let variant = place.with(&spec, candidate.clone());
                let source = Source::new("specs/a.yaml", variant.to_string().as_bytes());
                let Some(root) = yaml::read(SourceId::default(), &source).root else { continue };
                if schemas.validate(DocumentKind::Benchmark, &source.into(), &root).is_empty() {
                    variants.push((format!("{} = {candidate}", place.instance), variant));
                }
            }
        }
    }
    assert!(variants.len() > 300, "{}", variants.len());
    assert_eq!(refused(variants, &["KB0203"]), Vec::<String>::new());
}

/// The messages with one of these codes that the variants of specs give, all compiled together.
fn refused(variants: Vec<(String, Value)>, codes: &[&str]) -> Vec<String> {
    let mut files = vec![("kubebench.yaml".to_owned(), read(PROJECT).to_string())];
    let mut labels = BTreeMap::new();
    for (index, (label, mut spec)) in variants.into_iter().enumerate() {
        let path = format!("specs/v{index}.yaml");
        if spec.pointer("/metadata/name").is_some_and(Value::is_string) {
            spec["metadata"]["name"] = json!(format!("v{index}"));
        }
        // The targets and metrics that an example names need not exist.
        files.push((path.clone(), spec.to_string()));
        labels.insert(path, label);
    }
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let compilation = compile(&borrowed);
    let faults =
        compilation.diagnostics.iter().filter(|fault| codes.iter().any(|code| fault.code.id.starts_with(code)));
    faults
        .map(|fault| {
            let path = fault.path(&compilation.sources);
            format!("{}: {} {}", labels.get(path).map_or(path, String::as_str), fault.code.id, fault.message)
        })
        .collect()
}

/// A property of a schema at a place of a document that has the object around it.
struct Place {
    schema: String,
    instance: String,
    is_present: bool,
}

impl Place {
    /// What the schema says of the property itself, not of the type it refers to.
    fn of<'s>(&self, schema: &'s Value, key: &str) -> Option<&'s Value> {
        let property = schema.pointer(&self.schema)?;
        layers(schema, property).into_iter().find_map(|layer| layer.get(key))
    }

    /// The document with `value` here.
    fn with(&self, document: &Value, value: Value) -> Value {
        let mut document = document.clone();
        let (parent, name) = self.instance.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        parent.insert(name.replace("~1", "/").replace("~0", "~"), value);
        document
    }
}

/// Every property that the schema knows in the objects of `document`, said there or not.
fn places(schema: &Value, document: &Value) -> Vec<Place> {
    let mut places = Vec::new();
    visit(schema, "", document, "", &mut places);
    places
}

fn visit(root: &Value, schema_at: &str, document: &Value, document_at: &str, places: &mut Vec<Place>) {
    let Some(schema) = root.pointer(schema_at) else { return };
    for layer_at in layer_pointers(root, schema_at, schema) {
        let Some(layer) = root.pointer(&layer_at) else { continue };
        if let (Some(properties), Some(fields)) = (layer["properties"].as_object(), document.as_object()) {
            for name in properties.keys() {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                let place = Place {
                    schema: format!("{layer_at}/properties/{escaped}"),
                    instance: format!("{document_at}/{escaped}"),
                    is_present: fields.contains_key(name),
                };
                if let Some(value) = fields.get(name) {
                    visit(root, &place.schema, value, &place.instance, places);
                }
                places.push(place);
            }
        }
        if let (true, Some(items)) = (layer["items"].is_object(), document.as_array()) {
            for (index, item) in items.iter().enumerate() {
                visit(root, &format!("{layer_at}/items"), item, &format!("{document_at}/{index}"), places);
            }
        }
        if let (true, Some(fields)) = (layer["additionalProperties"].is_object(), document.as_object()) {
            let known = |name: &String| layer["properties"].get(name).is_some();
            for (name, value) in fields.iter().filter(|(name, _)| !known(name)) {
                let at = format!("{document_at}/{}", name.replace('~', "~0").replace('/', "~1"));
                visit(root, &format!("{layer_at}/additionalProperties"), value, &at, places);
            }
        }
    }
}

/// A schema and the ones that it refers to, outermost first.
fn layer_pointers(root: &Value, at: &str, schema: &Value) -> Vec<String> {
    let mut pointers = vec![at.to_owned()];
    let mut inner: Vec<(String, &Value)> = Vec::new();
    for (index, part) in schema["allOf"].as_array().into_iter().flatten().enumerate() {
        inner.push((format!("{at}/allOf/{index}"), part));
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.trim_start_matches('#');
        inner.extend(root.pointer(target).map(|schema| (target.to_owned(), schema)));
    }
    for (at, schema) in inner {
        pointers.extend(layer_pointers(root, &at, schema));
    }
    pointers
}

fn layers<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let mut layers = vec![schema];
    for part in schema["allOf"].as_array().into_iter().flatten() {
        layers.extend(self::layers(root, part));
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|name| root.pointer(name.trim_start_matches('#'))) {
        layers.extend(self::layers(root, target));
    }
    layers
}

/// Every property of every object of a schema, with its pointer.
fn properties(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    each(schema, "", &mut |pointer, value| {
        // A property may itself be called `properties`; none is.
        if let Some(map) = value.get("properties").and_then(Value::as_object) {
            found.extend(map.iter().map(|(name, property)| (format!("{pointer}/properties/{name}"), property)));
        }
    });
    found
}

/// Calls `visit` with every schema in `schema`; examples and defaults are data and are left out.
fn each<'v>(value: &'v Value, pointer: &str, visit: &mut impl FnMut(&str, &'v Value)) {
    visit(pointer, value);
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, child)| (key.replace('/', "~1"), child)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(index, child)| (index.to_string(), child)).collect(),
        _ => Vec::new(),
    };
    for (key, child) in children {
        let is_data = matches!(key.as_str(), "examples" | "default" | "enum") && !pointer.ends_with("/properties");
        if !is_data {
            each(child, &format!("{pointer}/{key}"), visit);
        }
    }
}

fn schema(kind: DocumentKind) -> Value {
    generate(kind, &workload::schemas())
}

fn specs() -> Vec<Value> {
    let mixed =
        mixed_files().into_iter().filter(|(path, text)| path.starts_with("specs/") && text.contains("kind: Benchmark"));
    let mut specs: Vec<Value> = sparse::SPECS.iter().map(|text| read(text)).collect();
    let header = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: sparse}\n";
    specs.extend(
        sparse::WORKLOADS.iter().map(|workload| read(&format!("{header}spec: {{workload: {{{workload}}}}}\n"))),
    );
    specs.extend(mixed.map(|(_, text)| read(&text)));
    for file in files_below(&repository().join("specs")) {
        let spec = read(&fs::read_to_string(file).unwrap());
        specs.extend(Some(spec).filter(|spec| spec["kind"] == "Benchmark"));
    }
    for spec in &mut specs {
        spec["spec"].as_object_mut().unwrap().remove("targets");
    }
    specs
}

fn read(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

fn compile_values(project: &Value, spec: &Value) -> Compilation {
    let (project, spec) = (project.to_string(), spec.to_string());
    // Examples name files that are to be there.
    let files = [("kubebench.yaml", project.as_str()), ("specs/a.yaml", &spec)];
    compile(&[&files[..], &[("notebooks/a.ipynb", "{}"), ("pipelines/a.yaml", sparse::WORKFLOW)]].concat())
}

/// The files but for the rules, which hold the spec as it is written.
fn tree(compilation: &Compilation) -> Vec<(String, String)> {
    let files = compilation.tree.iter().filter(|(path, _)| !path.ends_with("/rules.yaml"));
    files.map(|(path, file)| (path.to_owned(), file.body().to_owned())).collect()
}
