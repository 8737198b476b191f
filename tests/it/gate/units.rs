//! Units across sessions: a prefix and a spelling change no series.

use kubebench_testing::snapshot::{assert_line, str};

use super::{Project, QUIET, SPEC, Special, verdict};

fn in_unit(unit: &str) -> Special {
    Special { unit: Some(unit.to_owned()), ..Special::default() }
}

/// The spec without a unit, as where a tool brings it.
fn of_a_tool() -> String {
    SPEC.replacen("unit: images/s, better: higher", "better: lower", 1)
}

#[test]
fn a_prefix_that_changes_hides_no_regression() {
    let mut project = Project::with(&of_a_tool());
    for value in [978.0, 981.0, 979.5, 985.0, 983.0, 990.0] {
        project.session(value, &in_unit("ns/iter"));
    }
    project.session(1.12, &in_unit("us/iter"));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line), line["unit"].as_str()), (1, "regressed", Some("us/iter")), "{line:#}");
    assert!((line["change"].as_f64().unwrap() - 0.1402).abs() < 1e-3, "{line:#}");
    assert!((line["baseline"]["median"].as_f64().unwrap() - 0.982).abs() < 1e-9, "{line:#}");
    let (_, text, _) = project.says(&["history", "train", "--metric", "speed"]);
    assert!(text.contains("us/iter") && !text.contains("ns/iter"), "{text}");
}

#[test]
fn another_spelling_is_the_same_unit() {
    let mut project = Project::with(&of_a_tool());
    project.sessions(&QUIET, &in_unit("usec"));
    project.session(110.0, &in_unit("\u{b5}s"));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
}

/// A limit is in the unit of the spec, whatever the results were recorded in.
#[test]
fn the_unit_of_the_spec_is_that_of_the_answer() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, min: 95}");
    let mut project = Project::with(&spec);
    project.sessions(&QUIET.map(|value| value / 1000.0), &in_unit("images/ms"));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line), line["unit"].as_str()), (0, "unchanged", Some("images/s")), "{line:#}");
    project.session(0.094, &in_unit("images/ms"));
    let (status, text, _) = project.says(&["gate"]);
    assert_eq!(status, 1, "{text}");
    assert_line(&text, str! {"regressed: train [default], speed: 94 images/s is below `min: 95`"});
}

#[test]
fn sides_in_two_units_are_compared() {
    let mut project = Project::with(&of_a_tool());
    let first = project.commit("first");
    let on = |commit: &str, unit: &str| Special { commit: Some(commit.to_owned()), ..in_unit(unit) };
    project.sessions(&QUIET[..6], &on(&first, "ms"));
    let second = project.commit("second");
    project.sessions(&QUIET[..6].iter().map(|value| value / 1000.0).collect::<Vec<_>>(), &on(&second, "s"));
    let (status, answer) = project.json(&["compare", &first, &second]);
    let line = &answer["lines"][0];
    assert_eq!((status, line["unit"].as_str(), verdict(line)), (0, Some("s"), "unchanged"), "{answer:#}");
}

/// Values of two versions of the extraction rules are not compared until the logs were read again.
#[test]
fn another_version_of_the_extraction_rules_is_named() {
    let mut project = Project::with(SPEC);
    for value in QUIET {
        project.session_as(value, &Special::default(), |made| made.source.extraction = None);
    }
    project.session(90.0, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "inconclusive"), "{line:#}");
    assert_line(
        line["notes"][0].as_str().unwrap(),
        str! {"20 earlier sessions were read by another version of the extraction rules, and not compared: `kubebench reparse` reads the kept logs again"},
    );
    let (_, text, _) = project.says(&["history", "train"]);
    assert!(text.contains("extractionRules") && text.contains("version 1") && text.contains("version 2"), "{text}");
}

/// The unit of a tool's rule is that of what was recorded before it, too.
#[test]
fn the_unit_of_a_tool_is_that_of_the_answer() {
    let tool = "{unit: ms, primary: true, from: {tool: {name: hyperfine, file: h.json, metrics: [median]}}}";
    let speed = SPEC.lines().find(|line| line.contains("name: speed")).unwrap();
    let spec = SPEC
        .replace(speed, &format!("    - {tool}"))
        .replace("metric: speed, maxRegression: 3%", "metric: median, max: 5");
    let mut project = Project::with(SPEC);
    for value in [0.0249, 0.0251, 0.025] {
        project.session_as(value, &in_unit("s"), |made| "median".clone_into(&mut made.metrics[0].name));
    }
    project.folder.write("specs/train.yaml", spec);
    let (status, text, _) = project.says(&["gate"]);
    assert_eq!(status, 1, "{text}");
    assert_line(&text, str! {"regressed: train [default], median: 25 ms is above `max: 5`"});
}

/// Numbers of the spec are in its unit; a value that measures something else is neither within a limit nor beyond it.
#[test]
fn a_limit_decides_nothing_in_a_unit_that_measures_something_else() {
    for (gate, what) in [
        ("min: 95}", "`min`"),
        ("max: 105}", "`max`"),
        ("min: 95, max: 105}", "`min` and `max`"),
        ("maxRegression: 3%, min: 95}", "`min`"),
        ("maxRegression: 3%, baseline: {value: 100}}", "the `value` of the baseline"),
    ] {
        for (unit, is) in [(Some("tokens/s".to_owned()), "in tokens/s"), (None, "without a unit")] {
            let mut project = Project::with(&SPEC.replace("maxRegression: 3%}", gate));
            project.session_as(100.0, &Special::default(), |made| made.metrics[0].unit.clone_from(&unit));
            let (status, line) = project.gate(&[]);
            assert_eq!((status, verdict(&line)), (1, "incomparable"), "{line:#}");
            let said = format!(
                "the candidate is {is}, but {what} of the spec in images/s, and these units cannot be converted"
            );
            assert_eq!(line["message"].as_str(), Some(said.as_str()));
            let (status, text) = project.whole(&[]);
            assert_eq!(status, 1, "{text}");
            assert!(text.contains("the candidate is ") && text.contains("kubebench reparse"), "{text}");
            let (_, text, _) = project.says(&["gate", "--output-format", "github"]);
            assert!(text.contains("KB0461"), "{text}");
        }
    }
    let mut project = Project::with(SPEC);
    project.session(100.0, &in_unit("tokens/s"));
    assert_eq!(verdict(&project.gate(&[]).1), "inconclusive");
}
