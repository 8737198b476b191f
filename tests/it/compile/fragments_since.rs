//! A change of a fragment that many benchmarks extend, as `plan --since` and its comment say it: once.

use serde_json::Value;

use super::since::commit;
use crate::support::project::{Folder, assert_yes};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: team}\nspec:\n  targets:\n    gpu-eu: {namespace: a}\n    gpu-us: {namespace: b}\n";

const FRAGMENT: &str = "apiVersion: kubebench.dev/v1\nkind: Fragment\nmetadata: {name: train}\nspec:\n  timeout: 1h\n  workload:\n    job:\n      image: registry.example/train:1\n      resources: {cpu: 1, memory: 1Gi}\n  metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]\n  gates: [{metric: seconds, maxRegression: 3%}]\n";

/// How many benchmarks extend the fragment.
const COUNT: usize = 12;

fn spec(name: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  extends: [train]\n  targets: [gpu-eu, gpu-us]\n  workload: {{job: {{command: [train, {name}]}}}}\n"
    )
}

/// A project in a folder of its repository, as it was committed.
fn committed() -> Folder {
    let folder = Folder::with([("perf/kubebench.yaml", PROJECT), ("perf/specs/fragments/train.yaml", FRAGMENT)]);
    for number in 0..COUNT {
        folder.write(&format!("perf/specs/b{number:02}.yaml"), spec(&format!("b{number:02}")));
    }
    commit(folder.path());
    folder
}

fn said(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(&[&["-C", "perf"], arguments].concat());
    assert_yes(&output);
    String::from_utf8(output.stdout).unwrap()
}

fn comment(folder: &Folder) -> String {
    let output = folder.run(&["-C", "perf", "plan", "--since", "HEAD", "--markdown", "plan.md"]);
    assert_yes(&output);
    std::fs::read_to_string(folder.path().join("perf/plan.md"))
        .or_else(|_| std::fs::read_to_string(folder.path().join("plan.md")))
        .unwrap()
}

#[test]
fn an_image_of_a_fragment_is_one_cause_and_one_permission() {
    let folder = committed();
    folder.write("perf/specs/fragments/train.yaml", FRAGMENT.replace("train:1", "train:2"));
    let spec = spec("b07").replace("command:", "env: {DB: {secret: {name: prod-db, key: url}}}, command:");
    folder.write("perf/specs/b07.yaml", spec);
    let text = comment(&folder);
    assert!(text.contains("### Kubebench plan of `perf`: 12 benchmarks on 2 targets would run again\n"), "{text}");
    let cause = "  - `workload.job.image` in `perf/specs/fragments/train.yaml`: `registry.example/train:1` → `registry.example/train:2`\n";
    // Once for the eleven, and once for the one that has another cause too.
    assert_eq!(text.matches(cause).count(), 2, "{text}");
    assert!(text.contains("- 11 benchmarks (`b00`, "), "{text}");
    assert!(text.contains("24 runs, 24.0 h at most if every run takes its full timeout.\n"), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ➕")).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows[0].contains("`b07` on `gpu-eu`, `gpu-us`") && rows[0].contains("prod-db"), "{text}");
    assert!(rows[1].contains("12 benchmarks on `gpu-eu`, `gpu-us`: `b00`, `b01`, `b02`, `b03` and 8 more"), "{text}");
    let shown = said(&folder, &["plan", "--since", "HEAD"]);
    let line =
        "    specs/fragments/train.yaml: workload.job.image: registry.example/train:1 → registry.example/train:2\n";
    assert_eq!(shown.matches(line).count(), 2, "{shown}");
    let diff = said(&folder, &["diff", "--since", "HEAD"]);
    assert!(diff.contains(line.trim()), "{diff}");
}

#[test]
fn what_moves_into_a_fragment_is_no_change() {
    let folder = committed();
    let gates = "  timeout: 1h\n  gates: [{metric: seconds, maxRegression: 3%}]\n";
    let without =
        FRAGMENT.replace("  timeout: 1h\n", "").replace("  gates: [{metric: seconds, maxRegression: 3%}]\n", "");
    folder.write("perf/specs/fragments/train.yaml", without);
    for number in 0..COUNT {
        let name = format!("b{number:02}");
        folder.write(&format!("perf/specs/{name}.yaml"), format!("{}{gates}", spec(&name)));
    }
    let shown = said(&folder, &["plan", "--since", "HEAD"]);
    assert!(shown.starts_with("nothing would run\n") && !shown.contains("changed without"), "{shown}");
    assert_eq!(said(&folder, &["diff", "--since", "HEAD"]), "no differences\n");
}

#[test]
fn a_weaker_gate_of_a_fragment_is_one_finding_at_its_line() {
    let folder = committed();
    folder.write("perf/specs/fragments/train.yaml", FRAGMENT.replace("3%", "9%"));
    folder.write("perf/specs/b03.yaml", spec("b03") + "  gates: null\n");
    let output = folder.run(&["-C", "perf", "compile", "--check", "--since", "HEAD", "--output-format", "concise"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    let weaker: Vec<&str> = shown.lines().filter(|line| line.contains("KB0463")).collect();
    assert_eq!(weaker.len(), 2, "{shown}");
    assert!(weaker[0].starts_with("specs/b03.yaml:8:3: ") && weaker[0].contains("no longer has a gate"), "{shown}");
    assert!(weaker[1].starts_with("specs/fragments/train.yaml:11:"), "{shown}");
    assert!(
        weaker[1].contains("is 9%; at the base 3% (11 benchmarks: `b00`, `b01`, `b02`, `b04` and 7 more)"),
        "{shown}"
    );
    let text = comment(&folder);
    let (_, gates) = text.split_once("#### What this change weakens\n").unwrap();
    assert_eq!(gates.lines().filter(|line| line.starts_with("- ")).count(), 2, "{text}");
    assert!(text.contains("### Kubebench plan of `perf`: nothing would run"), "{text}");
    assert!(!text.contains("| gate |") && text.contains("perf/specs/fragments/train.yaml:11:"), "{text}");
}

#[test]
fn gates_that_go_with_a_benchmark_have_their_own_heading() {
    let folder = committed();
    folder.remove("perf/specs/b05.yaml");
    let text = comment(&folder);
    let (_, gates) = text.split_once("#### Gates that this change removes\n").unwrap();
    let lines: Vec<&str> = gates.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(
        lines,
        [
            "- perf/specs/b05.yaml: the benchmark `b05` is gone from the targets `gpu-eu`, `gpu-us`, and the base has gates for it: seconds"
        ]
    );
    assert!(!text.contains("➕"), "{text}");
    assert!(text.contains("- `b05` on `gpu-eu`, `gpu-us`; its claim and results are kept\n"), "{text}");
    let json = said(&folder, &["plan", "--since", "HEAD", "--output-format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let gates = json["permissions"].as_array().unwrap().iter().filter(|one| one["what"] == "gate");
    assert_eq!(gates.count(), 1, "{json}");
}

#[test]
fn a_field_of_a_fragment_is_set_where_it_is() {
    let folder = committed();
    let output = folder.run(&["-C", "perf", "set", "specs/b00.yaml", "image=registry.example/train:2"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("it is in specs/fragments/train.yaml:8; to add it to specs/b00.yaml, write the whole path `spec.workload.job.image`"), "{said}");
    let output =
        folder.run(&["-C", "perf", "set", "specs/b00.yaml", "spec.workload.job.image=registry.example/train:2"]);
    assert_yes(&output);
}
