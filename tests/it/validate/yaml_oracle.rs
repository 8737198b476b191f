//! Foreign readers read what the writer wrote: `PyYAML` (YAML 1.1; its own parser and libyaml) and kubectl (the reader
//! of every Kubernetes tool).

#[path = "../../../crates/syntax/src/yaml/write/corpus.rs"]
mod corpus;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use corpus::{Random, strings};
use kubebench_syntax::yaml::write;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::support::judges::{oracle, python_with_yaml};

const CORPUS: usize = 20_000;
const PER_FILE: usize = 5_000;

/// Prints one line of JSON for each file and each parser: what the parser is called and what it read.
const PYYAML: &str = "
import json, sys, yaml
parsers = [yaml.SafeLoader] + ([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])
for path in sys.argv[1:]:
    for parser in parsers:
        with open(path, 'rb') as file:
            document = yaml.load(file, parser)
        print(json.dumps([parser.__name__, document], default=repr))
";

#[test]
fn oracle_pyyaml_reads_back_adversarial_strings() {
    let Some(python) = python_with_yaml("oracle_pyyaml_reads_back_adversarial_strings") else { return };
    let corpus = Corpus::write();
    let output = run(Command::new(python).args(["-c", PYYAML]).args(&corpus.paths));
    let mut read = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        read.push(serde_json::from_str::<(String, Value)>(line).unwrap());
    }
    let parsers = read.len() / corpus.objects.len();
    assert!(parsers >= 1 && read.len() == parsers * corpus.objects.len());
    for ((parser, read), object) in read.iter().zip(corpus.objects.iter().flat_map(|object| vec![object; parsers])) {
        assert_same(parser, object, read);
    }
}

#[test]
fn oracle_kubectl_reads_back_adversarial_strings() {
    let Some(program) = oracle("oracle_kubectl_reads_back_adversarial_strings", "kubectl") else { return };
    let corpus = Corpus::write();
    for (object, path) in corpus.objects.iter().zip(&corpus.paths) {
        let mut kubectl = Command::new(&program);
        kubectl.env("KUBECONFIG", corpus.folder.path().join("none"));
        kubectl.args(["patch", "--local", "--type=merge", "--patch={}", "--output=json", "--filename"]).arg(path);
        let read = serde_json::from_slice(&run(&mut kubectl).stdout).unwrap();
        assert_same("kubectl", object, &read);
    }
}

/// kustomize, and Flux with it, reads by a younger go-yaml than kubectl, and writes what it read: blocks come through,
/// while some quoted texts do not, however they are quoted.
#[test]
fn oracle_kustomize_reads_back_adversarial_strings() {
    let Some(program) = oracle("oracle_kustomize_reads_back_adversarial_strings", "kustomize") else { return };
    let folder = tempfile::tempdir().unwrap();
    let texts = strings(CORPUS).into_iter().filter(|text| write(&json!({ "k": text })).starts_with("k: |")).enumerate();
    let object = config_map("data", texts.map(|(n, text)| (format!("k{n}"), json!(text))));
    fs::write(folder.path().join("a.yaml"), write(&object)).unwrap();
    fs::write(folder.path().join("kustomization.yaml"), "resources: [a.yaml]\n").unwrap();
    let output = Command::new(program).arg("build").arg(folder.path()).output().unwrap();
    // It prints all that it read, and then what is wrong.
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{}",
        said.chars().skip(said.chars().count().saturating_sub(300)).collect::<String>()
    );
    let read: Value = serde_yaml::from_slice(&output.stdout).unwrap();
    assert_same("kustomize", &object, &read);
}

/// `ConfigMap`s that hold the adversarial strings, and the files they were written to.
struct Corpus {
    folder: TempDir,
    objects: Vec<Value>,
    paths: Vec<PathBuf>,
}

impl Corpus {
    fn write() -> Self {
        let strings = strings(CORPUS);
        let mut objects = Vec::new();
        for part in strings.chunks(PER_FILE) {
            objects.push(config_map("data", part.iter().enumerate().map(|(n, text)| (format!("k{n}"), json!(text)))));
            objects.push(config_map(
                "data",
                part.iter().enumerate().map(|(n, text)| (text.clone(), json!(format!("v{n}")))),
            ));
        }
        let mut random = Random(42);
        objects.push(config_map("trees", (0..300).map(|n| (format!("k{n}"), tree(&strings, &mut random, 5)))));

        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..objects.len()).map(|n| folder.path().join(format!("{n}.yaml"))).collect();
        for (object, path) in objects.iter().zip(&paths) {
            fs::write(path, write(object)).unwrap();
        }
        Self { folder, objects, paths }
    }
}

fn config_map(field: &str, entries: impl Iterator<Item = (String, Value)>) -> Value {
    let entries: Map<String, Value> = entries.collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "adversarial"}, field: entries})
}

/// Lists and mappings in each other, so that literal blocks and long keys are at every depth.
fn tree(strings: &[String], random: &mut Random, depth: usize) -> Value {
    let text = |random: &mut Random| strings.get(random.below(strings.len())).cloned().unwrap_or_default();
    match random.below(if depth == 0 { 4 } else { 8 }) {
        0 => [json!("l\nm\n"), json!("l\n\n  m"), json!(7), json!(true), json!(-1.5)][random.below(5)].clone(),
        1..=3 => json!(text(random)),
        4 | 5 => (0..random.below(4)).map(|_| tree(strings, random, depth - 1)).collect(),
        _ => (0..random.below(4)).map(|_| (text(random), tree(strings, random, depth - 1))).collect(),
    }
}

#[track_caller]
fn assert_same(reader: &str, written: &Value, read: &Value) {
    if written == read {
        return;
    }
    for field in ["data", "trees"] {
        for (key, value) in written[field].as_object().into_iter().flatten() {
            assert_eq!(read[field].get(key), Some(value), "{reader} reads the value of {key:?} as something else");
        }
    }
    assert_eq!(written, read, "{reader} reads more than was written");
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}
