//! `mock`: synthetic results say that they are, and are the same each time.

use kubebench_testing::snapshot::{assert_line, str};

use crate::support::steady::steady;

use super::{Project, SPEC};

const VALUES: &str = "\
metrics:
  speed: {value: 100, noise: 1%, runNoise: 0.5%, changes: [{session: 16, by: -9%}]}
  loss: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
";

#[test]
fn thresholds_are_tried_without_a_machine() {
    let project = Project::with(SPEC);
    project.folder.write("values.yaml", VALUES);
    let mock = |out: &str| {
        project.says(&[
            "mock",
            "--spec",
            "specs/train.yaml",
            "--values",
            "values.yaml",
            "--sessions",
            "20",
            "--out",
            out,
        ])
    };
    assert_eq!(mock("one").0, 0);
    assert_eq!(mock("two").0, 0);
    assert_eq!(project.folder.tree("one"), project.folder.tree("two"));
    assert_eq!(mock("one").0, 2, "it is there already");
    assert_eq!(mock("results").0, 2, "that is the place of real ones");
    for place in ["specs", "specs/new/try", "acks/y/z", "results/new/try", ".git/x/y", ".", ".."] {
        assert_eq!(mock(place).0, 2, "{place}");
    }
    project.folder.write("specs/other.yaml", SPEC.replace("name: train", "name: other"));
    let other = ["mock", "--spec", "specs/other.yaml", "--values", "values.yaml", "--sessions", "20", "--out", "two"];
    assert_eq!(project.says(&other).0, 0, "another benchmark may join");
    assert_eq!(project.says(&other).0, 2);
    project.folder.remove("specs/other.yaml");
    let (status, line) = project.gate(&["--results", "one"]);
    assert_eq!(
        (status, line["synthetic"].as_bool(), line["reason"].as_str().unwrap()),
        (1, Some(true), "open"),
        "{line:#}"
    );
    assert_line(
        &project.says(&["gate", "--results", "one"]).1,
        str! {"note: some results are synthetic: `kubebench mock` made them, and nothing ran"},
    );
    let acked =
        ["ack", "train", "--metric", "speed", "--by", "ada@example.com", "--reason", "slower", "--results", "one"];
    assert_line(
        &project.says(&acked).2,
        str! {"note: some results are synthetic: `kubebench mock` made them, so do not commit what accepts them"},
    );
    std::fs::remove_dir_all(project.folder.path().join("acks")).unwrap();
    project.commit("all");
    let (status, _, error) = project.says(&["record", "one", "--mode", "local"]);
    assert_eq!(status, 4);
    assert_line(
        steady(&error),
        str! {"error: one/train/default-44136fa3/RUN-a1.json: this result is synthetic: nothing ran, so there is nothing to record"},
    );
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let project = Project::with(SPEC);
    let with = |values: &str| {
        project.folder.write("values.yaml", values);
        project.says(&[
            "mock",
            "--spec",
            "specs/train.yaml",
            "--values",
            "values.yaml",
            "--sessions",
            "20",
            "--out",
            "x",
        ])
    };
    for (values, words) in [
        ("metrics: {sped: 1}\n", "there is no metric `sped`"),
        ("metrics: {speed: [1, 2]}\n", "2 values are too few for 20 sessions"),
        ("metrics: {speed: {value: 1, noise: much}}\n", "has no percent sign"),
        ("cases: {nowhere: {speed: 1}}\n", "there is no case `nowhere`"),
        ("metric: {speed: 1}\n", "metric"),
        ("metrics: {speed: {value: 1, nois: 1%}}\n", "unknown field `nois`"),
        ("metrics: {speed: {value: 1, noise: 1}}\n", "`1` has no percent sign"),
        ("metrics: {speed: fast}\n", "expected a value, a list with a value for each session"),
        ("metrics: {speed: {value: 1, changes: {session: 3, by: -9%}}}\n", "expected a sequence"),
        (
            "metrics: {speed: {value: 1, changes: [{session: 99, by: -9%}]}}\n",
            "there is no session 99, expected 1 to 20",
        ),
        ("{}\n", "it sets no value for any metric"),
        ("", "is empty: write `metrics:"),
        ("metrics: {speed: 1\n", "values.yaml"),
    ] {
        let (status, out, error) = with(values);
        assert_ne!(status, 0, "{values}");
        assert!(format!("{out}{error}").contains(words), "{values}: {out}{error}");
        assert!(!project.folder.path().join("x").exists());
    }
}
