//! Published manifests are read as foreign readers read them: `PyYAML` and kubectl.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kubebench_syntax::diag::{Diagnostic, Place, Severity};
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{Manifest, Node, read_manifest};
use serde_json::{Value, json};

use crate::support::judges::{self, oracle, python_with_yaml};
use crate::support::project::files_below;

/// Reads each file as `PyYAML` does, where it reads as kubectl does too. The differences that are taken out:
/// base 60 (`1:30` is text to kubectl), dates (they stay text), `y` and `n` (booleans), `0o755` (a number), `1e3` (a number), and
/// whole floats and keys, which JSON spells in one way.
const PYYAML: &str = r"
import json, re, sys, yaml
class Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}
T = 'tag:yaml.org,2002:'
def rule(tag, pattern, first):
    Loader.add_implicit_resolver(T + tag, re.compile(pattern), first)
rule('bool', r'^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$', list('yYnNtTfFoO'))
rule('null', r'^(?:~|null|Null|NULL|)$', ['~', 'n', 'N', ''])
rule('merge', r'^(?:<<)$', ['<'])
rule('int', r'^[-+]?(?:0[bB][01_]+|0[oO]?[0-7_]+|0|[1-9][0-9_]*|0[xX][0-9a-fA-F_]+)$', list('-+0123456789'))
rule('float', r'^[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$', list('-+.0123456789'))
def integer(loader, node):
    text = node.value.replace('_', '').lower()
    sign, text = (-1 if text[0] == '-' else 1), text.lstrip('+-')
    base = {'0x': 16, '0b': 2, '0o': 8}.get(text[:2])
    return sign * (int(text[2:], base) if base else int(text, 8) if len(text) > 1 and text[0] == '0' else int(text))
def boolean(loader, node):
    return node.value.lower() in ('y', 'yes', 'true', 'on')
