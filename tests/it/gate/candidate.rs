//! Which session is evaluated where none is named: the newest one of the commits that only the checked-out branch has, else that of the
//! default branch, whatever else ran since.

use serde_json::Value as Json;

use kubebench_git::{Looked, checked_out};

use super::{Project, QUIET, SPEC, Special, texts, verdict};

const ONLY_NEW: &[&str] = &["--only-new"];
const UNMEASURED: &str = "the checked-out branch has no results of its own";

/// A project with eight sessions of the newest commit of `main`.
fn project() -> Project {
    let mut project = Project::with(SPEC);
    project.commit("first");
    measured(&mut project, &QUIET[..8]);
    project
}

/// What a run of what is checked out says of its commit.
fn here(project: &Project) -> Special {
    let known =
        checked_out(project.folder.path(), &Looked { results: "results", ..Looked::default() }).unwrap().unwrap();
    Special { commit: Some(known.commit), content: known.content, ..Special::default() }
}

/// Sessions of what is checked out; returns the last one's id.
fn measured(project: &mut Project, values: &[f64]) -> String {
    let on = here(project);
    project.sessions(values, &on).pop().unwrap()
}

/// A branch of what is checked out with a commit of its own.
fn branch(project: &Project, name: &str) -> String {
    project.git(&["checkout", "-q", "-b", name]);
    project.commit(name)
}

