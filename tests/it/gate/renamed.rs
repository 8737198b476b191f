//! Metrics that version 0.1.0 recorded under names that they do not have any more.

use std::collections::BTreeMap;
use std::fs;

use kubebench_format::result::v1::{BenchmarkResult, Native};
use kubebench_testing::snapshot::{assert_text, str};

use super::{Project, SPEC, Special};
use crate::support::project::repository;

const GATED: &str = "gates: [{metric: median, maxRegression: 30%}]";

/// A project whose spec gates what hyperfine measures.
fn project() -> Project {
    let (before, _) = SPEC.split_once("  metrics:").unwrap();
    let metrics =
        "  metrics: [{from: {tool: {name: hyperfine, file: times.json, metrics: [median]}}, primary: true}]\n  ";
    let project = Project::with(SPEC);
    project.folder.write("specs/train.yaml", format!("{before}{metrics}{GATED}\n"));
    project
}

/// What 0.1.0 recorded of two commands.
fn of_0_1_0() -> BenchmarkResult {
    let path = repository().join("tests/data/0.1.0/hyperfine.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Takes what was measured from a result of 0.1.0, with or without the report of the tool.
fn old(made: &mut BenchmarkResult, native: BTreeMap<String, Native>) {
    let BenchmarkResult { metrics, recorder, .. } = of_0_1_0();
    (made.metrics, made.recorder, made.native) = (metrics, recorder, native);
    made.source.extraction = None;
}

/// Takes the same as it is named today.
fn new(made: &mut BenchmarkResult) {
    let mut metrics = of_0_1_0().metrics;
    for (metric, labels) in
        metrics.iter_mut().zip([&[("command", "sleep 0.02")][..], &[("command", "sleep 0.04"), ("d", "0.04")]])
    {
        metric.name = "median".to_owned();
        metric.labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    }
    made.metrics = metrics;
}

#[test]
fn a_result_that_keeps_the_report_has_the_names_of_today() {
    let mut project = project();
    for _ in 0..3 {
        project.session_as(1.0, &Special::default(), |made| old(made, of_0_1_0().native));
    }
    project.session_as(1.0, &Special::default(), new);
    let (status, answer) = project.json(&["history"]);
    assert_eq!(status, 0, "{answer:#}");
    let series = answer["series"].as_array().unwrap();
    let told: Vec<(&str, usize)> = series
        .iter()
        .map(|told| (told["labels"]["command"].as_str().unwrap(), told["sessions"].as_array().unwrap().len()))
        .collect();
    assert_eq!(told, [("sleep 0.02", 4), ("sleep 0.04", 4)], "{answer:#}");
    assert_eq!(answer["notes"].as_array().map_or(0, Vec::len), 0, "{answer:#}");
}

#[test]
fn where_a_result_does_not_tell_the_break_is_said() {
    let mut project = project();
    for _ in 0..3 {
        project.session_as(1.0, &Special::default(), |made| old(made, BTreeMap::new()));
    }
    project.session_as(1.0, &Special::default(), new);
    let said = str! {[r#"
9 results have the metric `0.median` of train under the name that 0.1.0 gave it: its name is now `median`, with the label `command`, which these results lack, so they form a separate series
9 results have the metric `1.median` of train under the name that 0.1.0 gave it: its name is now `median`, with the label `command`, which these results lack, so they form a separate series
"#]};
    let (_, history) = project.json(&["history"]);
    assert_text(super::texts(&history["notes"]), said);
    let (_, gate) = project.json(&["gate"]);
    let notes = super::texts(&gate["notes"]);
    assert!(notes.contains("`0.median`") && notes.contains("the label `command`"), "{gate:#}");
    // The old series is not a metric that is missing.
    let lines = gate["lines"].as_array().unwrap();
    assert!(lines.iter().all(|line| line["metric"] == "median" && line["verdict"] != "missing"), "{gate:#}");
}
