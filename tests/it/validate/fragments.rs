//! Fragments as people meet them: in an editor, on the command line and in the answers for programs.

use kubebench_testing::snapshot::{assert_text, str};
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

fn said(folder: &Folder, args: &[&str]) -> String {
    let output = folder.run(args);
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat()
}

/// A fragment of this name, with these lines under `spec`.
fn fragment(name: &str, lines: &str) -> String {
    format!("apiVersion: kubebench.dev/v1\nkind: Fragment\nmetadata: {{name: {name}}}\nspec:\n{lines}")
}

#[test]
fn what_extends_nothing_is_never_left_out_in_silence() {
    for value in ["", "~", "null", "[node, null]", "[null]", "[node, {a: b}]", "[[node]]", "node", "{a: b}", "1", "[1]"]
    {
        let folder = folder();
        folder.write("specs/train.yaml", SPEC.replace("extends: [node]", &format!("extends: {value}")));
        let output = folder.run(&["validate"]);
        let text = said(&folder, &["validate"]);
        assert_eq!(output.status.code(), Some(1), "{value}: {text}");
        assert!(text.contains("specs/train.yaml:5:"), "{value}: {text}");
    }
    let folder = folder();
    folder.write("specs/train.yaml", SPEC.replace("extends: [node]", "extends: []"));
    assert_eq!(folder.run(&["validate"]).status.code(), Some(1));
}

#[test]
fn a_fragment_of_several_others_comes_before_all_of_them() {
    let folder = folder();
    folder.write("specs/parts/long.yaml", fragment("long", "  extends: [node]\n  timeout: 5h\n"));
    folder.write("specs/parts/team.yaml", fragment("team", "  extends: [node]\n  repeats: 3\n"));
    folder.write("specs/train.yaml", SPEC.replace("[node]", "[long, team]").replace("  repeats: 10\n", ""));
    let text = stdout(&folder, &["render", "--spec"]);
    assert!(text.contains("  timeout: 5h") && text.contains("  repeats: 3"), "{text}");
}

#[test]
fn one_element_of_a_list_is_removed_by_its_name() {
    let folder = folder();
    let lists = "  metrics:\n    - {name: a, unit: s, better: lower, primary: true, from: {duration: run}}\n  gates:\n    \
                 - {metric: a, maxRegression: 5%}\n    - {metric: a, max: 10}\n  checks:\n    - {metric: a, max: 9}\n    - {restarts: 0}\n";
    folder.write("specs/parts/lists.yaml", fragment("lists", &lists.replace("    - {metric: a, max: 10}\n", "")));
    let spec = |more: &str| SPEC.replace("[node]", &format!("[node, lists]\n  {more}"));
    for (more, gone, left) in [
        ("gates: [{metric: a, maxRegression: null}]", "maxRegression", "restarts: 0"),
        ("checks: [{restarts: null}]", "restarts", "max: 9"),
        ("checks: [{metric: a, max: null}]", "max: 9", "restarts: 0"),
        ("checks: null", "restarts", "maxRegression"),
    ] {
        folder.write("specs/train.yaml", spec(more));
        let text = stdout(&folder, &["render", "--spec"]);
        assert!(!text.contains(gone) && text.contains(left), "{more}: {text}");
    }
    folder.write("specs/train.yaml", spec("checks: []"));
    assert_text(
        said(&folder, &["validate"]),
        str! {[r#"
error[KB0399]: an empty list adds nothing to the checks of the fragments
 --> specs/train.yaml:6:11
  |
6 |   checks: []
  |           ^^
  |
  = help: write `checks: null` to remove all of them, or one element with its `metric` and `null` for its other fields
1 error; `kubebench explain KB0399` says more

"#]},
    );
}

#[test]
fn what_no_user_of_a_fragment_needs_is_said_once() {
    let folder = folder();
    let more = "  parameters: {unknown: 1, version: 3}\n  lints: {KB0401: {level: allow, reason: none}}\n";
    folder.write("specs/parts/more.yaml", fragment("more", more));
    let of = |name: &str| SPEC.replace("name: train", &format!("name: {name}")).replace("[node]", "[node, more]");
    folder.write("specs/train.yaml", of("train"));
    folder.write("specs/other.yaml", of("other"));
    assert_text(
        said(&folder, &["validate"]),
        str! {[r#"
warning[KB0410]: this benchmark measures nothing
 --> specs/other.yaml:3:18
  |
3 | metadata: {name: other}
  |                  ^^^^^
  |
  = help: add a metric; the simplest is `metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]`

warning[KB0410]: this benchmark measures nothing
 --> specs/train.yaml:3:18
  |
3 | metadata: {name: train}
  |                  ^^^^^
  |
  = help: add a metric; the simplest is `metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]`

warning[KB0406]: nothing uses the parameter `unknown`
 --> specs/parts/more.yaml:5:16
  |
5 |   parameters: {unknown: 1, version: 3}
  |                ^^^^^^^
  |
  = note: a change of its value has no effect
  = note: through `extends` in specs/other.yaml, specs/train.yaml
  = help: write `${{ parameters.unknown }}` where the value belongs, or delete it

warning[KB0469]: unused suppression of KB0401
 --> specs/parts/more.yaml:6:11
  |
6 |   lints: {KB0401: {level: allow, reason: none}}
  |           ^^^^^^
  |
  = note: there is no warning KB0401 here, and a suppression would hide the next one
  = note: through `extends` in specs/other.yaml, specs/train.yaml
  = help: delete it
4 warnings; `kubebench explain KB0410` says more about that code
4 specs checked, no errors

"#]},
    );
    folder.write(
        "specs/other.yaml",
        of("other").replace("'${{ parameters.version }}'", "'${{ parameters.version }}', '${{ parameters.unknown }}'"),
    );
    let text = said(&folder, &["validate"]);
    assert!(!text.contains("KB0406"), "{text}");
}

#[test]
fn commands_on_a_fragment_are_about_the_specs_that_extend_it() {
    let folder = folder();
    stdout(&folder, &["compile"]);
    folder.write("specs/parts/node.yaml", FRAGMENT.replace("train:1", "train:2"));
    for path in ["specs/parts/node.yaml", "specs/parts"] {
        let output = folder.run(&["compile", "--check", path]);
        assert_eq!(output.status.code(), Some(1), "{path}");
        assert!(stdout(&folder, &["plan", path]).contains("train "), "{path}");
    }
}
