//! The schemas for editors: they find what one value can be wrong in, and take all that `validate` takes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kubebench_compiler::compile::Compilation;
use kubebench_syntax::diag::Severity;
use serde_json::{Value, json};

use crate::house::printed_schema;
use crate::support::project::{compile, files_below, mixed_files, repository};

const PROJECT: &str = "\
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: team}
spec:
  image: ghcr.io/kubebench/kubebench:0.1.0
  results: {branch: kubebench/results, remote: https://git.example/team/b.git}
  lints: {KB0401: error}
  requiredVersion: '>=0.1, <0.2'
  defaults: {timeout: 2h, claimSize: 20Gi}
  targets:
    cpu: {cluster: lab, namespace: bench, priorityClass: high, concurrency: 2, prometheus: {url: 'http://prometheus:9090'}}
";

const SPEC: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: resnet50, labels: {team: vision}}
spec:
  targets: [cpu]
  repeats: 5
  timeout: 1h
  queueTimeout: 6h
  schedule: {cron: '0 3 * * 1', timezone: Europe/Berlin}
  parameters: {epochs: 2}
  matrix: {axes: {batch: [64, 128]}, exclude: [{batch: 128}]}
  budget: {gpuHours: 100}
  workload:
    job:
      image: registry.example/train@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb
      command: [./train]
      args: [--batch, '${{ matrix.batch }}', --epochs, '${{ parameters.epochs }}']
      env: {LEVEL: info, TOKEN: {secret: {name: hf, key: token}}, NODE: {field: spec.nodeName}}
      resources: {cpu: 8, memory: 32Gi}
      parallelism: 1
      pod: {terminationGracePeriodSeconds: 5, tolerations: [{key: gpu, operator: Exists}], affinity: null}
      container: {workingDir: /src, ports: [{containerPort: 8080}]}
  metrics:
    - {name: throughput, unit: images/s, better: higher, primary: true, reduce: median, from: {log: {pattern: 'rate (?P<value>[^ ]+)', role: worker}}, window: {skipFirst: 5}}
    - {name: loss, unit: '1', better: lower, from: {json: {file: out/metrics.json, pointer: /train/loss}}}
    - {from: {tool: {name: fio, file: fio.json, metrics: [read_iops]}}}
    - {name: watts, unit: W, better: lower, from: {prometheus: {preset: dcgm-power}}}
  checks: [{metric: loss, finite: true}, {restarts: 0}]
  gates: [{metric: throughput, maxRegression: 3%}]
  results: {claim: {size: 20Gi, accessModes: [ReadWriteMany]}, mountInJob: true, logLimit: 1Gi}
";

