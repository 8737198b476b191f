//! Hardware: what may be compared across it, and what is reported of hardware that did not run last.

use kubebench_format::result::v1::{BenchmarkResult, Status};
use kubebench_testing::snapshot::{assert_line, str};
use serde_json::{Value as Json, json};

use super::{Project, QUIET, SPEC, Special, texts, verdict};

fn without_machine(made: &mut BenchmarkResult) {
    made.environment.nodes.clear();
    made.metrics.clear();
}

#[test]
fn a_run_without_a_machine_is_of_the_hardware_before_it() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..10], &Special::default());
    let never = Special { status: Some(Status::Failed), ..Special::default() };
    project.session_as(1.0, &never, without_machine);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "invalid"), "{line:#}");
    assert_eq!(line["environment"]["cpu"], "1 × synthetic");
    project.sessions(&QUIET[10..], &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "the next session decides: {line:#}");
}

#[test]
fn a_case_that_never_had_a_machine_is_invalid() {
    let mut project = Project::with(SPEC);
    let never = Special { status: Some(Status::Failed), ..Special::default() };
    project.session_as(1.0, &never, without_machine);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "invalid"), "{line:#}");
}

#[test]
fn what_is_open_on_replaced_hardware_is_reported() {
    let mut project = Project::with(SPEC);
    let old = Special { cpu: Some("old".to_owned()), ..Special::default() };
    project.sessions(&QUIET[..12], &old);
    let begun = project.session(80.0, &old);
    project.sessions(&[80.1, 79.9, 80.2, 79.8, 80.0, 80.1], &old);
    let other = |made: &mut BenchmarkResult| made.source.run_digest = format!("sha256:{}", "e".repeat(64));
    for value in &QUIET[..8] {
        project.session_as(*value, &Special { cpu: Some("new".to_owned()), ..Special::default() }, other);
    }
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, verdict(&answer["lines"][0])), (0, "noChangeSeen"), "{answer:#}");
    let note = texts(&answer["notes"]);
    assert!(note.contains(&begun) && note.contains("1 × old"), "{note}");
    assert_line(
        &note,
        str! {"not evaluated: `speed` of train (default) got worse on 1 × old, target default in session session-013 of 2026-02-01, not resolved or acknowledged; other hardware ran last"},
    );
    assert_line(
        &project.says(&["gate"]).1,
        str! {"note: not evaluated: `speed` of train (default) got worse on 1 × old, target default in session"},
    );
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "sold", "--from", &begun];
    assert_eq!(project.says(&ack).0, 0);
    assert!(!project.json(&["gate"]).1["notes"].to_string().contains("not judged"));
}

#[test]
fn a_target_without_a_result_is_new_where_targets_are_compared() {
    let spec = SPEC.replace("  timeout: 1h\n", "  timeout: 1h\n  targets: [one, two]\n");
    let mut project = Project::with(SPEC);
    project.folder.write("specs/train.yaml", &spec);
    let settings = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec:\n  compareAcross: [target]\n  \
                    lints: {KB0402: 'off', KB0401: 'off'}\n  targets:\n    one: {namespace: a}\n    two: {namespace: b}\n";
    project.folder.write("kubebench.yaml", settings);
    for value in QUIET {
        project.session_as(value, &Special::default(), |made| made.metadata.target = "one".to_owned());
    }
    let (status, answer) = project.json(&["gate"]);
    let lines = answer["lines"].as_array().unwrap();
    let told: Vec<(&Json, &str)> = lines.iter().map(|line| (&line["environment"]["target"], verdict(line))).collect();
    assert_eq!((status, told), (0, vec![(&json!("one"), "unchanged"), (&json!("two"), "new")]), "{answer:#}");
}

#[test]
fn only_the_fact_that_was_asked_for_may_differ() {
    let mut project = Project::with(SPEC);
    let cpu = |name: &str| Special { cpu: Some(name.to_owned()), ..Special::default() };
    project.sessions(&QUIET[..6], &cpu("fast"));
    project.sessions(&QUIET[6..12], &cpu("faster"));
    let (_, answer) = project.json(&["compare", "env:cpu=1 × fast", "env:cpu=1 × faster"]);
    assert_eq!(verdict(&answer["lines"][0]), "unchanged", "{answer:#}");
    assert_eq!(answer["lines"][0]["baseline"]["sessions"].as_array().unwrap().len(), 6, "a value is no prefix");
    for value in &QUIET[12..18] {
        project.session_as(*value, &cpu("fastest"), |made| {
            made.environment.nodes[0].instance_type = Some("large".to_owned());
        });
    }
    let sides = ["compare", "env:cpu=1 × fast", "env:cpu=1 × fastest"];
    let (_, answer) = project.json(&sides);
    assert_eq!(verdict(&answer["lines"][0]), "incomparable", "{answer:#}");
    assert!(answer["lines"][0]["message"].as_str().unwrap().contains("--allow instanceType"));
    let (_, answer) = project.json(&[&sides[..], &["--allow", "instanceType"]].concat());
    assert_eq!(verdict(&answer["lines"][0]), "unchanged");
    let (status, text, error) =
        project.says(&["compare", "env:cpu=1 × fas", "env:cpu=1 × fast", "--output-format", "concise"]);
    assert!(status == 1, "{text}{error}");
    assert_line(
        format!("{text}{error}"),
        str! {"results: error[KB0461]: there is no result of `env:cpu=1 × fas`; help: results have these: 1 × fast; 1 × faster; 1 × fastest"},
    );
}

#[test]
fn one_file_under_two_targets_is_two() {
    let mut project = Project::with(SPEC);
    for target in ["one", "two"] {
        project.folder.write(&format!("generated/{target}/train/config.yaml"), "metadata:\n  name: train-abcd1234\n");
    }
    let main = project.commit("main");
    for target in ["one", "two"] {
        project.session_as(100.0, &Special::default(), |made| {
            made.metadata.target = target.to_owned();
            made.source.run_digest = format!("sha256:abcd1234{}", "0".repeat(56));
        });
    }
    let (_, answer) = project.json(&["history"]);
    let commits: Vec<&Json> =
        answer["series"].as_array().unwrap().iter().map(|told| &told["sessions"][0]["commit"]).collect();
    assert_eq!(commits, [&json!(main), &json!(main)], "{answer:#}");
}
