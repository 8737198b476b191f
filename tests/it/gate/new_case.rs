//! What the default branch never ran is new, and passes; what may have run there does not.

use std::fs;

use kubebench_format::result::v1::Status;
use serde_json::Value as Json;

use super::{Project, QUIET, SPEC, Special, verdict};

const STRICT: &[&str] = &["--on-inconclusive", "fail", "--on-missing", "fail"];

fn on(commit: &str) -> Special {
    Special { commit: Some(commit.to_owned()), ..Special::default() }
}

fn strict<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["gate"], STRICT, more].concat()
}

/// A project with one more benchmark, `other`, which never ran; `train` ran on `main`.
fn with_other(gate: &str) -> (Project, String) {
    let mut project = Project::with(SPEC);
    project
        .folder
        .write("specs/other.yaml", SPEC.replace("name: train", "name: other").replace("maxRegression: 3%", gate));
    let main = project.commit("main");
    project.sessions(&QUIET, &on(&main));
    (project, main)
}

fn other(project: &mut Project, value: f64, special: &Special) {
    project.session_as(value, special, |made| {
        made.metadata.benchmark = "other".to_owned();
        made.run.id.replace_range(..2, "aa");
    });
}

fn line<'a>(answer: &'a Json, benchmark: &str) -> &'a Json {
    answer["lines"].as_array().unwrap().iter().find(|line| line["benchmark"] == benchmark).unwrap()
}

#[test]
fn a_benchmark_that_nobody_ran_yet_passes_and_says_so() {
    let (project, _) = with_other("maxRegression: 3%");
    let (status, answer) = project.json(&strict(&["--markdown", "comment.md"]));
    let new = line(&answer, "other");
    assert_eq!((status, verdict(new), new["reason"].as_str()), (0, "new", Some("noSession")), "{answer:#}");
    assert_eq!(new["message"], "there is no result yet, and main has none");
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    assert!(
        comment.contains("⚪ New: other \\[default\\] has no result on default")
            && comment.contains("1 new, 1 unchanged"),
        "{comment}"
    );
    let (_, text, _) = project.says(&strict(&[]));
    assert!(text.contains("new: other") && text.contains("1 new"), "{text}");
    for format in ["junit", "github", "sarif", "gitlab"] {
        let (status, text, error) = project.says(&strict(&["--output-format", format]));
        assert!(status == 0 && !text.contains("KB0461"), "{format}: {text}{error}");
    }
}

#[test]
fn it_is_new_until_main_has_a_session() {
    let (mut project, main) = with_other("maxRegression: 3%");
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    for _ in 0..3 {
        other(&mut project, 100.0, &on(&feature));
        let (status, answer) = project.json(&strict(&[]));
        let new = line(&answer, "other");
        assert_eq!((status, verdict(new), new["reason"].as_str()), (0, "new", Some("noBaseline")), "{answer:#}");
        assert!(new["moreSessions"].is_null(), "{new:#}");
    }
    other(&mut project, 100.0, &on(&main));
    let (status, answer) = project.json(&strict(&[]));
    assert_eq!((status, verdict(line(&answer, "other"))), (1, "inconclusive"), "{answer:#}");
    other(&mut project, 100.0, &on(&feature));
    let (status, answer) = project.json(&strict(&[]));
    assert_eq!((status, verdict(line(&answer, "other"))), (1, "inconclusive"), "{answer:#}");
}

#[test]
fn a_case_is_new_as_a_benchmark_is() {
    let mut project = Project::with(SPEC);
    let main = project.commit("main");
    let spec = SPEC
        .replace("  repeats: 3\n", "  repeats: 3\n  matrix: {axes: {size: [1, 2]}}\n")
        .replace("command: [train]", "command: [train, \"${{ matrix.size }}\"]");
    project.folder.write("specs/train.yaml", spec);
    let (_, answer) = project.json(&strict(&["--allow-empty"]));
    let id = answer["lines"][0]["case"].as_str().unwrap().to_owned();
    for value in QUIET {
        project.session_as(value, &on(&main), |made| made.metadata.case.clone_from(&id));
    }
    let (status, answer) = project.json(&strict(&[]));
    let verdicts: Vec<&str> = answer["lines"].as_array().unwrap().iter().map(verdict).collect();
    assert_eq!((status, verdicts[1]), (0, "new"), "{answer:#}");
    assert!(["unchanged", "noChangeSeen"].contains(&verdicts[0]), "{answer:#}");
}