/// One value of the spec or the project file changed: what it is, and to what.
const MISTAKES: &[(&str, &str)] = &[
    ("apiVersion: kubebench.dev/v1\nkind: Benchmark", "apiVersion: v1\nkind: Benchmark"),
    ("name: resnet50", "name: resnet_50"),
    ("name: resnet50", "name: ResNet"),
    ("name: resnet50", "name: a123456789012345678901234567890123456789012345678901234567890123456789"),
    ("labels: {team: vision}", "labels: {team: 'a b'}"),
    ("labels: {team: vision}", "annotations: {team: vision}"),
    ("targets: [cpu]", "targets: []"),
    ("targets: [cpu]", "targets: cpu"),
    ("targets: [cpu]", "targets: [GPU_EU]"),
    ("targets: [cpu]", "targets: ['${{ matrix.batch }}']"),
    ("repeats: 5", "repeats: 0"),
    ("repeats: 5", "repeats: five"),
    ("repeats: 5", "repeat: 5"),
    ("repeats: 5", "repeats: 2.5"),
    ("timeout: 1h\n", "timeout: 60 minutes\n"),
    ("timeout: 1h\n", "timeout: 3600\n"),
    ("timeout: 1h\n", "timeout: 1.5h\n"),
    ("timeout: 1h\n", "timeout: 0s\n"),
    ("queueTimeout: 6h", "queueTimeout: 6 h"),
    ("cron: '0 3 * * 1'", "cron: '0 0 3 * * 1'"),
    ("cron: '0 3 * * 1'", "cron: '61 3 * * 1'"),
    ("cron: '0 3 * * 1'", "cron: '0 3 * * 7'"),
    ("cron: '0 3 * * 1'", "cron: nightly"),
    ("timezone: Europe/Berlin", "timezone: Berlin"),
    ("schedule: {cron: '0 3 * * 1', timezone: Europe/Berlin}", "schedule: '0 3 * * 1'"),
    ("parameters: {epochs: 2}", "parameters: {epochs: '${{ target.name }}'}"),
    ("axes: {batch: [64, 128]}", "axes: {batch: []}"),
    ("axes: {batch: [64, 128]}", "batch: [64, 128]"),
    ("axes: {batch: [64, 128]}", "axes: {batch: 64}"),
    ("gpuHours: 100", "gpuHours: -1"),
    (
        "image: registry.example/train@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb",
        "image: Train:1.4.0",
    ),
    (
        "image: registry.example/train@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb",
        "image: 'train:{{ .Values.tag }}'",
    ),
    ("@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb", "@sha256:abc"),
    ("command: [./train]", "command: ./train --batch 64"),
    ("'${{ matrix.batch }}'", "'${{ matirx.batch }}'"),
    ("'${{ matrix.batch }}'", "'${{ matrix.batch'"),
    ("'${{ matrix.batch }}'", "'${{ matrix.batch * 2 }}'"),
    ("LEVEL: info", "'LEVEL 1': info"),
    ("LEVEL: info", "LEVEL: {value: info}"),
    ("field: spec.nodeName", "field: spec.node"),
    ("secret: {name: hf, key: token}", "secret: hf"),
    ("secret: {name: hf, key: token}", "secretKeyRef: {name: hf, key: token}"),
    ("memory: 32Gi", "memory: 32GB"),
    ("memory: 32Gi", "memory: 32"),
    ("cpu: 8", "cpu: 1.5.3"),
    ("cpu: 8", "gpu: 8"),
    ("parallelism: 1", "nodeSelector: {disk: ssd}"),
    ("terminationGracePeriodSeconds: 5", "terminationGracePeriod: 5"),
    ("terminationGracePeriodSeconds: 5", "terminationGracePeriodSeconds: five"),
    ("{key: gpu, operator: Exists}", "{key: gpu, operater: Exists}"),
    ("tolerations: [{key: gpu, operator: Exists}]", "tolerations: {key: gpu}"),
    ("workingDir: /src", "workDir: /src"),
    ("containerPort: 8080", "port: 8080"),
    ("better: higher", "better: up"),
    ("primary: true", "primary: yes please"),
    ("reduce: median", "reduce: p100"),
    ("(?P<value>[^ ]+)", "([^ ]+)"),
    ("log: {pattern: 'rate (?P<value>[^ ]+)', role: worker}", "log: 'rate (?P<value>[^ ]+)'"),
    ("window: {skipFirst: 5}", "window: {skipFirst: -5}"),
    ("file: out/metrics.json", "file: /out/metrics.json"),
    ("pointer: /train/loss", "pointer: $.train.loss"),
    ("tool: {name: fio, file: fio.json, metrics: [read_iops]}", "tool: fio"),
    ("name: fio,", "name: vllm-bench,"),
    ("metrics: [read_iops]", "metrics: [iops]"),
    ("preset: dcgm-power", "preset: gpu-power"),
    ("checks: [{metric: loss, finite: true}", "checks: [{metric: loss}"),
    ("maxRegression: 3%", "maxRegression: 0.03"),
    ("maxRegression: 3%", "maxRegression: 300%"),
    ("gates: [{metric: throughput, maxRegression: 3%}]", "gates: {metric: throughput, maxRegression: 3%}"),
    ("gates: [{metric: throughput, maxRegression: 3%}]", "gates: [{metric: throughput}]"),
    ("size: 20Gi", "size: 20"),
    ("accessModes: [ReadWriteMany]", "accessModes: [RWX]"),
    ("logLimit: 1Gi", "logLimit: 1gi"),
    ("metadata: {name: team}", "metadata: {name: team, namespace: bench}"),
    ("branch: kubebench/results", "branch: refs/heads/results"),
    ("remote: https://git.example/team/b.git", "remote: https://user:token@git.example/b.git"),
    ("KB0401: error", "KB0101: error"),
    ("KB0401: error", "KB0401: deny"),
    ("requiredVersion: '>=0.1, <0.2'", "requiredVersion: latest"),
    ("namespace: bench,", "namespace: Bench_1,"),
    ("concurrency: 2", "concurrency: many"),
    ("'http://prometheus:9090'", "'prometheus:9090'"),
    ("claimSize: 20Gi", "claimSize: 20 GB"),
];

