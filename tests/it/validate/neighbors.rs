//! Projects of one repository: what they emit together, where they move, and what their targets were called.

use std::process::Output;

use kubebench_testing::snapshot::{assert_text, str};

use crate::record::run as run_git;
use crate::support::project::{Folder, assert_yes};

fn project(name: &str, targets: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: {name}}}\nspec:\n  results: {{mode: local}}\n  targets:\n    {targets}\n"
    )
}

fn spec(name: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 1h\n  workload:\n    job: {{image: 'a/b:1', resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n  gates: [{{metric: seconds, maxRegression: 5%}}]\n"
    )
}

fn committed(files: &[(&str, String)], projects: &[&str]) -> Folder {
    let folder = Folder::with(files.to_vec());
    run_git(folder.path(), &["init", "-q", "-b", "main"]);
    for project in projects {
        assert_yes(&folder.run(&["-C", project, "compile"]));
    }
    commit(&folder);
    folder
}

fn commit(folder: &Folder) {
    run_git(folder.path(), &["add", "-A"]);
    run_git(folder.path(), &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"]);
}

fn text(output: &Output) -> String {
    [output.stdout.as_slice(), &output.stderr].concat().iter().map(|byte| char::from(*byte)).collect()
}

#[test]
fn two_projects_may_emit_an_object_only_if_it_is_the_same() {
    let files = [
        ("serving/kubebench.yaml", project("serving", "gpu: {namespace: bench}")),
        ("serving/specs/a.yaml", spec("a")),
        ("ml/train/kubebench.yaml", project("training", "gpu: {namespace: bench}")),
        ("ml/train/specs/b.yaml", spec("b")),
    ];
    let folder = committed(&files, &["serving", "ml/train"]);
    for start in ["serving", "ml/train"] {
        assert_yes(&folder.run(&["-C", start, "validate"]));
        assert_yes(&folder.run(&["-C", start, "compile", "--check"]));
    }
    folder.write("ml/train/kubebench.yaml", project("training", "gpu: {namespace: bench, concurrency: 3}"));
    assert_yes(&folder.run(&["-C", "ml/train", "compile"]));
    for start in ["serving", "ml/train"] {
        for command in [&["validate"][..], &["compile", "--check"]] {
            let output = folder.run(&[&["-C", start], command].concat());
            assert_eq!(output.status.code(), Some(1));
            let said = text(&output);
            assert!(said.contains("KB0511"), "{said}");
            assert!(said.contains("`serving/kubebench.yaml`") && said.contains("`ml/train/kubebench.yaml`"), "{said}");
        }
    }
    assert_text(
        text(&folder.run(&["-C", "serving", "validate"])),
        str! {[r#"
error[KB0511]: the projects `serving/kubebench.yaml` and `ml/train/kubebench.yaml` emit 2 objects of the namespace `bench` with different content, such as ConfigMap `kubebench-settings`
 --> kubebench.yaml:7:5
  |
7 |     gpu: {namespace: bench}
  |     ^^^
  |
  = note: each sync of one project would overwrite the objects of the other
  = help: give one of the two targets another `namespace` or `cluster`, or both the same settings
note: the other project, with its target `gpu`
 --> ../ml/train/kubebench.yaml
1 error; `kubebench explain KB0511` says more

"#]},
    );
    // Another namespace, another cluster, and a file that git does not track.
    for targets in ["gpu: {namespace: other, concurrency: 3}", "gpu: {namespace: bench, cluster: b, concurrency: 3}"] {
        folder.write("ml/train/kubebench.yaml", project("training", targets));
        assert_yes(&folder.run(&["-C", "serving", "validate"]));
    }
    folder.write("copy/kubebench.yaml", project("copy", "gpu: {namespace: bench, concurrency: 3}"));
    folder.write("copy/specs/b.yaml", spec("b"));
    assert_yes(&folder.run(&["-C", "serving", "validate"]));
}

#[test]
fn results_of_two_projects_are_in_two_places() {
    let one_place =
        |name: &str, more: &str| project(name, &format!("gpu: {{namespace: {name}}}")).replace("mode: local", more);
    let files = [
        ("serving/kubebench.yaml", one_place("serving", "")),
        ("serving/specs/a.yaml", spec("a")),
        ("ml/kubebench.yaml", one_place("ml", "branch: kubebench/results")),
        ("ml/specs/a.yaml", spec("a")),
    ];
    let folder = committed(&files, &["serving", "ml"]);
    let said = text(&folder.run(&["-C", "ml", "validate"]));
    assert_text(
        said,
        str! {[r#"
error[KB0512]: `ml/kubebench.yaml` and `serving/kubebench.yaml` record results of a benchmark `a` in one place: `results` on the branch `kubebench/results`
 --> specs/a.yaml:3:18
  |
3 | metadata: {name: a}
  |                  ^
  |
  = note: they would have one history, and a gate would compare two different benchmarks
  = help: give one of the projects another branch, such as `results: {branch: kubebench/results-2}`
note: the other project
 --> ../serving/kubebench.yaml
1 error; `kubebench explain KB0512` says more

"#]},
    );
    assert_eq!(folder.run(&["-C", "serving", "compile", "--check"]).status.code(), Some(1));
    for other in ["branch: kubebench/results-ml", "directory: others", "mode: local"] {
        folder.write("ml/kubebench.yaml", one_place("ml", other));
        assert_yes(&folder.run(&["-C", "serving", "validate"]));
    }
    folder.write("ml/kubebench.yaml", one_place("ml", "branch: kubebench/results"));
    folder.write("serving/specs/a.yaml", spec("b"));
    assert_yes(&folder.run(&["-C", "serving", "validate"]));
    folder.write("serving/specs/a.yaml", spec("a"));
    // A remote that one file names and the other does not may be one and the same.
    let remotes = [("https://example.com/a.git", "https://example.com/b.git", 0), ("", "https://example.com/b.git", 1)];
    for (one, other, status) in remotes {
        let results = |remote: &str| if remote.is_empty() { String::new() } else { format!("remote: {remote}") };
        folder.write("serving/kubebench.yaml", one_place("serving", &results(one)));
        folder.write("ml/kubebench.yaml", one_place("ml", &results(other)));
        assert_eq!(folder.run(&["-C", "serving", "validate"]).status.code(), Some(status), "{one} {other}");
    }
}

/// The settings of the folder that a command starts in are not those of the spec.
#[test]
fn a_spec_of_another_project_is_refused() {
    let files = [
        ("ml/it's/kubebench.yaml", project("team", "gpu: {namespace: bench}")),
        ("ml/it's/specs/a.yaml", spec("a")),
        ("web/kubebench.yaml", project("web", "cpu: {namespace: web}")),
        ("web/specs/b.yaml", spec("b")),
    ];
    let folder = committed(&files, &[]);
    let before = folder.tree("");
    for (start, path) in [
        (".", "ml/it's/specs/a.yaml"),
        (".", "ml/it's/specs"),
        (".", "ml/it's"),
        (".", "ml"),
        ("ml", "it's/specs/a.yaml"),
        ("web", "../ml/it's/specs/a.yaml"),
        ("web/specs", "../../ml/it's/specs/../specs/a.yaml"),
    ] {
        for command in [&["validate"][..], &["compile"], &["plan"], &["list"], &["fmt"], &["run", "--dry-run"]] {
            let output = folder.run(&[&["-C", start], command, &[path]].concat());
            let said = text(&output);
            assert_eq!(output.status.code(), Some(2), "{start} {command:?} {path}: {said}");
            assert!(said.contains("is in another project") && said.contains("kubebench -C '"), "{said}");
        }
    }
    let set = folder.run(&["set", "ml/it's/specs/a.yaml", "spec.timeout=2h"]);
    assert_text(
        text(&set),
        str! {[r#"
error: ml/it's/specs/a.yaml is in another project: run the command there, with `kubebench -C 'ml/it'\''s'` and the path from that folder

"#]},
    );
    assert_eq!(folder.tree(""), before);
}

#[test]
fn a_project_that_moves_starts_nothing_and_keeps_its_gates() {
    let files = [
        ("old/kubebench.yaml", project("team", "gpu: {namespace: bench}")),
        ("old/specs/a.yaml", spec("a")),
        ("other/kubebench.yaml", project("other", "gpu: {namespace: else}")),
        ("other/specs/a.yaml", spec("a")),
    ];
    let folder = committed(&files, &["old", "other"]);
    std::fs::create_dir(folder.path().join("new")).unwrap();
    run_git(folder.path(), &["mv", "old", "new/place"]);
    let plan = folder.run(&["-C", "new/place", "plan", "--since", "HEAD"]);
    assert!(text(&plan).starts_with("nothing would run\n"), "{}", text(&plan));
    assert_yes(&folder.run(&["-C", "new/place", "compile", "--check", "--since", "HEAD"]));
    commit(&folder);
    // The base has both the project and what has become of it.
    folder.write("new/place/specs/a.yaml", spec("a").replace("a/b:1", "a/b:2").replace("5%", "50%"));
    let since = ["--since", "HEAD~1"];
    let plan = folder.run(&[&["-C", "new/place", "plan"], &since[..]].concat());
    assert!(text(&plan).contains("runs again"), "{}", text(&plan));
    let weakened = folder.run(&[&["-C", "new/place", "compile", "--diff"], &since[..]].concat());
    assert!(text(&weakened).contains("KB0463"), "{}", text(&weakened));
}

#[test]
fn a_renamed_target_keeps_its_history_if_it_says_what_it_was() {
    let files = [
        ("p/kubebench.yaml", project("team", "gpu: {namespace: bench}")),
        ("p/specs/a.yaml", spec("a")),
        ("p/values.txt", "metrics:\n  seconds: {value: 100, noise: 1%, changes: [{session: 8, by: 20%}]}\n".to_owned()),
    ];
    let folder = committed(&files, &["p"]);
    let run = |arguments: &[&str]| folder.run(&[&["-C", "p"], arguments].concat());
    assert_yes(&run(&[
        "mock",
        "--spec",
        "specs/a.yaml",
        "--values",
        "values.txt",
        "--sessions",
        "12",
        "--out",
        "mocked",
    ]));
    let gated = |expected: &str| {
        let said = text(&run(&["gate", "--results", "mocked"]));
        assert!(said.contains(expected), "{said}");
    };
    gated("regressed: a");
    folder.write("p/kubebench.yaml", project("team", "gpu-eu: {namespace: bench}"));
    let plan = run(&["plan", "--since", "HEAD"]);
    assert_text(
        String::from_utf8_lossy(&plan.stderr),
        str! {[r#"
note: the target `gpu` is gone and `gpu-eu` is new, so a new history begins; write `formerly: [gpu]` for `gpu-eu` in kubebench.yaml to keep the old one

"#]},
    );
    let said = text(&run(&["gate", "--results", "mocked"]));
    assert!(!said.contains("regressed: a"), "{said}");
    folder.write("p/kubebench.yaml", project("team", "gpu-eu: {namespace: bench, formerly: [gpu]}"));
    let plan = run(&["plan", "--since", "HEAD"]);
    assert!(text(&plan).starts_with("nothing would run\n"), "{}", text(&plan));
    assert_eq!(String::from_utf8_lossy(&plan.stderr), "");
    gated("regressed: a");
    let history = text(&run(&["history", "a", "--results", "mocked", "--output-format", "json"]));
    assert!(history.contains("gpu-eu") && !history.contains("\"gpu\""), "{history}");
}

#[test]
fn a_benchmark_of_two_projects_is_named_for_a_new_name() {
    let files = [
        ("serving/kubebench.yaml", project("serving", "gpu: {namespace: bench}")),
        ("serving/specs/a.yaml", spec("a")),
        ("train/kubebench.yaml", project("training", "gpu: {namespace: bench}")),
        ("train/specs/a.yaml", spec("a").replace("a/b:1", "a/b:2")),
    ];
    let folder = committed(&files, &["serving", "train"]);
    let said = text(&folder.run(&["-C", "serving", "validate"]));
    let help =
        "help: rename `a` in one of the projects, or give one of the two targets another `namespace` or `cluster`";
    assert!(said.contains(help), "{said}");
}

/// A command at the top of a monorepo says where its projects are.
#[test]
fn a_folder_without_a_project_names_those_below() {
    let files = ["ml/perf", "net"].map(|folder| (format!("{folder}/kubebench.yaml"), project("a", "{local: {}}")));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let folder = committed(&files, &[]);
    let output = folder.run(&["validate"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output);
    assert!(said.contains("(projects below it: ml/perf, net; choose one with `-C FOLDER`)"), "{said}");
    let said = text(&folder.run(&["-C", "ml", "validate"]));
    assert!(said.contains("(projects below it: perf; choose one with `-C FOLDER`)"), "{said}");
}
