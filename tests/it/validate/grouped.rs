//! Many findings with one cause are one to a reader, and stay complete for programs.

use std::process::Output;

use kubebench_testing::snapshot::{assert_text, str};
use serde_json::Value;

use crate::support::project::{Folder, assert_yes};

const SPECS: usize = 40;

fn project(namespace: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: team}}\nspec: {{targets: {{one: {{namespace: {namespace}}}}}}}\n"
    )
}

fn spec(number: usize) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: b{number:02}}}\nspec:\n  timeout: 1h\n  workload:\n    job: {{image: 'a/b:{number}', resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n"
    )
}

fn folder() -> Folder {
    let specs = (0..SPECS).map(|number| (format!("specs/b{number:02}.yaml"), spec(number)));
    let folder = Folder::with(specs.chain([("kubebench.yaml".to_owned(), project("alpha"))]));
    assert_yes(&folder.run(&["compile"]));
    folder
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn read(folder: &Folder, path: &str) -> String {
    std::fs::read_to_string(folder.path().join(path)).unwrap()
}

#[test]
fn a_line_of_the_project_file_is_one_finding_and_a_changed_spec_another() {
    let folder = folder();
    folder.write("kubebench.yaml", project("beta"));
    let output = folder.run(&["compile", "--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert_text(
        out(&output),
        str! {[r#"
error[KB0502]: 171 manifests of 40 benchmarks do not match `kubebench.yaml` and their specs
 --> kubebench.yaml
 = note: 40 benchmarks: b00, b01, b02, b03, b04, b05, b06, b07, b08, b09 and 30 more
 = note: lines that change in all of them (`--diff` shows every change):
         - namespace: alpha
         + namespace: beta
 = help: run `kubebench compile` and commit the result

"#]},
    );
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let manifests = folder.tree("generated").len();
    assert!(errors.starts_with(&format!("1 error in {manifests} manifests;")), "{errors}");

    let json: Value =
        serde_json::from_slice(&folder.run(&["compile", "--check", "--output-format", "json"]).stdout).unwrap();
    let found = json["diagnostics"].as_array().unwrap();
    assert_eq!(found.len(), manifests);
    assert!(found.iter().all(|finding| finding["group"] == found[0]["group"]));

    let github = out(&folder.run(&["compile", "--check", "--output-format", "github"]));
    assert_eq!(github.lines().count(), 1);
    assert!(github.starts_with("::error file=kubebench.yaml,"), "{github}");
}

#[test]
fn one_edit_of_several_specs_is_one_finding_about_them() {
    let folder = folder();
    for number in [3, 7] {
        folder.write(&format!("specs/b{number:02}.yaml"), spec(number).replace("timeout: 1h", "timeout: 2h"));
    }
    let github = out(&folder.run(&["compile", "--check", "--output-format", "github"]));
    assert_text(
        github,
        str! {[r#"
::error file=specs/b03.yaml,line=3,endLine=3,col=18,endColumn=21,title=KB0502 stale manifest::6 manifests of 2 benchmarks do not match their specs%0Anote: 6 files: generated/one/b03/config.yaml, generated/one/b03/rules.yaml, generated/one/b03/workflow.yaml, generated/one/b07/config.yaml, generated/one/b07/rules.yaml, generated/one/b07/workflow.yaml%0Anote: 2 benchmarks: b03, b07%0Anote: lines that change in all of them (`--diff` shows every change):%0A- "timeoutSeconds": 3600,%0A- activeDeadlineSeconds: 3600%0A- timeout: 1h%0A- value: "93600"%0A+ "timeoutSeconds": 7200,%0A+ activeDeadlineSeconds: 7200%0A+ timeout: 2h%0A+ value: "97200"%0Ahelp: run `kubebench compile` and commit the result

"#]},
    );
}

#[test]
fn changed_specs_have_causes_of_their_own() {
    let folder = folder();
    for number in [3, 7] {
        let path = format!("specs/b{number:02}.yaml");
        folder.write(&path, spec(number).replace(&format!("a/b:{number}'"), &format!("a/b:new{number}'")));
    }
    let output = folder.run(&["compile", "--check"]);
    assert_text(
        out(&output),
        str! {[r#"
error[KB0502]: 3 manifests of `b03` do not match `specs/b03.yaml`
 --> specs/b03.yaml:3:18
  |
3 | metadata: {name: b03}
  |                  ^^^
  |
  = note: 3 files: generated/one/b03/config.yaml, generated/one/b03/rules.yaml, generated/one/b03/workflow.yaml
  = help: run `kubebench compile` and commit the result

error[KB0502]: 3 manifests of `b07` do not match `specs/b07.yaml`
 --> specs/b07.yaml:3:18
  |
3 | metadata: {name: b07}
  |                  ^^^
  |
  = note: 3 files: generated/one/b07/config.yaml, generated/one/b07/rules.yaml, generated/one/b07/workflow.yaml
  = help: run `kubebench compile` and commit the result

"#]},
    );
}

#[test]
fn a_rare_mistake_is_seen_next_to_a_frequent_one() {
    let folder = folder();
    for number in 0..SPECS {
        folder.write(&format!("specs/b{number:02}.yaml"), spec(number).replace("timeout", "timout"));
    }
    folder.write("specs/zz.yaml", "kind: Nothing\n");
    let human = out(&folder.run(&["validate"]));
    assert_text(
        human,
        str! {[r#"
error[KB0208]: `apiVersion` is missing, so nothing says what this file is
 --> specs/zz.yaml
 = help: write `apiVersion: kubebench.dev/v1` at the top

error[KB0201]: `timout` is not a field of `spec`
 --> specs/b00.yaml:5:3
  |
5 |   timout: 1h
  |   ^^^^^^
  |
  = note: the same in 39 more places: specs/b01.yaml:5:3, specs/b02.yaml:5:3, specs/b03.yaml:5:3, specs/b04.yaml:5:3, specs/b05.yaml:5:3, specs/b06.yaml:5:3, specs/b07.yaml:5:3, specs/b08.yaml:5:3, specs/b09.yaml:5:3, specs/b10.yaml:5:3 and 29 more
  = help: did you mean `timeout`?

"#]},
    );
    let github = out(&folder.run(&["validate", "--output-format", "github"]));
    assert!(github.lines().count() <= 10);
    assert!(github.lines().next().unwrap().contains("specs/zz.yaml"), "{github}");
}

#[test]
fn check_with_diff_shows_the_findings_and_the_difference() {
    let folder = folder();
    folder.write("kubebench.yaml", project("beta"));
    let output = folder.run(&["compile", "--check", "--diff"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).starts_with("--- a/generated/"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[KB0502]"));
    assert!(!out(&output).contains("KB0502"));
}

#[test]
fn an_edited_manifest_shows_what_would_be_written() {
    let folder = folder();
    let path = "generated/one/b01/workflow.yaml";
    let text = read(&folder, path);
    folder.write(path, text.replace("namespace: alpha", "namespace: mine"));
    let human = out(&folder.run(&["compile", "--check"]));
    assert_text(
        human,
        str! {[r#"
error[KB0503]: manifest `generated/one/b01/workflow.yaml` was edited by hand
 --> generated/one/b01/workflow.yaml
 = note: `kubebench compile` does not overwrite the edit; make the change in `specs/b01.yaml` instead
 = note: lines of the file (-) and of the compiled manifest (+):
         -  namespace: mine
         +  namespace: alpha
 = help: run `kubebench compile --overwrite-edited` to put the compiled text back
note: the manifest is compiled from here
 --> specs/b01.yaml:3:18
  |
3 | metadata: {name: b01}
  |                  ^^^

"#]},
    );
}

#[test]
fn a_spec_alone_leaves_its_suite_stale_and_says_so() {
    let folder = folder();
    let suite = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: nightly}\nspec: {benchmarks: [{benchmark: b01}, {benchmark: b02}]}\n";
    folder.write("suites/nightly.yaml", suite);
    folder.write("kubebench.yaml", project("alpha").replace("spec: {", "spec: {specs: [specs, suites], "));
    assert_yes(&folder.run(&["compile"]));
    folder.write("specs/b01.yaml", spec(1).replace("a/b:1'", "a/b:new'"));
    let output = folder.run(&["compile", "specs/b01.yaml"]);
    assert_text(
        String::from_utf8_lossy(&output.stderr),
        str! {[r#"
generated/: 0 created, 2 changed, 0 removed, 0 unchanged (1 spec)
note: manifests of suites/nightly.yaml are stale as well; `kubebench compile` without a path updates all

"#]},
    );
}

#[test]
fn findings_are_on_standard_error_where_standard_output_is_an_answer() {
    let folder = folder();
    folder.write("specs/b01.yaml", spec(1).replace("a/b:1'", "a/b'"));
    for command in
        [&["list"][..], &["plan"], &["render"], &["parse", "--log", "log.txt", "specs/b01.yaml"], &["fmt", "--diff"]]
    {
        folder.write("log.txt", "nothing\n");
        let output = folder.run(command);
        assert!(!out(&output).contains("KB0401"), "{command:?}: {}", out(&output));
    }
    folder.write("specs/b02.yaml", spec(2).replace("timeout", "timout"));
    for command in [&["list"][..], &["plan"], &["gate"], &["mock", "specs/b02.yaml", "values.yaml", "--out", "mocked"]]
    {
        let output = folder.run(command);
        assert!(!out(&output).contains("KB0201"), "{command:?}: {}", out(&output));
    }
}

/// The specs of a project, of which three extend one fragment and one does not.
fn folder_with_a_fragment(image: &str) -> Folder {
    let own = |number: usize| spec(number).replace(&format!("a/b:{number}"), "a/b:1");
    let extending = |number: usize| {
        let job = "  workload:\n    job: {image: 'a/b:1', resources: {cpu: 1, memory: 1Gi}}\n";
        let text = own(number);
        assert!(text.contains(job), "{text}");
        (format!("specs/b{number:02}.yaml"), text.replace(job, "  extends: [common]\n"))
    };
    let specs = (0..3).map(extending).chain([("specs/b03.yaml".to_owned(), own(3))]);
    let folder = Folder::with(specs.chain([("kubebench.yaml".to_owned(), project("alpha"))]));
    folder.write("specs/fragments/common.yaml", fragment(image));
    assert_yes(&folder.run(&["compile"]));
    folder
}

fn fragment(image: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Fragment\nmetadata: {{name: common}}\nspec:\n  workload:\n    job: {{image: '{image}', resources: {{cpu: 1, memory: 1Gi}}}}\n"
    )
}

/// A comment changes the digest of a text, and nothing that runs.
#[test]
fn a_comment_in_a_fragment_is_one_finding_about_it() {
    let folder = folder_with_a_fragment("a/b:1");
    folder.write("specs/fragments/common.yaml", fragment("a/b:1") + "# a comment\n");
    assert_text(
        out(&folder.run(&["compile", "--check"])),
        str! {[r#"
error[KB0502]: 3 manifests of 3 benchmarks do not match what their specs extend, `specs/fragments/common.yaml`
 --> specs/fragments/common.yaml
 = note: 3 files: generated/one/b00/rules.yaml, generated/one/b01/rules.yaml, generated/one/b02/rules.yaml
 = note: 3 benchmarks: b00, b01, b02
 = note: only digests of texts differ: nothing that runs
 = help: run `kubebench compile` and commit the result

"#]},
    );
}

#[test]
fn an_edit_of_a_fragment_is_one_finding_about_it() {
    let folder = folder_with_a_fragment("a/b:1");
    folder.write("specs/fragments/common.yaml", fragment("a/b:2"));
    assert_text(
        out(&folder.run(&["compile", "--check"])),
        str! {[r#"
error[KB0502]: 9 manifests of 3 benchmarks do not match what their specs extend, `specs/fragments/common.yaml`
 --> specs/fragments/common.yaml
 = note: 9 files: generated/one/b00/config.yaml, generated/one/b00/rules.yaml, generated/one/b00/workflow.yaml, generated/one/b01/config.yaml, generated/one/b01/rules.yaml, generated/one/b01/workflow.yaml, generated/one/b02/config.yaml, generated/one/b02/rules.yaml, generated/one/b02/workflow.yaml
 = note: 3 benchmarks: b00, b01, b02
 = note: lines that change in all of them (`--diff` shows every change):
         - image: a/b:1
         + image: a/b:2
 = help: run `kubebench compile` and commit the result

"#]},
    );
    // The same edit of specs that it has no part in is theirs.
    folder.write("specs/fragments/common.yaml", fragment("a/b:1"));
    for number in [0, 1] {
        let path = format!("specs/b{number:02}.yaml");
        folder.write(&path, read(&folder, &path).replace("timeout: 1h", "timeout: 2h"));
    }
    let found = out(&folder.run(&["compile", "--check", "--output-format", "github"]));
    assert!(found.starts_with("::error file=specs/b00.yaml,line=3,"), "{found}");
}
