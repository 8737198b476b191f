//! `plan --since` against real repositories: what a change starts, starts again, leaves alone and removes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::project::{Folder, assert_yes};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: team}\n";

fn spec(name: &str, image: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 1h\n  workload:\n    job: {{image: '{image}', resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n"
    )
}

pub(super) fn commit(root: &Path) {
    let repository = git2::Repository::init(root).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["."], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.update_all(["."], None).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let author = git2::Signature::new("Ada", "ada@example.com", &git2::Time::new(0, 0)).unwrap();
    let parent = repository.head().ok().map(|head| head.peel_to_commit().unwrap());
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("HEAD"), &author, &author, "Change", &tree, &parents).unwrap();
}

pub(super) fn committed(specs: &[(&str, String)]) -> Folder {
    let folder = Folder::with([("kubebench.yaml", PROJECT)]);
    for (path, text) in specs {
        folder.write(path, text);
    }
    commit(folder.path());
    folder
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn answer(output: &Output) -> Value {
    assert_yes(output);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn since(folder: &Folder, arguments: &[&str]) -> Value {
    answer(&folder.run(&[&["plan", "--output-format", "json"], arguments].concat()))
}

fn actions(plan: &Value) -> BTreeMap<&str, &str> {
    plan["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["action"].as_str().unwrap()))
        .collect()
}

#[test]
fn every_kind_of_change_is_distinguished() {
    let folder = committed(&[
        ("specs/same.yaml", spec("same", "a/b:1")),
        ("specs/words.yaml", spec("words", "a/b:1")),
        ("specs/moved.yaml", spec("moved", "a/b:1")),
        ("specs/changed.yaml", spec("changed", "a/b:1")),
        ("specs/gone.yaml", spec("gone", "a/b:1")),
        ("specs/before.yaml", spec("before", "a/b:4")),
        ("specs/.hidden.yaml", spec("hidden", "a/b:1")),
    ]);
    folder.write("specs/words.yaml", spec("words", "a/b:1").replace("spec:\n", "spec:\n  description: other words\n"));
    std::fs::create_dir(folder.path().join("specs/deep")).unwrap();
    std::fs::rename(folder.path().join("specs/moved.yaml"), folder.path().join("specs/deep/moved.yaml")).unwrap();
    folder.write("specs/changed.yaml", spec("changed", "a/b:2"));
    folder.write("specs/new.yaml", spec("new", "a/b:3"));
    folder.write("specs/renamed.yaml", spec("renamed", "a/b:4"));
    for path in ["specs/gone.yaml", "specs/before.yaml"] {
        std::fs::remove_file(folder.path().join(path)).unwrap();
    }

    let plan = since(&folder, &["--since", "HEAD"]);
    let expected = [
        ("changed", "runs-again"),
        ("moved", "unchanged"),
        ("new", "runs"),
        ("renamed", "runs"),
        ("same", "unchanged"),
        ("words", "unchanged"),
    ];
    assert_eq!(actions(&plan), BTreeMap::from(expected));
    let before = serde_json::json!({"name": "before", "target": "default", "renamed": "renamed"});
    assert_eq!(plan["removed"], serde_json::json!([before, {"name": "gone", "target": "default"}]));
    assert_eq!(plan["notCompared"], serde_json::json!([]));

    let moved = since(&folder, &["--since", "HEAD", "specs/deep/moved.yaml"]);
    assert_eq!(actions(&moved), BTreeMap::from([("moved", "unchanged")]));
    assert_eq!(moved["removed"], serde_json::json!([]));

    let shown = said(&folder.run(&["plan", "--since", "HEAD"]).stdout);
    assert!(shown.contains("changed") && shown.contains("new") && !shown.contains("same"), "{shown}");
    assert!(shown.contains("removed: gone on default"), "{shown}");
    assert!(shown.contains("was before: a new name begins a new history"), "{shown}");
}

/// A spec that carries a file is compared with the file of that commit.
#[test]
fn a_changed_script_runs_again() {
    let carrying = |name: &str| {
        spec(name, "a/b:1").replace("resources:", &format!("files: {{x: {{path: scripts/{name}}}}}, resources:"))
    };
    let folder =
        Folder::with([("team/kubebench.yaml", PROJECT), ("team/scripts/same", "a"), ("team/scripts/changed", "a")]);
    folder.write("team/specs/same.yaml", carrying("same"));
    folder.write("team/specs/changed.yaml", carrying("changed"));
    folder.write("team/specs/lost.yaml", carrying("lost"));
    commit(folder.path());
    folder.write("team/scripts/changed", "b");
    folder.write("team/scripts/lost", "a");
    let plan = since(&folder, &["-C", "team", "--since", "HEAD"]);
    assert_eq!(actions(&plan), BTreeMap::from([("changed", "runs-again"), ("lost", "runs"), ("same", "unchanged")]));
    assert_eq!(plan["notCompared"][0]["code"], "KB0340");
}

#[test]
fn a_faulty_old_spec_is_named() {
    let broken = spec("a", "a/b:1").replace("  timeout: 1h", "  timeout: soon");
    let folder = committed(&[("specs/a.yaml", broken), ("specs/b.yaml", spec("b", "a/b:1"))]);
    folder.write("specs/a.yaml", spec("a", "a/b:1"));

    let output = folder.run(&["plan", "--since", "HEAD", "--output-format", "json"]);
    let plan = answer(&output);
    assert_eq!(actions(&plan), BTreeMap::from([("a", "runs"), ("b", "unchanged")]));
    assert_eq!(plan["notCompared"][0]["spec"], "specs/a.yaml");
    assert_eq!(plan["notCompared"][0]["code"], "KB0205");
    let note = said(&output.stderr);
    assert!(note.contains("note: `specs/a.yaml` of `HEAD` does not compile (KB0205: "), "{note}");
    assert!(note.contains("what it held counts as new"), "{note}");
    let change = &plan["benchmarks"][0]["change"];
    assert_eq!(change["state"], "unknown");
    assert_eq!(change["changedFiles"], serde_json::json!(["specs/a.yaml"]));
    assert_eq!(change["notCompared"]["code"], "KB0205");
    let read = said(&folder.run(&["plan", "--since", "HEAD", "--markdown", "plan.md"]).stdout);
    let comment = std::fs::read_to_string(folder.path().join("plan.md")).unwrap();
    for text in [&read, &comment] {
        assert!(text.contains("specs/a.yaml: KB0205: "), "{text}");
        assert!(text.contains("files that changed: "), "{text}");
    }
    assert_eq!(since(&folder, &["--since", "HEAD", "specs/b.yaml"])["notCompared"], serde_json::json!([]));
}

#[test]
fn a_faulty_old_project_file_makes_everything_new() {
    let folder = committed(&[("specs/a.yaml", spec("a", "a/b:1"))]);
    folder.write("kubebench.yaml", format!("{PROJECT}spec: {{requiredVersion: '>=9'}}\n"));
    commit(folder.path());
    folder.write("kubebench.yaml", PROJECT);
    let output = folder.run(&["plan", "--since", "HEAD"]);
    assert_yes(&output);
    let note = said(&output.stderr);
    assert!(note.contains("`kubebench.yaml` of `HEAD` does not compile (KB0320"), "{note}");
    assert!(note.contains("everything counts as new"), "{note}");
    assert_eq!(actions(&since(&folder, &["--since", "HEAD~1"])), BTreeMap::from([("a", "unchanged")]));
}

#[test]
fn a_project_below_the_top_of_its_repository() {
    let folder =
        Folder::with([("other/specs/x.yaml", spec("x", "a/b:1")), ("team/kubebench.yaml", PROJECT.to_owned())]);
    folder.write("team/specs/a.yaml", spec("a", "a/b:1"));
    commit(folder.path());
    let plan = since(&folder, &["-C", "team", "--since", "HEAD"]);
    assert_eq!(actions(&plan), BTreeMap::from([("a", "unchanged")]));
    assert_eq!(plan["removed"], serde_json::json!([]));
}

#[test]
fn a_revision_that_is_not_there() {
    let folder = committed(&[("specs/a.yaml", spec("a", "a/b:1"))]);
    let unknown = folder.run(&["plan", "--since", "origin/main"]);
    assert_eq!(unknown.status.code(), Some(2));
    let words = said(&unknown.stderr);
    assert!(words.contains("`origin/main` is not a commit in this clone"), "{words}");
    assert!(!words.contains("shallow"), "{words}");

    // What `git clone --depth 1` leaves: a list of commits whose parents were not fetched.
    let head = git2::Repository::open(folder.path()).unwrap().revparse_single("HEAD").unwrap().id();
    folder.write(".git/shallow", format!("{head}\n"));
    let words = said(&folder.run(&["plan", "--since", "HEAD~1"]).stderr);
    assert!(words.contains("this clone is shallow"), "{words}");

    let outside = Folder::with([("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", spec("a", "a/b:1"))]);
    let words = said(&outside.run(&["plan", "--since", "HEAD"]).stderr);
    assert!(words.contains("is not in a git repository"), "{words}");
}

/// A folder that some other system wrote; no spec can be in it.
#[test]
fn a_folder_whose_name_is_not_utf_8_hides_no_spec() {
    let folder = committed(&[("specs/a.yaml", spec("a", "a/b:1"))]);
    let repository = git2::Repository::open(folder.path()).unwrap();
    let head = repository.head().unwrap().peel_to_commit().unwrap();
    let tree_of = |base: Option<&git2::Tree<'_>>, name: &[u8], id: git2::Oid, mode: i32| {
        let mut builder = repository.treebuilder(base).unwrap();
        builder.insert(name, id, mode).unwrap();
        repository.find_tree(builder.write().unwrap()).unwrap()
    };
    let inner = tree_of(None, b"x.yaml", repository.blob(b"x").unwrap(), 0o100_644);
    let tree = tree_of(Some(&head.tree().unwrap()), b"caf\xe9", inner.id(), 0o040_000);
    let author = git2::Signature::new("Ada", "ada@example.com", &git2::Time::new(0, 0)).unwrap();
    repository.commit(Some("HEAD"), &author, &author, "Add a folder", &tree, &[&head]).unwrap();
    folder.write("specs/b.yaml", spec("b", "a/b:1"));
    let plan = since(&folder, &["--since", "HEAD"]);
    assert_eq!(actions(&plan), BTreeMap::from([("a", "unchanged"), ("b", "runs")]));
}

/// The causes of a benchmark: place, values and cases.
fn causes(plan: &Value, name: &str) -> Vec<String> {
    let rows = plan["benchmarks"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap();
    let said = |cause: &Value| {
        let (change, text) = (&cause["change"], |value: &Value| value.as_str().unwrap_or("none").to_owned());
        let values = format!("{} → {}", text(&change["old"]), text(&change["new"]));
        format!("{} {}: {values} ({})", text(&change["file"]), text(&change["path"]), cause["cases"]["count"])
    };
    row["change"]["causes"].as_array().unwrap().iter().map(said).collect()
}

#[test]
fn a_plan_says_why_each_benchmark_runs() {
    let matrix = |name: &str| {
        let of_job = "matrix: {axes: {size: [1, 2]}}\n  workload:\n    job: {command: [run, '${{ matrix.size }}'], ";
        spec(name, "a/b:1").replace("workload:\n    job: {", of_job)
    };
    let carrying = spec("b", "a/b:1").replace("resources:", "files: {x: {path: scripts/x}}, resources:");
    let scheduled = |name: &str| spec(name, "a/b:1").replace("spec:\n", "spec:\n  schedule: {cron: 0 3 * * 1}\n");
    let folder = committed(&[
        ("specs/a.yaml", matrix("a")),
        ("specs/b.yaml", carrying),
        ("specs/c.yaml", scheduled("c")),
        ("specs/d.yaml", scheduled("d")),
        ("scripts/x", "old".to_owned()),
    ]);
    let changed = matrix("a").replace("a/b:1", "a/b:2").replace("spec:\n", "spec:\n  description: other\n");
    folder.write("specs/a.yaml", changed.replace("timeout: 1h", "timeout: 60m"));
    folder.write("scripts/x", "new");
    folder.write("specs/c.yaml", scheduled("c").replace("a/b:1", "a/b:2"));
    let plan = since(&folder, &["--since", "HEAD"]);
    assert_eq!(causes(&plan, "a"), ["specs/a.yaml spec.workload.job.image: a/b:1 → a/b:2 (2)"]);
    assert_eq!(causes(&plan, "b"), ["scripts/x : none → none (1)"]);
    let idle = plan["benchmarks"][0]["change"]["withoutRun"].as_array().unwrap();
    let idle: Vec<&str> = idle.iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert_eq!(idle, ["spec.timeout", "spec.description"]);
    let state = |index: usize| plan["benchmarks"][index]["change"]["state"].as_str().unwrap();
    assert_eq!([state(2), state(3)], ["changed", "unchanged"]);

    let shown = said(&folder.run(&["plan", "--since", "HEAD"]).stdout);
    for line in [
        "    workload.job.image: a/b:1 → a/b:2 in 2 of 2 cases\n",
        "    scripts/x changed\n",
        "changed, on schedule",
        "changed without a new run:\n  a: description: none → other\n  a: timeout: 1h → 60m\n",
    ] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    assert!(!shown.contains("\nd "), "{shown}");
}

#[test]
fn a_changed_default_of_the_project_is_a_cause() {
    let folder = committed(&[("specs/a.yaml", spec("a", "a/b:1")), ("specs/b.yaml", spec("b", "a/b:1"))]);
    folder.write("specs/b.yaml", spec("b", "a/b:1").replace("spec:\n", "spec:\n  repeats: 3\n"));
    folder
        .write("kubebench.yaml", format!("{PROJECT}spec: {{defaults: {{repeats: 3}}, image: registry.example/k:9}}\n"));
    let plan = since(&folder, &["--since", "HEAD"]);
    assert_eq!(causes(&plan, "a"), ["kubebench.yaml spec.defaults.repeats: none → 3 (null)"]);
    assert_eq!(actions(&plan), BTreeMap::from([("a", "runs-again"), ("b", "runs-again")]));
}

#[test]
fn a_diff_shows_each_field_once() {
    let matrix = spec("a", "a/b:${{ parameters.tag }}")
        .replace("workload:", "parameters: {tag: '1'}\n  matrix: {axes: {size: [1, 2]}}\n  workload:");
    let matrix = matrix.replace("job: {", "job: {command: [run, '${{ matrix.size }}'], ");
    let folder = committed(&[("specs/a.yaml", matrix.clone()), ("specs/b.yaml", spec("b", "a/b:1"))]);
    let diff = |arguments: &[&str]| {
        let output = folder.run(&[&["diff", "--since", "HEAD"], arguments].concat());
        assert_yes(&output);
        said(&output.stdout)
    };
    assert_eq!(diff(&[]), "no differences\n");
    folder.write("specs/a.yaml", matrix.replace("tag: '1'", "tag: '2'"));
    folder.write("specs/c.yaml", spec("c", "a/b:1"));
    std::fs::remove_file(folder.path().join("specs/b.yaml")).unwrap();
    let expected =
        "a on default\n  workload.job.image: a/b:1 → a/b:2  2 of 2 cases\nnew: c on default\nremoved: b on default\n";
    assert_eq!(diff(&[]), expected);
    let rendered = diff(&["--rendered"]);
    assert!(
        rendered.contains("  Job spec.template.spec.containers.main.image: a/b:1 → a/b:2  2 of 2 cases\n"),
        "{rendered}"
    );
    assert_eq!(rendered.lines().count(), 4, "{rendered}");
    let json: Value = serde_json::from_str(&diff(&["--output-format", "json"])).unwrap();
    assert_eq!(json["benchmarks"][0]["changes"][0]["cases"], 2);
    let schema = folder.run(&["schema", "diff"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    assert!(jsonschema::is_valid(&schema, &json), "{json}");
}