Loader.add_constructor(T + 'int', integer)
Loader.add_constructor(T + 'bool', boolean)
Loader.add_constructor(T + 'float', lambda loader, node: float(node.value.replace('_', '')))
def plain(value):
    if isinstance(value, dict):
        return {k if isinstance(k, str) else json.dumps(k): plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
for path in sys.argv[1:]:
    try:
        with open(path, 'rb') as file:
            text = file.read()
        # kubectl reads lines, and ends the last one.
        text = text if text.endswith(b'\n') else text + b'\n'
        documents = [plain(document) for document in yaml.load_all(text, Loader) if document is not None]
    except Exception as error:
        documents = None
    print(json.dumps(documents))
";

#[test]
fn oracle_pyyaml_reads_the_same_of_published_manifests() {
    let name = "oracle_pyyaml_reads_the_same_of_published_manifests";
    let (Some(folder), Some(python)) = (manifests(name), python_with_yaml(name)) else { return };
    let files = published(&folder);
    let output = Command::new(python).args(["-c", PYYAML]).args(&files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(theirs.len(), files.len());
    let mut wrong = Vec::new();
    let mut documents = 0;
    for (file, theirs) in files.iter().zip(&theirs) {
        let (_, read) = read(file);
        match (theirs.as_array(), error(&read)) {
            (None, Some(_)) => {}
            (None, None) => wrong.push(format!("{} is taken, unlike by PyYAML", file.display())),
            (Some(_), Some(fault)) => wrong.push(format!("{}: {}", file.display(), fault.message)),
            (Some(theirs), None) => {
                let ours = canonical(&read.documents.iter().map(Node::to_json).collect::<Vec<_>>().into());
                documents += theirs.len();
                if ours != canonical(&json!(theirs)) {
                    wrong.push(format!("{}\n{ours}\n{}", file.display(), canonical(&json!(theirs))));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
    assert!(documents > 90, "{documents} documents compared");
}

#[test]
fn oracle_kubectl_reads_the_same_of_published_manifests() {
    let name = "oracle_kubectl_reads_the_same_of_published_manifests";
    let (Some(folder), Some(kubectl)) = (manifests(name), oracle(name, "kubectl")) else { return };
    let mut wrong = Vec::new();
    let mut documents = 0;
    for file in published(&folder) {
        let mut command = Command::new(&kubectl);
        command.env("KUBECONFIG", folder.join("none"));
        command.args(["label", "--local", "--output=json", "judged=yes", "--filename"]).arg(&file);
        let output = command.output().unwrap();
        let (_, read) = read(&file);
        if !output.status.success() {
            // kubectl also refuses objects that are well-formed, such as those of a patch, which have no name.
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if said.contains("yaml") != error(&read).is_some() && !said.contains("resource name may not be empty") {
                wrong.push(format!("{}: {said}, {:?}", file.display(), error(&read).map(|fault| &fault.message)));
            }
            continue;
        }
        let theirs = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        let theirs: Vec<Value> = theirs.map(|object| without_label(object.unwrap())).collect();
        let ours: Vec<Value> = read.documents.iter().map(|root| without_label(root.to_json())).collect();
        documents += theirs.len();
        if canonical(&json!(ours)) != canonical(&json!(theirs)) {
            wrong.push(format!("{}\n{}\n{}", file.display(), canonical(&json!(ours)), canonical(&json!(theirs))));
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
    assert!(documents > 90, "{documents} documents compared");
}

#[test]
fn published_files_that_nobody_can_read_have_one_clear_finding() {
    let Some(folder) = manifests("published_files_that_nobody_can_read_have_one_clear_finding") else { return };
    let mut found = Vec::new();
    for file in published(&folder.join("invalid")) {
        let (source, read) = read(&file);
        let [fault] = read.diagnostics.as_slice() else { panic!("{}: {:?}", file.display(), read.diagnostics) };
        let Place::Span(span) = fault.place else { panic!("{fault:?}") };
        found.push((fault.code.id, source.position(span.start as usize).line, source.slice(span).to_owned()));
    }
    let placeholder = |line: usize, text: &str| ("KB0117", line, text.to_owned());
    assert!(found.contains(&placeholder(122, "${FSX_CLAIM}")), "{found:?}");
    assert!(found.contains(&placeholder(8, "{username}")), "{found:?}");
    assert!(found.contains(&placeholder(25, "{IMAGE_REGISTRY}")), "{found:?}");
    let lines: Vec<usize> = found.iter().filter(|(code, ..)| *code == "KB0104").map(|(_, line, _)| *line).collect();
    assert_eq!(lines, [28, 27], "{found:?}");
}

/// What the suite calls an error is refused, and what it calls valid is read as its JSON says, unless YAML 1.1 or the model of
/// Kubernetes says otherwise.
#[test]
fn the_yaml_suite_is_read() {
    let Some(folder) = manifests("the_yaml_suite_is_read").map(|folder| folder.join("yaml-suite")) else { return };
    let index = fs::read_to_string(folder.join("index.tsv")).unwrap();
    let mut wrong = Vec::new();
    let mut accepted = 0;
    for row in index.lines().skip(1) {
        let row: Vec<&str> = row.split('\t').collect();
        let (_, read) = read(&folder.join(row[0]));
        match (row[1], error(&read)) {
            ("error", None) => wrong.push(format!("{} is taken", row[0])),
            ("valid", None) if !row[5].is_empty() => {
                let text = fs::read_to_string(folder.join(row[5])).unwrap();
                let meant: Vec<Value> =
                    serde_json::Deserializer::from_str(&text).into_iter().map(Result::unwrap).collect();
                accepted += 1;
                if canonical(&json!(meant)) != canonical(&read.documents.iter().map(Node::to_json).collect()) {
                    wrong.push(format!("{}: {:?}, not {meant:?}", row[0], read.documents));
                }
            }
            _ => {}
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(accepted > 2, "{accepted} files of the suite are read");
}

fn manifests(test: &str) -> Option<PathBuf> {
    judges::published(test, "manifests")
}

fn published(folder: &Path) -> Vec<PathBuf> {
    let suite = folder.join("yaml-suite");
    let files = files_below(folder).into_iter().filter(|file| !file.starts_with(&suite));
    files.filter(|file| file.extension().is_some_and(|end| end == "yaml")).collect()
}

fn read(file: &Path) -> (Source, Manifest) {
    let source = Source::new(file.to_string_lossy(), &fs::read(file).unwrap());
    let manifest = read_manifest(SourceId::default(), &source);
    (source, manifest)
}

fn error(read: &Manifest) -> Option<&Diagnostic> {
    read.diagnostics.iter().find(|fault| fault.severity == Severity::Error)
}

/// The bytes that two equal values share: sorted keys, one spelling of each number.
fn canonical(value: &Value) -> String {
    serde_json::to_string(&whole(value)).unwrap()
}

fn whole(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap();
            if float.fract() == 0.0 && float.abs() < 1e15 {
                format!("{float:.0}").parse().unwrap()
            } else {
                json!(float)
            }
        }
        Value::Array(items) => items.iter().map(whole).collect(),
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), whole(value))).collect(),
        other => other.clone(),
    }
}

/// An object as it was before `kubectl label` was asked to print it.
fn without_label(mut object: Value) -> Value {
    if let Some(labels) = object.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("judged");
        if labels.is_empty() {
            object["metadata"].as_object_mut().unwrap().remove("labels");
        }
    }
    object
}