/// Mistakes that no schema can know, and why.
const UNKNOWABLE: &[(&str, &str, &str)] = &[
    ("targets: [cpu]", "targets: [gpu]", "the targets are in another file"),
    ("'${{ matrix.batch }}'", "'${{ matrix.batchSize }}'", "the axes are other fields"),
    ("'${{ parameters.epochs }}'", "'${{ parameters.epoch }}'", "the parameters are other fields"),
    ("exclude: [{batch: 128}]", "exclude: [{batch: 256}]", "the axes are other fields"),
    ("gates: [{metric: throughput", "gates: [{metric: images", "the metrics are other fields"),
    ("metric: loss, finite: true", "metric: accuracy, finite: true", "the metrics are other fields"),
    ("role: worker", "role: launcher", "the roles are those of the workload"),
    ("- {name: loss,", "- {name: throughput,", "two metrics of one name are other elements"),
    ("(?P<value>[^ ]+)", "(?P<value>[^ ]+)(", "the syntax of regular expressions is no regular language"),
    ("gpuHours: 100", "gpuHours: 100\n  queueTimeout: 2h", "a key that comes twice is lost when JSON is made"),
    ("repeats: 5", "repeats: &n 5", "anchors are lost when JSON is made"),
    ("primary: true", "primary: yes", "an editor reads YAML 1.2 or 1.1, where this is text or a boolean"),
];

fn validators() -> BTreeMap<String, jsonschema::Validator> {
    let kinds = ["Benchmark", "Suite", "Project", "Ack"];
    let validator = |kind: &str| {
        let schema: Value = serde_json::from_str(&printed_schema(&kind.to_lowercase())).unwrap();
        assert!(jsonschema::draft7::meta::validate(&schema).is_ok(), "{kind}");
        jsonschema::draft7::new(&schema).unwrap()
    };
    kinds.into_iter().map(|kind| (kind.to_owned(), validator(kind))).collect()
}

/// Returns what the schema of its kind has against a document.
fn refusals(validators: &BTreeMap<String, jsonschema::Validator>, document: &Value) -> Vec<String> {
    let kind = document["kind"].as_str().unwrap_or("Benchmark");
    let validator = validators.get(kind).unwrap_or(&validators["Benchmark"]);
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn read(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

fn codes_of_errors(compilation: &Compilation) -> BTreeSet<&'static str> {
    let errors = compilation.diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
    errors.map(|fault| fault.code.id).collect()
}

/// Returns the project and the spec with a value of one of them changed.
fn changed(from: &str, to: &str) -> (String, String) {
    let (project, spec) = (PROJECT.replacen(from, to, 1), SPEC.replacen(from, to, 1));
    assert!((project == PROJECT) != (spec == SPEC), "{from}: in one of the two");
    (project, spec)
}

#[test]
fn what_is_written_in_this_repository_is_taken() {
    let validators = validators();
    let mut documents: Vec<(String, Value)> = vec![("PROJECT".to_owned(), read(PROJECT))];
    let ours = files_below(&repository().join("specs")).into_iter().chain([repository().join("kubebench.yaml")]);
    documents.extend(ours.map(|file| (file.display().to_string(), read(&fs::read_to_string(&file).unwrap()))));
    let is_ours = |path: &str| path.starts_with("specs/") || path == "kubebench.yaml";
    documents
        .extend(mixed_files().into_iter().filter(|(path, _)| is_ours(path)).map(|(path, text)| (path, read(&text))));
    assert!(documents.len() > 40, "{}", documents.len());
    let refused: Vec<(String, Vec<String>)> = documents
        .into_iter()
        .map(|(name, document)| (name, refusals(&validators, &document)))
        .filter(|(_, refusals)| !refusals.is_empty())
        .collect();
    assert_eq!(refused, []);
}

#[test]
fn mistakes_of_one_value_are_found() {
    let validators = validators();
    let mut missed: Vec<&str> = Vec::new();
    for (from, to) in MISTAKES {
        let (project, spec) = changed(from, to);
        let compilation = compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec)]);
        assert!(compilation.has_errors(), "{to} is no mistake");
        let is_found = [&project, &spec].iter().any(|text| !refusals(&validators, &read(text)).is_empty());
        missed.extend((!is_found).then_some(*to));
    }
    assert!(MISTAKES.len() > 68);
    assert_eq!(missed, [""; 0]);
}

