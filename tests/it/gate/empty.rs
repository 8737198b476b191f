//! Where there is nothing to evaluate, no gate passes.

use std::fs;

use super::{Project, SPEC, Special};

#[test]
fn a_project_in_which_nothing_ran_has_nothing_to_evaluate() {
    let mut project = Project::with(SPEC);
    let (status, answer) = project.json(&["gate", "--on-missing", "fail", "--markdown", "comment.md"]);
    assert_eq!((status, answer["outcome"].as_str()), (0, Some("nothingToEvaluate")), "{answer:#}");
    let (status, out, _) = project.says(&["gate"]);
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    for text in [&out, &comment] {
        assert!(!text.contains("passed") && !text.contains('✅') && text.contains("othing to evaluate"), "{text}");
    }
    assert_eq!(status, 0);
    // What runs first is evaluated.
    project.session(100.0, &Special::default());
    assert_eq!(project.json(&["gate"]).1["outcome"], "passed");
    // Nor has one whose specs have no gate.
    project.folder.write("specs/train.yaml", SPEC.replace("  gates: [{metric: speed, maxRegression: 3%}]\n", ""));
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, answer["outcome"].as_str()), (0, Some("nothingToEvaluate")), "{answer:#}");
}

#[test]
fn results_of_a_branch_that_are_not_here_are_no_pass() {
    let project = Project::with(SPEC);
    project.commit("first");
    project.git(&["remote", "add", "origin", "https://git.example.com/benchmarks.git"]);
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, answer["outcome"].as_str()), (1, Some("noHistory")), "{answer:#}");
}

#[test]
fn a_folder_without_specs_is_refused() {
    let project = Project::with(SPEC);
    project.folder.write("specs/train.yaml", SPEC.replace("  gates: [{metric: speed, maxRegression: 3%}]\n", ""));
    let (status, _, error) = project.says(&["gate"]);
    assert!(status == 2 && error.contains("no spec with a gate, and no result"), "{error}");
    assert_eq!(project.says(&["gate", "--allow-empty"]).0, 0);
    fs::remove_file(project.folder.path().join("specs/train.yaml")).unwrap();
    let (status, _, error) = project.says(&["gate"]);
    assert!(status == 2 && error.contains("has no spec"), "{error}");
    assert_eq!(project.says(&["gate", "--allow-empty"]).0, 0);
}
