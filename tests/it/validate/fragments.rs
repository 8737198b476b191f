//! Fragments as people meet them: in an editor, on the command line and in the answers for programs.

use serde_json::Value;

use crate::support::project::Folder;

const FRAGMENT: &str = "\
apiVersion: kubebench.dev/v1
kind: Fragment
metadata: {name: node}
spec:
  # An hour is enough.
  timeout: 1h
  workload:
    job: {image: registry.example/train:1, resources: {cpu: 1, memory: 1Gi}, env: {A: b}}
";
const SPEC: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: train}
spec:
  extends: [node]
  repeats: 10
  parameters: {version: 2.10}
  workload:
    job: {command: [train, '${{ parameters.version }}'], env: {A: null}}
";

fn folder() -> Folder {
    Folder::with([("specs/parts/node.yaml", FRAGMENT), ("specs/train.yaml", SPEC)])
}

fn stdout(folder: &Folder, args: &[&str]) -> String {
    let output = folder.run(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(yaml: &str) -> Value {
    serde_yaml::from_str(yaml).unwrap()
}

#[test]
fn the_schemas_of_editors_take_parts_and_find_mistakes_in_them() {
    let schema = |kind: &str| {
        let text = stdout(&folder(), &["schema", kind]);
        jsonschema::draft7::options().build(&serde_json::from_str(&text).unwrap()).unwrap()
    };
    let (benchmark, fragment) = (schema("benchmark"), schema("fragment"));
    assert!(fragment.is_valid(&json(FRAGMENT)));
    assert!(benchmark.is_valid(&json(SPEC)));
    assert!(!benchmark.is_valid(&json(&SPEC.replace("  extends: [node]\n", ""))), "null removes nothing");
    let whole = SPEC.replace("  extends: [node]\n", "").replace(", env: {A: null}", "");
    assert!(benchmark.is_valid(&json(&whole)));
    for (text, wrong, of) in [
        (SPEC, "repeats: ten", &benchmark),
        (SPEC, "repeat: 10", &benchmark),
        (FRAGMENT, "timout: 1h", &fragment),
        (FRAGMENT, "extends: node", &fragment),
        (FRAGMENT, "workload: {jobs: {}}", &fragment),
        (FRAGMENT, "workload: {job: {imag: a}}", &fragment),
    ] {
        let text = text.replace("  repeats: 10\n", "").replace("  # An hour is enough.\n", "");
        let text = text.replacen("spec:\n", &format!("spec:\n  {wrong}\n"), 1);
        let text = if wrong.starts_with("workload") { text.split("  timeout").next().unwrap() } else { &text };
        assert!(!of.is_valid(&json(text)), "{text}");
    }
}

#[test]
fn a_spec_is_rendered_with_where_its_parts_are_from() {
    let text = stdout(&folder(), &["render", "--spec"]);
    assert_eq!(
        text,
        "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata:
  name: train
spec:
  timeout: 1h  # specs/parts/node.yaml:6
  workload:
    job:
      image: \"registry.example/train:1\"  # specs/parts/node.yaml:8
      resources:  # specs/parts/node.yaml:8
        cpu: 1
        memory: 1Gi
      env: {}
      command:
        - train
        - \"${{ parameters.version }}\"
  repeats: 10
  parameters:
    version: 2.10
"
    );
    // What is printed means the same.
    let printed = Folder::with([("specs/train.yaml", text.as_str())]);
    let digest = |folder: &Folder| {
        let list: Value = serde_json::from_str(&stdout(folder, &["list", "--output-format", "json"])).unwrap();
        list["benchmarks"][0]["runDigest"].clone()
    };
    assert_eq!(digest(&folder()), digest(&printed));
}

#[test]
fn programs_are_given_the_names_of_fragments() {
    let list: Value = serde_json::from_str(&stdout(&folder(), &["list", "--output-format", "json"])).unwrap();
    assert_eq!(list["benchmarks"].as_array().unwrap().len(), 1);
    assert_eq!(list["benchmarks"][0]["extends"], serde_json::json!(["node"]));
}

#[test]
fn a_fragment_is_formatted_and_emits_nothing() {
    let folder = folder();
    folder.write("specs/parts/node.yaml", FRAGMENT.replace("timeout: 1h", "timeout:    1h"));
    assert!(!folder.run(&["fmt", "--check"]).status.success());
    stdout(&folder, &["fmt"]);
    assert!(std::fs::read_to_string(folder.path().join("specs/parts/node.yaml")).unwrap().contains("  timeout: 1h\n"));
    stdout(&folder, &["compile"]);
    stdout(&folder, &["compile", "--check"]);
    assert!(!folder.path().join("generated/default/node").exists());
    // A mistake of the fragment is found by whoever asks for a spec that has a part of it.
    folder.write("specs/parts/node.yaml", FRAGMENT.replace("timeout: 1h", "timeout: 1x"));
    let output = folder.run(&["validate", "specs/train.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("specs/parts/node.yaml:6:13"), "{output:?}");
    folder.write("specs/parts/node.yaml", "{");
    let output = folder.run(&["validate", "specs/train.yaml"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
