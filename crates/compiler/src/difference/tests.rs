//! Causes are true: undoing one changes the run digest, and undoing what is listed separately does not.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubebench_syntax::diag::Severity;
use kubebench_testing::snapshot::{Snapshot, assert_text, str};

mod fragments;
mod trials;

use super::{Certainty, Change, Difference, Side, Sides, State, What};
use crate::compile::{Compilation, Input, Workspace};
use crate::lower::{PROJECT_FILE, ReadFile, Unreadable};

const VERSION: &str = "0.1.0";

const PROJECT: &str = "\
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: team}
spec:
  defaults: {repeats: 3}
  lints: {KB0407: 'off'}
  targets:
    gpu: {cluster: eu, namespace: bench, nodeSelector: {gpu: a100}}
    other: {cluster: us, namespace: bench}
";

const SPEC: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: ps}
spec:
  description: before
  targets: [gpu]
  timeout: 1h
  parameters: {tag: \"2.19\", unused: 1}
  matrix: {axes: {mode: [sync, async], workers: [1, 2, 4]}}
  workload:
    tfJob:
      image: registry.example/tf-cnn:${{ parameters.tag }}
      files: {run.sh: {path: scripts/run.sh}}
      ps: {replicas: 1, command: [train]}
      worker:
        replicas: ${{ matrix.workers }}
        command: [train, --mode, \"${{ matrix.mode }}\"]
        env: {LEVEL: info, API_TOKEN: \"hunter2hunter2\"}
  metrics:
    - {name: rate, unit: 1/s, better: higher, primary: true, from: {log: {pattern: 'x: (?P<value>\\S+)'}}}
  gates: [{metric: rate, maxRegression: 3%}]
";

/// The files of a project, by path.
type Files = BTreeMap<&'static str, String>;

fn files() -> Files {
    let script = ("scripts/run.sh", "echo before\n".to_owned());
    Files::from([(PROJECT_FILE, PROJECT.to_owned()), ("specs/ps.yaml", SPEC.to_owned()), script])
}

fn edited(mut files: Files, edits: &[(&'static str, &str, &str)]) -> Files {
    for (path, old, new) in edits {
        let text = files.get_mut(path).unwrap();
        assert!(text.contains(old), "{old} in {text}");
        *text = text.replacen(old, new, 1);
    }
    files
}

fn compile(files: &Files) -> (Compilation, Arc<ReadFile>) {
    let input = |path: &str| Input { path: path.to_owned(), bytes: files[path].clone().into_bytes() };
    let specs = files.keys().filter(|path| path.starts_with("specs/")).map(|path| input(path)).collect();
    let kept = files.clone();
    let read: Arc<ReadFile> = Arc::new(move |path: &str| {
        let text = kept.get(path).map(|text| text.clone().into_bytes());
        text.ok_or(Unreadable::Absent { beside: Vec::new() })
    });
    let own = Arc::clone(&read);
    let workspace = Workspace::open(Some(input(PROJECT_FILE)), VERSION).carrying(move |path| own(path));
    let compilation = workspace.compile(specs);
    let errors = compilation.diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
    assert_eq!(errors.map(|fault| &fault.message).collect::<Vec<_>>(), Vec::<&String>::new());
    (compilation, read)
}

fn with_sides<T>(base: &Files, head: &Files, then: impl FnOnce(&Sides<'_>) -> T) -> T {
    let ((base, of_base), (head, of_head)) = (compile(base), compile(head));
    then(&Sides { base: Side::new(&base, of_base), head: Side::new(&head, of_head), version: VERSION })
}

fn shown(change: &Change) -> String {
    let values = change.values().map_or_else(String::new, |[old, new]| format!(": {old} → {new}"));
    let fields = if change.fields > 1 { format!(" ({} fields)", change.fields) } else { String::new() };
    format!("{} {}{values}{fields}", change.file, change.field())
}

fn report(difference: &Difference) -> String {
    let mut lines = Vec::new();
    for ((target, name), of) in &difference.benchmarks {
        lines.push(format!("{name} on {target}: {:?}", of.state));
        for cause in &of.causes {
            let cases = cause.cases.map_or_else(String::new, |(count, all)| format!(" in {count} of {all} cases"));
            let doubt = if cause.certainty == Certainty::Possible { " ?" } else { "" };
            lines.push(format!("  cause: {}{cases}{doubt}", shown(&cause.change)));
        }
        lines.extend(of.idle.iter().map(|change| format!("  idle: {}", shown(change))));
    }
    lines.extend(difference.idle.iter().map(|change| format!("idle: {}", shown(change))));
    lines.extend(difference.removed.iter().map(|removed| format!("removed: {removed:?}")));
    lines.join("\n")
}

#[track_caller]
fn check(edits: &[(&'static str, &str, &str)], expected: Snapshot) {
    check_files(&files(), &edited(files(), edits), expected);
}

#[track_caller]
fn check_files(base: &Files, head: &Files, expected: Snapshot) {
    assert_text(with_sides(base, head, |sides| report(&sides.difference(|_| true))), expected);
}

#[test]
fn nothing_differs() {
    check(&[], str! {"ps on gpu: Unchanged"});
}

#[test]
fn one_field_is_the_cause_in_all_cases() {
    check(
        &[("specs/ps.yaml", "tag: \"2.19\"", "tag: \"2.20\"")],
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml parameters.tag: 2.19 → 2.20 in 6 of 6 cases
"#]},
    );
}

#[test]
fn what_changes_no_digest_is_no_cause() {
    check(
        &[
            ("specs/ps.yaml", "description: before", "description: after"),
            ("specs/ps.yaml", "timeout: 1h", "timeout: 60m"),
            ("specs/ps.yaml", "unused: 1", "unused: 2"),
            ("specs/ps.yaml", "ps: {replicas: 1, ", "ps: {"),
            ("specs/ps.yaml", "maxRegression: 3%", "maxRegression: 5%"),
            ("specs/ps.yaml", "LEVEL: info", "LEVEL: debug"),
            ("specs/ps.yaml", "[train]", "[train, --quiet]"),
        ],
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml workload.tfJob.ps.command: [train] → [train, --quiet] in 6 of 6 cases
  cause: specs/ps.yaml workload.tfJob.worker.env.LEVEL: info → debug in 6 of 6 cases
  idle: specs/ps.yaml description: before → after
  idle: specs/ps.yaml timeout: 1h → 60m
  idle: specs/ps.yaml parameters.unused: 1 → 2
  idle: specs/ps.yaml workload.tfJob.ps.replicas: 1 → none
  idle: specs/ps.yaml gates.rate.maxRegression: 3% → 5%
"#]},
    );
}

#[test]
fn an_element_that_comes_first_is_one_change() {
    const WORDS: &str =
        "train, --mode, \"${{ matrix.mode }}\", --learning-rate, '0.1', --optimizer, momentum, --epochs, '90'";
    let base = edited(files(), &[("specs/ps.yaml", "train, --mode, \"${{ matrix.mode }}\"", WORDS)]);
    let head = edited(
        base.clone(),
        &[
            ("specs/ps.yaml", "[train, --mode", "[nice, train, --mode"),
            ("specs/ps.yaml", "--epochs", "--token, hunter2hunter2, --epochs"),
            ("specs/ps.yaml", "gates: [", "gates: [{metric: seconds, maxRegression: 9%}, "),
            (
                "specs/ps.yaml",
                "  metrics:\n",
                "  metrics:\n    - {name: seconds, unit: s, better: lower, from: {duration: run}}\n",
            ),
        ],
    );
    check_files(
        &base,
        &head,
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml workload.tfJob.worker.command[0]: none → nice in 6 of 6 cases
  cause: specs/ps.yaml workload.tfJob.worker.command[8-9]: none → [--token, "[redacted]"] in 6 of 6 cases
  idle: specs/ps.yaml metrics.seconds: none → {name: seconds, unit: s, better: lower, from: {duration: run}}
  idle: specs/ps.yaml gates.seconds: none → {metric: seconds, maxRegression: 9%}
"#]},
    );
    check_files(
        &head,
        &base,
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml workload.tfJob.worker.command[0]: nice → none in 6 of 6 cases
  cause: specs/ps.yaml workload.tfJob.worker.command[8-9]: [--token, "[redacted]"] → none in 6 of 6 cases
  idle: specs/ps.yaml metrics.seconds: {name: seconds, unit: s, better: lower, from: {duration: run}} → none
  idle: specs/ps.yaml gates.seconds: {metric: seconds, maxRegression: 9%} → none
"#]},
    );
}

/// Lists with elements of several kinds, where each differs in its own way.
#[test]
fn lists_are_compared_by_what_stays() {
    let list = |text: &str| {
        let source = kubebench_syntax::text::Source::new("x", format!("spec: {{l: {text}}}").as_bytes());
        kubebench_syntax::yaml::read(kubebench_syntax::text::SourceId::default(), &source).root.unwrap()
    };
    let check = |old: &str, new: &str, expected: &[&str]| {
        let (old, new) = (list(old), list(new));
        let changes = super::fields::changes(&old, &new);
        let shown: Vec<String> = changes
            .iter()
            .map(|change| shown(&Change::of_field("", change)))
            .map(|text| text.trim().to_owned())
            .collect();
        assert_eq!(shown, expected);
        // Each way, all changes together give the other document.
        for (of, mut document, other) in
            [(super::fields::Of::Head, new.clone(), &old), (super::fields::Of::Base, old.clone(), &new)]
        {
            for change in changes.iter().rev() {
                let value = if of == super::fields::Of::Head { &change.old } else { &change.new };
                super::fields::put(&mut document, &change.path, value.as_ref(), of);
            }
            assert_eq!(super::written::exact(&document), super::written::exact(other));
        }
    };
    check("[{a: 1}, {a: 2}]", "[{a: 0}, {a: 1}, {a: 2}]", &["l[0]: none → {a: 0}"]);
    check("[{a: 1}, {a: 2}, {a: 3}]", "[{a: 1}, {a: 3}]", &["l[1]: {a: 2} → none"]);
    check("[{a: 1}, {a: 2}]", "[{a: 1}, {a: 3}]", &["l[1].a: 2 → 3"]);
    check(
        "[{a: 1}, {a: 2}, {a: 4}]",
        "[{a: 2}, {a: 3}, {a: 5}]",
        &["l[0]: {a: 1} → none", "l[1].a: 4 → 3", "l[2]: none → {a: 5}"],
    );
    check("[a, b]", "[b, c]", &["l: [a, b] → [b, c]"]);
    let words = |more: &str| format!("[{}{more}z]", "long-word, ".repeat(8));
    check(&words(""), &words("--epochs, '90', "), &["l[8-9]: none → [--epochs, 90]"]);
    check(&words("a, b, c, "), &words(""), &["l[8-10]: [a, b, c] → none"]);
    check(
        "[{metric: a, min: 1}, {restarts: 0}]",
        "[{restarts: 0}, {metric: a, min: 1}]",
        &["l[0]: {metric: a, min: 1} → none", "l[1]: none → {metric: a, min: 1}"],
    );
    check(
        "[{metric: a, min: 1}, {restarts: 0}]",
        "[{metric: a, min: 2}, {restarts: 0}, {metric: b, min: 1}]",
        &["l.a.min: 1 → 2", "l.b: none → {metric: b, min: 1}"],
    );
}

#[test]
fn cosmetic_changes_alone_start_nothing() {
    check(
        &[
            ("specs/ps.yaml", "maxRegression: 3%", "maxRegression: 5%"),
            ("specs/ps.yaml", "timeout: 1h", "timeout: 60m"),
            (PROJECT_FILE, "cluster: us", "cluster: apac"),
        ],
        str! {[r#"
ps on gpu: Unchanged
  idle: specs/ps.yaml timeout: 1h → 60m
  idle: specs/ps.yaml gates.rate.maxRegression: 3% → 5%
idle: kubebench.yaml targets.other.cluster: us → apac
"#]},
    );
}

#[test]
fn a_cause_says_in_how_many_cases() {
    check(
        &[
            ("specs/ps.yaml", "workers: [1, 2, 4]", "workers: [1, 2, 8]"),
            ("specs/ps.yaml", "description: before", "description: after"),
        ],
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml matrix.axes.workers: [1, 2, 4] → [1, 2, 8] in 2 of 6 cases
  idle: specs/ps.yaml description: before → after
"#]},
    );
}

#[test]
fn the_project_file_and_carried_files_are_causes() {
    check(
        &[
            (PROJECT_FILE, "gpu: a100", "gpu: h100"),
            (PROJECT_FILE, "repeats: 3", "repeats: 5"),
            (PROJECT_FILE, "cluster: eu", "cluster: eu-2"),
            ("scripts/run.sh", "before", "after"),
        ],
        str! {[r#"
ps on gpu: Changed
  cause: kubebench.yaml defaults.repeats: 3 → 5
  cause: kubebench.yaml targets.gpu.nodeSelector.gpu: a100 → h100 in 6 of 6 cases
  cause: scripts/run.sh  in 6 of 6 cases
idle: kubebench.yaml targets.gpu.cluster: eu → eu-2
"#]},
    );
}

#[test]
fn a_value_that_moves_is_no_cause_and_one_that_changes_on_the_way_is() {
    let image = "      image: registry.example/tf-cnn:${{ parameters.tag }}\n";
    let moved = |image: &str| {
        let spec = SPEC.replace("ps: {", &format!("ps: {{image: \"{image}\", "));
        spec.replace("      worker:\n", &format!("      worker:\n        image: {image}\n"))
    };
    let same = moved("registry.example/tf-cnn:2.19").replace(image, "").replace("LEVEL: info", "LEVEL: debug");
    let other = moved("registry.example/tf-cnn:2.20").replace(image, "");
    check_files(
        &files(),
        &files().into_iter().chain([("specs/ps.yaml", same)]).collect::<Files>(),
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml workload.tfJob.worker.env.LEVEL: info → debug in 6 of 6 cases
  idle: specs/ps.yaml workload.tfJob.image: "registry.example/tf-cnn:${{ parameters.tag }}" → none
  idle: specs/ps.yaml workload.tfJob.ps.image: none → registry.example/tf-cnn:2.19
  idle: specs/ps.yaml workload.tfJob.worker.image: none → registry.example/tf-cnn:2.19
"#]},
    );
    check_files(
        &files(),
        &files().into_iter().chain([("specs/ps.yaml", other)]).collect::<Files>(),
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml workload.tfJob.ps.image: none → registry.example/tf-cnn:2.20 in 6 of 6 cases
  cause: specs/ps.yaml workload.tfJob.worker.image: none → registry.example/tf-cnn:2.20 in 6 of 6 cases
  idle: specs/ps.yaml workload.tfJob.image: "registry.example/tf-cnn:${{ parameters.tag }}" → none
"#]},
    );
}

#[test]
fn another_kind_is_one_cause() {
    let mut head = files();
    let spec = SPEC.replace("    tfJob:\n", "    pytorchJob:\n").replace("      ps: {", "      master: {");
    head.insert("specs/ps.yaml", spec.replace("description: before", "description: after"));
    check_files(
        &files(),
        &head,
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml workload.pytorchJob: none → {image: "registry.example/tf-cnn:${{ parameters.tag }}", files: {run.sh: {path: scripts/run.sh}}, master: {replicas: 1, … in 6 of 6 cases
  cause: specs/ps.yaml workload.tfJob: {image: "registry.example/tf-cnn:${{ parameters.tag }}", files: {run.sh: {path: scripts/run.sh}}, ps: {replicas: 1, comm… → none in 6 of 6 cases
  idle: specs/ps.yaml description: before → after
"#]},
    );
}

#[test]
fn two_changes_that_do_the_same_are_both_causes() {
    check(
        &[
            (PROJECT_FILE, "repeats: 3", "repeats: 5"),
            ("specs/ps.yaml", "  timeout: 1h", "  repeats: 5\n  timeout: 1h"),
        ],
        str! {[r#"
ps on gpu: Changed
  cause: kubebench.yaml defaults.repeats: 3 → 5
  cause: specs/ps.yaml repeats: none → 5
"#]},
    );
}

#[test]
fn many_fields_are_taken_together() {
    let variables = |value: u32| (0..40).map(|index| format!("V{index}: \"{value}\"")).collect::<Vec<_>>().join(", ");
    let spec = |value| SPEC.replace("LEVEL: info", &variables(value));
    let base = files().into_iter().chain([("specs/ps.yaml", spec(1))]).collect::<Files>();
    let head = edited(
        files().into_iter().chain([("specs/ps.yaml", spec(2))]).collect::<Files>(),
        &[("specs/ps.yaml", "description: before", "description: after")],
    );
    check_files(
        &base,
        &head,
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml workload.tfJob.worker.env: {V0: 1, V1: 1, V2: 1, V3: 1, V4: 1, V5: 1, V6: 1, V7: 1, V8: 1, V9: 1, V10: 1, V11: 1, V12: 1, V13: 1, V14: 1, V15: 1, V16: 1, V17: 1, V18: 1, V19: 1, V20: 1, V21: 1, V22: 1, V23: 1, V24: 1, V25: 1, V26: 1, V27: 1, V28: 1, V29: 1, V30: 1, V… → {V0: 2, V1: 2, V2: 2, V3: 2, V4: 2, V5: 2, V6: 2, V7: 2, V8: 2, V9: 2, V10: 2, V11: 2, V12: 2, V13: 2, V14: 2, V15: 2, V16: 2, V17: 2, V18: 2, V19: 2, V20: 2, V21: 2, V22: 2, V23: 2, V24: 2, V25: 2, V26: 2, V27: 2, V28: 2, V29: 2, V30: 2, V… (40 fields) in 6 of 6 cases
  idle: specs/ps.yaml description: before → after
"#]},
    );
}

#[test]
fn new_removed_and_renamed() {
    let mut base = files();
    base.insert("specs/old.yaml", SPEC.replace("name: ps", "name: old"));
    base.insert("specs/gone.yaml", SPEC.replace("name: ps", "name: gone").replace("before", "another"));
    let mut head = files();
    head.insert("specs/ps.yaml", SPEC.replace("name: ps", "name: ps-2").replace("[gpu]", "[gpu, other]"));
    head.insert("specs/new.yaml", SPEC.replace("name: ps", "name: new"));
    check_files(
        &base,
        &head,
        str! {[r#"
new on gpu: New { formerly: Some("old") }
ps-2 on gpu: New { formerly: Some("ps") }
ps-2 on other: New { formerly: None }
removed: Removed { key: ("gpu", "gone"), renamed: None }
removed: Removed { key: ("gpu", "old"), renamed: Some("new") }
removed: Removed { key: ("gpu", "ps"), renamed: Some("ps-2") }
"#]},
    );
}

#[test]
fn a_spec_that_moves_is_the_same() {
    let mut head = files();
    let spec = head.remove("specs/ps.yaml").unwrap();
    head.insert("specs/deep/ps.yaml", spec.replace("LEVEL: info", "LEVEL: debug"));
    check_files(
        &files(),
        &head,
        str! {[r#"
ps on gpu: Changed
  cause: specs/deep/ps.yaml workload.tfJob.worker.env.LEVEL: info → debug in 6 of 6 cases
"#]},
    );
}

#[test]
fn secrets_are_not_shown() {
    let edit = [
        ("specs/ps.yaml", "hunter2hunter2", "hunter3hunter3"),
        ("specs/ps.yaml", "[train]", "[train, --password, hunter4]"),
    ];
    let head = edited(files(), &edit);
    let text = with_sides(&files(), &head, |sides| format!("{:?}", sides.difference(|_| true)));
    assert!(!text.contains("hunter") && text.contains("[redacted]"), "{text}");
    let text = with_sides(&files(), &head, |sides| format!("{:?}", sides.fields(What::Rendered, |_| true)));
    assert!(!text.contains("hunter") && text.contains("[redacted]"), "{text}");
}

#[test]
fn a_long_value_is_shown_where_it_differs() {
    let old = format!("[sh, -c, \"{} --size 1 {}\"]", "a".repeat(100), "b".repeat(100));
    let base = edited(files(), &[("specs/ps.yaml", "[train]", &old)]);
    check_files(
        &base,
        &edited(base.clone(), &[("specs/ps.yaml", "--size 1", "--size 2")]),
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml workload.tfJob.ps.command[2]: …aaaaaaaaaaaa --size 1 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb… → …aaaaaaaaaaaa --size 2 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb… in 6 of 6 cases
"#]},
    );
}

#[test]
fn suites_are_causes() {
    let suite = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: night}\nspec:\n  targets: [gpu]\n  defaults: {warmups: 1}\n  benchmarks: [{benchmark: ps}]\n";
    let mut with = files();
    with.insert("specs/night.yaml", suite.to_owned());
    check_files(
        &files(),
        &with,
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml suite: none → night
"#]},
    );
    let edit = [("specs/night.yaml", "warmups: 1", "warmups: 2")];
    check_files(
        &with,
        &edited(with.clone(), &edit),
        str! {[r#"
ps on gpu: Changed
  cause: specs/night.yaml defaults.warmups: 1 → 2
"#]},
    );
    let edits = [edit[0], ("specs/night.yaml", "name: night", "name: night, labels: {a: b}")];
    check_files(
        &with,
        &edited(with.clone(), &edits),
        str! {[r#"
ps on gpu: Changed
  cause: specs/night.yaml defaults.warmups: 1 → 2
idle: specs/night.yaml metadata.labels.a: none → b
"#]},
    );
}

#[test]
fn a_state_is_unknown_where_the_base_does_not_compile() {
    let mut base = files();
    base.insert("specs/ps.yaml", SPEC.replace("timeout: 1h", "timeout: soon"));
    let input = |(path, text): (&&str, &String)| Input { path: (*path).to_owned(), bytes: text.clone().into_bytes() };
    let specs = base.iter().filter(|(path, _)| path.starts_with("specs/")).map(input).collect();
    let project = base.iter().find(|(path, _)| **path == PROJECT_FILE).map(input);
    let compiled = Workspace::open(project, VERSION).compile(specs);
    let (head, read) = compile(&files());
    let sides = Sides { base: Side::new(&compiled, Arc::clone(&read)), head: Side::new(&head, read), version: VERSION };
    let difference = sides.difference(|_| true);
    let states: Vec<State> = difference.benchmarks.values().map(|of| of.state.clone()).collect();
    assert_eq!(states, [State::Unknown { files: vec!["specs/ps.yaml".to_owned()] }]);
}

#[test]
fn equal_changes_in_cases_are_one_entry() {
    let head = edited(
        files(),
        &[
            ("specs/ps.yaml", "tag: \"2.19\"", "tag: \"2.20\""),
            ("specs/ps.yaml", "workers: [1, 2, 4]", "workers: [1, 2, 8]"),
            (PROJECT_FILE, "repeats: 3", "repeats: 5"),
            ("specs/ps.yaml", "maxRegression: 3%", "maxRegression: 5%"),
        ],
    );
    for (what, expected) in [
        (
            What::Resolved,
            str! {[r#"
 gates.rate.maxRegression: 3% → 5%
 repeats: 3 → 5
 workload.tfJob.image: registry.example/tf-cnn:2.19 → registry.example/tf-cnn:2.20  4 of 4 cases
added ["mode=sync, workers=8", "mode=async, workers=8"], removed ["mode=sync, workers=4", "mode=async, workers=4"]
kubebench.yaml defaults.repeats: 3 → 5
"#]},
        ),
        (
            What::Rendered,
            str! {[r#"
TFJob tfReplicaSpecs.PS.template.spec.containers.tensorflow.image: registry.example/tf-cnn:2.19 → registry.example/tf-cnn:2.20  4 of 4 cases
TFJob tfReplicaSpecs.Worker.template.spec.containers.tensorflow.image: registry.example/tf-cnn:2.19 → registry.example/tf-cnn:2.20  4 of 4 cases
added ["mode=sync, workers=8", "mode=async, workers=8"], removed ["mode=sync, workers=4", "mode=async, workers=4"]

"#]},
        ),
    ] {
        let found = with_sides(&files(), &head, |sides| sides.fields(what, |_| true));
        let of = found.benchmarks.first().unwrap();
        let line = |change: &super::CaseChange| {
            let cases = change.cases.map_or_else(String::new, |count| format!("  {count} of {} cases", of.cases));
            format!("{}{cases}", shown(&change.change))
        };
        let lines: Vec<String> = of.changes.iter().map(line).collect();
        let cases = format!("added {:?}, removed {:?}", of.added, of.removed);
        let shared: Vec<String> = found.shared.iter().map(shown).collect();
        assert_text(format!("{}\n{cases}\n{}", lines.join("\n"), shared.join("\n")), expected);
    }
}
