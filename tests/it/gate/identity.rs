//! One run, one result: readings of the same logs, twins, clocks; and files that no report may overwrite.

use kubebench_format::result::v1::Reparsed;
use kubebench_testing::snapshot::{assert_line, str};

use super::{Project, QUIET, SPEC, Special};

/// Records readings of the newest session's runs by these rules.
fn read_again(project: &Project, value: f64, rules: &str, version: &str) {
    for repeat in 1..=3 {
        let mut made = project.run(value, repeat, &Special::default());
        made.source.reparsed =
            Some(Reparsed { of: format!("sha256:{}", "1".repeat(64)), original_version: "0.1.0".to_owned() });
        rules.clone_into(&mut made.source.rules_digest);
        version.clone_into(&mut made.recorder.version);
        project.put(made);
    }
}

#[test]
fn of_several_readings_that_by_the_rules_of_today_counts() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let current = project.run(1.0, 1, &Special::default()).source.rules_digest;
    let other = |digit: &str| format!("sha256:{}", digit.repeat(64));
    read_again(&project, 90.0, &other("2"), "0.2.0");
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["candidate"]["median"].as_f64()), (0, Some(QUIET[19])), "the spec is as it was: {line:#}");
    // The original was read by these rules too; a newer program read it again by the same.
    read_again(&project, 95.0, &current, "0.3.0");
    assert_eq!(project.gate(&[]).1["candidate"]["median"], 95.0);
}

#[test]
fn readings_that_nobody_can_tell_apart_count_not_at_all() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let other = |digit: &str| format!("sha256:{}", digit.repeat(64));
    let spec = SPEC.replace("speed (?P", "Speed (?P");
    project.folder.write("specs/train.yaml", &spec);
    read_again(&project, 90.0, &other("2"), "0.2.0");
    assert_eq!(project.gate(&[]).1["candidate"]["median"], 90.0, "one reading is better than none");
    read_again(&project, 91.0, &other("3"), "0.3.0");
    assert_eq!(project.gate(&[]).1["candidate"]["median"], 91.0, "that of the newer program");
    read_again(&project, 92.0, &other("4"), "0.3.0");
    let (status, answer) = project.json(&["gate"]);
    assert_eq!(status, 2, "{answer:#}");
    assert_eq!(answer["leftOut"].as_array().unwrap().len(), 3 * 4);
    assert_line(
        answer["leftOut"][0]["message"].as_str().unwrap(),
        str! {"the logs of this run were read again with different rules, none of which are the spec's"},
    );
    assert_eq!(answer["leftOut"][0]["code"], "KB0452");
}

#[test]
fn validate_knows_twins_and_clocks() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..3], &Special::default());
    assert_eq!(project.says(&["validate", "results"]).0, 0);
    let mut twin = project.run(500.0, 3, &Special::default());
    twin.run.started_at = twin.run.started_at.replace(":00Z", ":01Z");
    project.put(twin);
    let mut backwards = project.run(100.0, 7, &Special::default());
    std::mem::swap(&mut backwards.run.started_at, &mut backwards.run.finished_at);
    project.put(backwards);
    let mut negative = project.run(100.0, 8, &Special::default());
    negative.run.duration_seconds = -3.0;
    project.put(negative);
    let (status, text, _) = project.says(&["validate", "results", "--output-format", "concise"]);
    assert_eq!((status, text.matches("KB0452").count(), text.matches("KB0453").count()), (1, 2, 2), "{text}");
}

/// Result files that a person copied somewhere are checked as those of the project are, and as `export` sees them.
#[test]
fn validate_knows_twins_outside_of_the_results() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..1], &Special::default());
    let bytes: Vec<Vec<u8>> = project.folder.tree("results").into_iter().map(|(_, bytes)| bytes).collect();
    let outside = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(outside.path().join(name), bytes).unwrap();
    write("a.json", &bytes[0]);
    write("c.json", &bytes[1]);
    let folder = outside.path().to_str().unwrap();
    let validate = |paths: &[&str]| {
        let (status, text, _) = project.says(&[&["validate", "--output-format", "concise"], paths].concat());
        (status, text.matches("KB0452").count())
    };
    assert_eq!(validate(&[folder]), (0, 0));
    assert_eq!(validate(&[folder, &format!("{folder}/./a.json")]), (0, 0), "one file that is named twice");
    assert_eq!(validate(&["results", folder]), (0, 0), "copies of what the project has");
    write("b.json", &bytes[0]);
    assert_eq!(validate(&[folder]), (1, 2));
    assert_eq!(validate(&["results", folder]), (0, 0), "copies of what the project has");
    std::fs::rename(outside.path().join("b.json"), outside.path().join("20260201T010000Z-00000001-r1-a2.json"))
        .unwrap();
    assert_eq!(validate(&[folder]), (1, 2));
}

#[test]
fn a_comment_overwrites_nothing_that_it_is_about() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..6], &Special::default());
    let (path, bytes) = project.folder.tree("results").remove(0);
    assert_eq!(project.says(&["compile"]).0, 0);
    project.folder.write("elsewhere/x.json", "{}");
    let result = format!("results/{path}");
    for place in [result.as_str(), "specs/train.yaml", "generated/comment.md", "acks/a.yaml"] {
        for command in [&["gate"][..], &["compare", "env:default", "env:default"]] {
            let (status, _, error) = project.says(&[command, &["--markdown", place]].concat());
            assert!(status == 2 && error.contains("comment"), "{command:?} {place}: {status} {error}");
        }
    }
    for command in [
        &["gate", "--results", "results", "--candidate", "elsewhere", "--markdown", "elsewhere/x.json"][..],
        &["compare", "dir:elsewhere", "dir:results", "--markdown", "elsewhere/x.json"],
        &["compare", "dir:elsewhere", "dir:results", "--report", "json=elsewhere/x.json"],
        &["history", "--report", "json=results/x.json"],
    ] {
        assert_eq!(project.says(command).0, 2, "{command:?}");
    }
    assert!(project.folder.tree("results").contains(&(path, bytes)));
    assert_eq!(project.says(&["gate", "--markdown", "comment.md"]).0, 0);
}