#[test]
fn limits_decide_of_what_is_new() {
    let (mut project, _) = with_other("maxRegression: 3%, min: 95");
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    other(&mut project, 100.0, &on(&feature));
    let (status, answer) = project.json(&strict(&[]));
    assert_eq!((status, verdict(line(&answer, "other"))), (0, "new"), "{answer:#}");
    other(&mut project, 90.0, &on(&feature));
    for more in [&[][..], &["--only-new"]] {
        let (status, answer) = project.json(&strict(more));
        let limited = line(&answer, "other");
        assert_eq!(
            (status, verdict(limited), limited["reason"].as_str()),
            (1, "regressed", Some("belowMin")),
            "{answer:#}"
        );
    }
}

#[test]
fn what_ran_and_failed_is_invalid_and_not_new() {
    let (mut project, _) = with_other("maxRegression: 3%");
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    other(&mut project, 100.0, &Special { status: Some(Status::Failed), ..on(&feature) });
    let (status, answer) = project.json(&strict(&[]));
    assert_eq!((status, verdict(line(&answer, "other"))), (1, "invalid"), "{answer:#}");
}

/// A user who merges by squash without a trace, measures what was not committed, or loses the commit never has a session on
/// `main`: that must not pass forever.
#[test]
fn sessions_of_no_branch_make_nothing_new() {
    let lost = "0123456789012345678901234567890123456789".to_owned();
    let of_no_branch = [
        Special { commit: Some(lost), ..Special::default() },
        Special::default(),
        Special { dirty: Some(true), ..on("main") },
    ];
    for special in of_no_branch {
        let (mut project, main) = with_other("maxRegression: 3%");
        let special = Special { commit: special.commit.map(|commit| commit.replace("main", &main)), ..special };
        other(&mut project, 100.0, &special);
        project.git(&["checkout", "-q", "-b", "feature"]);
        let feature = project.commit("feature");
        other(&mut project, 100.0, &on(&feature));
        let (status, answer) = project.json(&strict(&[]));
        assert_eq!((status, verdict(line(&answer, "other"))), (1, "inconclusive"), "{answer:#}");
    }
}

#[test]
fn what_nobody_could_read_is_not_new() {
    let (project, _) = with_other("maxRegression: 3%");
    let case = project.folder.tree("results")[0].0.split('/').nth(1).unwrap().to_owned();
    project.folder.write(&format!("results/other/{case}/2026/broken.json"), "{");
    let (status, answer) = project.json(&["gate", "--skip-bad", "--on-missing", "fail"]);
    assert_eq!((status, verdict(line(&answer, "other"))), (1, "missing"), "{answer:#}");
}

#[test]
fn a_candidate_without_any_result_is_missing() {
    let (project, _) = with_other("maxRegression: 3%");
    fs::create_dir_all(project.folder.path().join("nothing")).unwrap();
    let (status, answer) = project.json(&["gate", "--candidate", "nothing"]);
    let verdicts: Vec<&str> = answer["lines"].as_array().unwrap().iter().map(verdict).collect();
    assert_eq!((status, verdicts), (1, vec!["missing", "missing"]), "{answer:#}");
}

#[test]
fn results_that_are_not_in_the_clone_make_nothing_new() {
    let (project, _) = with_other("maxRegression: 3%");
    fs::remove_dir_all(project.folder.path().join("results")).unwrap();
    project.git(&["remote", "add", "origin", "https://git.example.com/benchmarks.git"]);
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, answer["outcome"].as_str()), (1, Some("noHistory")), "{answer:#}");
    for line in answer["lines"].as_array().unwrap() {
        assert_eq!(verdict(line), "missing", "{line:#}");
    }
}

#[test]
fn where_only_new_benchmarks_wait_nothing_is_evaluated() {
    let project = Project::with(SPEC);
    project.commit("main");
    let (status, answer) = project.json(&strict(&[]));
    assert_eq!((status, answer["outcome"].as_str()), (0, Some("nothingToEvaluate")), "{answer:#}");
}

#[test]
fn the_site_has_a_neutral_mark_for_it() {
    let (mut project, _) = with_other("maxRegression: 3%");
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    other(&mut project, 100.0, &on(&feature));
    let (status, _, error) = project.says(&["report", "--out", "site"]);
    assert_eq!(status, 0, "{error}");
    let index = fs::read_to_string(project.folder.path().join("site/index.html")).unwrap();
    assert!(index.contains("verdict calm\"><span aria-hidden=\"true\">+ </span>new<"), "{index}");
}