/// Deletes a branch, and all commits that nothing reaches any more, as in a clone that is made afterwards.
fn deleted(project: &Project, name: &str) {
    project.git(&["branch", "-q", "-D", name]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
}

fn candidate(line: &Json) -> &str {
    line["candidate"]["sessions"][0]["session"].as_str().unwrap()
}

#[track_caller]
fn assert_is(project: &Project, arguments: &[&str], session: &str, wanted: (i32, &str, bool)) {
    let (status, line) = project.gate(arguments);
    let found = (status, verdict(&line), line["onDefault"] == true);
    assert_eq!((candidate(&line), found), (session, wanted), "{line:#}");
}

#[track_caller]
fn notes(project: &Project) -> String {
    let (_, answer) = project.json(&["gate", "--only-new"]);
    if answer["notes"].is_null() { String::new() } else { texts(&answer["notes"]) }
}

#[test]
fn a_later_session_of_main_does_not_hide_what_a_branch_brings() {
    let mut project = project();
    branch(&project, "f");
    let bad = measured(&mut project, &[90.0]);
    project.git(&["checkout", "-q", "main"]);
    let nightly = measured(&mut project, &[100.1]);
    let regressed = (1, "regressed", false);
    let checkouts: [&[&[&str]]; 3] = [
        &[&["checkout", "-q", "f"]],
        // As the runner of a pull request has it.
        &[&["checkout", "-q", "--detach", "main"], &["merge", "-q", "--no-ff", "--no-edit", "f"]],
        &[&["checkout", "-q", "f"], &["merge", "-q", "--no-ff", "--no-edit", "main"]],
    ];
    for commands in checkouts {
        for command in commands {
            project.git(command);
        }
        assert_is(&project, &[], &bad, regressed);
        assert_is(&project, ONLY_NEW, &bad, regressed);
        assert!(!notes(&project).contains(UNMEASURED));
    }
    project.git(&["checkout", "-q", "main"]);
    for arguments in [&[][..], ONLY_NEW] {
        assert_is(&project, arguments, &nightly, (0, "unchanged", false));
    }
}

/// Nor does one that ran on other hardware, which `main` has now.
#[test]
fn what_a_branch_measured_on_replaced_hardware_is_evaluated() {
    let mut project = project();
    branch(&project, "f");
    let bad = measured(&mut project, &[90.0]);
    project.git(&["checkout", "-q", "main"]);
    let new = Special { cpu: Some("other".to_owned()), ..here(&project) };
    project.sessions(&QUIET[..14], &new);
    project.git(&["checkout", "-q", "f"]);
    let (status, answer) = project.json(&["gate", "--only-new"]);
    let lines = answer["lines"].as_array().unwrap();
    assert!(
        status == 1 && lines.iter().any(|line| candidate(line) == bad && verdict(line) == "regressed"),
        "{answer:#}"
    );
}

/// In a committed folder are the results of everybody.
#[test]
fn a_committed_folder_holds_sessions_of_all_branches() {
    let mut project = Project::with(SPEC);
    project.folder.write(".gitignore", ".cache\n");
    let file = std::fs::read_to_string(project.folder.path().join("kubebench.yaml")).unwrap();
    project.folder.write("kubebench.yaml", file.replace("spec: {", "spec: {results: {mode: local}, "));
    project.commit("first");
    measured(&mut project, &QUIET[..8]);
    project.commit("results");
    branch(&project, "f");
    let bad = measured(&mut project, &[90.0]);
    project.commit("results of f");
    project.git(&["checkout", "-q", "main"]);
    measured(&mut project, &[100.1]);
    project.commit("results of the night");
    project.git(&["checkout", "-q", "--detach", "main"]);
    project.git(&["merge", "-q", "--no-ff", "--no-edit", "f"]);
    assert_is(&project, ONLY_NEW, &bad, (1, "regressed", false));
    // Named, it is the same folder.
    assert_is(&project, &["--only-new", "--results", "results"], &bad, (1, "regressed", false));
}

/// What ran of the merge of a pull request is of its branch, when `main` has moved on and that merge is nowhere any more.
#[test]
fn what_was_merged_for_a_run_is_of_the_branch() {
    let mut project = project();
    branch(&project, "f");
    project.commit("more of f");
    project.git(&["checkout", "-q", "main"]);
    project.commit("other");
    project.git(&["checkout", "-q", "--detach", "main"]);
    project.git(&["merge", "-q", "--no-ff", "--no-edit", "f"]);
    let bad = measured(&mut project, &[90.0]);
    project.git(&["checkout", "-q", "main"]);
    project.commit("later");
    measured(&mut project, &[100.1]);
    project.git(&["gc", "-q", "--prune=now"]);
    project.git(&["checkout", "-q", "f"]);
    assert_is(&project, ONLY_NEW, &bad, (1, "regressed", false));
}

/// An old commit of the branch that is measured again is not what the branch brings.
#[test]
fn the_newest_commit_of_a_branch_counts() {
    let mut project = project();
    branch(&project, "f");
    let first = here(&project);
    project.commit("slow");
    let bad = measured(&mut project, &[90.0]);
    project.session(100.1, &first);
    assert_is(&project, ONLY_NEW, &bad, (1, "regressed", false));
    assert!(notes(&project).contains("1 session that began after the evaluated ones is from an earlier commit"));
}

/// What lands again holds the files of what was reverted, and is not that.
#[test]
fn what_lands_again_is_not_what_was_reverted() {
    let mut project = project();
    project.commit("slow");
    measured(&mut project, &[90.0, 90.2, 89.9, 90.1, 89.8, 90.0]);
    project.git(&["revert", "--no-edit", "HEAD"]);
    measured(&mut project, &QUIET[8..16]);
    project.git(&["checkout", "-q", "-b", "reland"]);
    project.git(&["revert", "--no-edit", "HEAD"]);
    let bad = measured(&mut project, &[90.0]);
    for arguments in [&[][..], ONLY_NEW, &["--candidate", "HEAD"]] {
        assert_is(&project, arguments, &bad, (1, "regressed", false));
        let (_, line) = project.gate(arguments);
        assert!(line["open"].is_null() && line["reason"] == "change", "{line:#}");
    }
    assert!(!notes(&project).contains(UNMEASURED));
    // Amended, it is a commit that nothing has any more, with the same files.
    project.git(&["commit", "-q", "--amend", "-m", "in other words"]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
    assert_is(&project, ONLY_NEW, &bad, (1, "regressed", false));
    // Nor is it that for the others.
    project.git(&["checkout", "-q", "main"]);
    assert_eq!(project.gate(&[]).0, 0);
    let (_, history) = project.json(&["history", "train"]);
    assert_eq!(history["series"][0]["sessions"].as_array().unwrap().last().unwrap()["session"], *bad, "{history:#}");
}

#[test]
fn a_revert_is_measured_as_what_it_is() {
    let mut project = project();
    project.commit("slow");
    measured(&mut project, &[90.0, 90.2, 89.9, 90.1, 89.8, 90.0]);
    project.git(&["checkout", "-q", "-b", "fix"]);
    project.git(&["revert", "--no-edit", "HEAD"]);
    let good = measured(&mut project, &[100.1]);
    assert_is(&project, ONLY_NEW, &good, (0, "regressed", true));
    assert!(!notes(&project).contains(UNMEASURED));
    project.git(&["checkout", "-q", "main"]);
    assert_eq!(project.gate(&[]).0, 1);
    project.commit("other");
    let picked = project.git(&["cherry-pick", "fix"]);
    deleted(&project, "fix");
    let (_, line) = project.gate(&[]);
    let head = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(candidate(&line), good, "{picked}: {line:#}");
    assert_eq!(line["candidate"]["sessions"][0]["commit"], *head, "{line:#}");
}

#[test]
fn a_closed_pull_request_is_nobody_s_candidate() {
    let mut project = project();
    branch(&project, "p3");
    let bad = measured(&mut project, &[80.0]);
    project.git(&["checkout", "-q", "main"]);
    branch(&project, "p4");
    measured(&mut project, &[100.1]);
    project.git(&["checkout", "-q", "p3"]);
    for is_there in [true, false] {
        assert_is(&project, ONLY_NEW, &bad, (1, "regressed", false));
        if is_there {
            deleted(&project, "p4");
        }
    }
    project.git(&["checkout", "-q", "main"]);
    branch(&project, "p2");
    for is_there in [true, false] {
        for arguments in [&[][..], ONLY_NEW] {
            let (status, line) = project.gate(arguments);
            assert_eq!((status, candidate(&line)), (0, "session-008"), "{line:#}");
        }
        let notes = notes(&project);
        let others = "2 sessions that began after the evaluated ones are from other branches, commits that are gone, or \
                      files that were not committed";
        assert!(notes.contains(UNMEASURED) && notes.contains(others), "{notes}");
        if is_there {
            deleted(&project, "p3");
        }
    }
}

#[test]
fn what_a_forced_push_dropped_is_no_candidate() {
    let mut project = project();
    branch(&project, "slow");
    project.commit("fine");
    measured(&mut project, &[80.0]);
    project.git(&["rebase", "-q", "--onto", "main", "HEAD~1", "slow"]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
    let (status, line) = project.gate(ONLY_NEW);
    assert_eq!((status, candidate(&line)), (0, "session-008"), "{line:#}");
    assert!(notes(&project).contains(UNMEASURED));
    // What it kept is the same change.
    let mut project = self::project();
    branch(&project, "f");
    project.commit("fine");
    let bad = measured(&mut project, &[80.0]);
    project.git(&["checkout", "-q", "main"]);
    project.commit("other");
    project.git(&["rebase", "-q", "main", "f"]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
    assert_is(&project, ONLY_NEW, &bad, (1, "regressed", false));
}

#[test]
fn a_pull_request_neither_hides_nor_adds_a_regression_of_main() {
    let mut project = project();
    project.git(&["branch", "p2"]);
    project.commit("slow");
    let bad = measured(&mut project, &[90.0]);
    project.git(&["checkout", "-q", "p2"]);
    project.commit("p2");
    measured(&mut project, &[100.1]);
    project.git(&["checkout", "-q", "main"]);
    for arguments in [&[][..], ONLY_NEW] {
        assert_is(&project, arguments, &bad, (1, "regressed", false));
    }
    let mut project = self::project();
    branch(&project, "p1");
    let bad = measured(&mut project, &[90.0]);
    project.git(&["checkout", "-q", "main"]);
    for arguments in [&[][..], ONLY_NEW] {
        let (status, line) = project.gate(arguments);
        assert_eq!((status, candidate(&line)), (0, "session-008"), "{line:#}");
    }
    let (_, text, _) = project.says(&["gate"]);
    let commit = project.git(&["rev-parse", "--short=10", "main"]).trim().to_owned();
    assert!(text.starts_with(&format!("evaluated: the newest sessions measured on main ({commit})\n")), "{text}");
    assert!(text.contains("1 session that began after the evaluated ones is from another branch"), "{text}");
    // Named, it is.
    assert_is(&project, &["--candidate", &bad], &bad, (1, "regressed", false));
}

/// What `main` lost after a branch left it explains nothing that the branch lost.
#[test]
fn a_regression_that_the_branch_does_not_contain_is_not_its_excuse() {
    let slow = [90.0, 90.2, 89.9, 90.1, 89.8, 90.0];
    let with = |then: &dyn Fn(&Project, &str), values: &[f64]| {
        let mut project = project();
        project.git(&["branch", "old"]);
        let worse = project.commit("slow");
        measured(&mut project, &slow);
        project.git(&["checkout", "-q", "old"]);
        project.commit("old");
        then(&project, &worse);
        let session = measured(&mut project, values);
        (project, session, worse)
    };
    let alone = |_: &Project, _: &str| {};
    for values in [&[93.0, 93.2, 92.8, 93.1, 92.9][..], &[90.0], &[93.0]] {
        let (project, session, worse) = with(&alone, values);
        assert_is(&project, ONLY_NEW, &session, (1, "regressed", false));
        let (_, line) = project.gate(ONLY_NEW);
        let said =
            format!("main fails this too since {}, which the branch of the candidate does not contain", &worse[..10]);
        assert!(texts(&line["notes"]).contains(&said), "{line:#}");
        assert_eq!(project.gate(&["--only-new", "--candidate", "HEAD"]).0, 1);
    }
    // It is none where the branch is as good as what it has.
    let (project, session, _) = with(&alone, &[100.1]);
    assert_is(&project, ONLY_NEW, &session, (0, "regressed", true));
    // What was merged or picked is contained.
    let merged = |project: &Project, _: &str| drop(project.git(&["merge", "-q", "--no-edit", "main"]));
    let picked = |project: &Project, worse: &str| drop(project.git(&["cherry-pick", worse]));
    for then in [&merged as &dyn Fn(&Project, &str), &picked] {
        let (project, session, _) = with(then, &[90.0]);
        assert_is(&project, ONLY_NEW, &session, (0, "regressed", true));
        let (project, session, _) = with(then, &[80.0]);
        assert_is(&project, ONLY_NEW, &session, (1, "regressed", false));
    }
    // What was merged since the session is not what it measured.
    let (project, session, _) = with(&alone, &[90.0]);
    project.git(&["merge", "-q", "--no-edit", "main"]);
    assert_is(&project, ONLY_NEW, &session, (1, "regressed", false));
}

/// Where a branch left between two sessions of `main`, it may have what the second one shows.
#[test]
fn what_may_be_contained_is_taken_for_it() {
    let mut project = project();
    project.commit("between");
    project.git(&["branch", "f"]);
    project.commit("slow");
    measured(&mut project, &[90.0, 90.2, 89.9, 90.1, 89.8, 90.0]);
    project.git(&["checkout", "-q", "f"]);
    project.commit("f");
    let session = measured(&mut project, &[90.0]);
    assert_is(&project, ONLY_NEW, &session, (0, "regressed", true));
}

/// A branch that was squashed keeps its answer as long as it is checked out.
#[test]
fn a_squashed_branch_has_its_own_sessions() {
    let mut project = project();
    branch(&project, "f");
    let bad = measured(&mut project, &[90.0]);
    project.git(&["checkout", "-q", "main"]);
    project.git(&["merge", "-q", "--squash", "f"]);
    project.git(&["commit", "-q", "-m", "squashed"]);
    assert_is(&project, &[], &bad, (1, "regressed", false));
    measured(&mut project, &[90.1]);
    project.git(&["checkout", "-q", "f"]);
    assert_is(&project, ONLY_NEW, &bad, (1, "regressed", false));
}

/// What ran with files that were not committed yet is of who ran it.
#[test]
fn what_is_not_committed_is_of_what_is_checked_out() {
    let mut project = project();
    let dirty = |project: &Project| Special { dirty: Some(true), ..here(project) };
    let on = dirty(&project);
    project.git(&["checkout", "-q", "-b", "f"]);
    let bad = project.session(90.0, &on);
    for _ in 0..2 {
        // Before and after what was measured is committed.
        let (status, line) = project.gate(ONLY_NEW);
        assert_eq!((status, verdict(&line), candidate(&line)), (1, "regressed", &*bad), "{line:#}");
        // The commit that was checked out has none of these files, and is not to blame.
        assert_eq!(line["open"]["commit"], serde_json::Value::Null, "{line:#}");
        project.commit("measured");
    }
    let on = dirty(&project);
    let newest = project.session(90.0, &on);
    assert_is(&project, ONLY_NEW, &newest, (1, "regressed", false));
    project.git(&["checkout", "-q", "main"]);
    project.commit("later");
    let good = measured(&mut project, &[100.1]);
    let other = Special {
        dirty: Some(true),
        commit: Some(project.git(&["rev-parse", "HEAD~1"]).trim().to_owned()),
        ..Special::default()
    };
    project.session(90.0, &other);
    assert_is(&project, &[], &good, (0, "unchanged", false));
}

/// The branch of a result that names no commit is unknown: the newest counts.
#[test]
fn what_names_no_commit_may_be_of_this_branch() {
    let mut project = project();
    let bad = project.session(90.0, &Special::default());
    assert_is(&project, &[], &bad, (1, "regressed", false));
    branch(&project, "f");
    assert_is(&project, ONLY_NEW, &bad, (1, "regressed", false));
    let good = measured(&mut project, &[100.1]);
    assert_is(&project, ONLY_NEW, &good, (0, "unchanged", false));
}

/// Results that were brought from elsewhere are evaluated, whatever they are of.
#[test]
fn a_folder_of_results_of_elsewhere_is_evaluated() {
    let mut project = project();
    let lost = Special { commit: Some("c0ffee0123".repeat(4)), ..Special::default() };
    std::fs::rename(project.folder.path().join("results"), project.folder.path().join("kept")).unwrap();
    let session = project.session(100.0, &lost);
    std::fs::rename(project.folder.path().join("results"), project.folder.path().join("artifact")).unwrap();
    std::fs::rename(project.folder.path().join("kept"), project.folder.path().join("results")).unwrap();
    let (status, line) = project.gate(&["--results", "artifact"]);
    assert_eq!((status, verdict(&line), candidate(&line)), (0, "inconclusive", &*session), "{line:#}");
}