#[test]
fn mistakes_that_a_schema_cannot_know_are_named() {
    let validators = validators();
    for (from, to, why) in UNKNOWABLE {
        let (project, spec) = changed(from, to);
        let compilation = compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec)]);
        assert!(compilation.has_errors(), "{to} is no mistake");
        // What is lost when JSON is made has no JSON.
        let Ok(document) = serde_yaml::from_str::<Value>(&spec) else { continue };
        let of_reader = why.contains("YAML");
        assert!(of_reader || refusals(&validators, &document).is_empty(), "{to} can be known: {why}");
    }
}

/// Codes of mistakes that are about other fields, other files, or more than a form.
const ABOUT_OTHERS: &[&str] = &[
    "KB0110", "KB0301", "KB0305", "KB0306", "KB0307", "KB0308", "KB0311", "KB0312", "KB0313", "KB0314", "KB0315",
    "KB0324", "KB0340", "KB0343", "KB0353", "KB0354", "KB0358", "KB0359", "KB0371", "KB0372", "KB0419",
];

/// Every value of every spec, wrong in one of several ways.
#[test]
fn most_values_that_validate_refuses_are_refused() {
    let validators = validators();
    let all = mixed_files();
    let others: Vec<(&str, &str)> = all
        .iter()
        .filter(|(path, _)| !path.starts_with("specs/"))
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let (mut tried, mut found, mut wrongly) = (0, 0, Vec::new());
    let mut missed = BTreeMap::<&str, Vec<String>>::new();
    for (path, text) in all.iter().filter(|(path, text)| path.starts_with("specs/") && text.contains("kind: Benchmark"))
    {
        let spec = read(text);
        let mut places = Vec::new();
        leaves(&spec, String::new(), &mut places);
        for (index, place) in places.iter().enumerate() {
            let mutant = mutant(&spec, place, index);
            let text = mutant.to_string();
            let compilation = compile(&[&others[..], &[(path.as_str(), &text)]].concat());
            let codes = codes_of_errors(&compilation);
            let refusals = refusals(&validators, &mutant);
            if codes.is_empty() {
                wrongly.extend(refusals.first().map(|refusal| format!("{path} {place}: {refusal}")));
            } else if !refusals.is_empty() {
                (tried, found) = (tried + 1, found + 1);
            } else if let Some(code) = codes.iter().find(|code| !ABOUT_OTHERS.contains(code)) {
                tried += 1;
                missed.entry(code).or_default().push(format!("{path} {place}"));
            }
        }
    }
    assert_eq!(wrongly, Vec::<String>::new());
    assert!(tried > 300, "{tried}");
    assert!(found * 100 >= tried * 92, "{found} of {tried}: {missed:#?}");
}

/// Adds the places of all scalars below `value`.
fn leaves(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            leaves(value, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| leaves(value, format!("{at}/{index}"), places));
        }
        _ => places.push(at),
    }
}

/// Returns the document with another value at `place`, of a kind that `turn` says.
fn mutant(document: &Value, place: &str, turn: usize) -> Value {
    let mut mutant = document.clone();
    let value = mutant.pointer_mut(place).unwrap();
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    *value = match turn % 9 {
        0 => json!(format!("{text} x")),
        1 => json!([text]),
        2 => json!({ "value": text }),
        3 => json!(text.to_uppercase() + "_"),
        4 => json!("${{ matirx.a }}"),
        5 => json!(-1),
        6 => json!(""),
        7 => json!(format!("/{text}")),
        _ => json!(true),
    };
    mutant
}
